import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ApiKeys } from '../auth/api-keys.ts';
import { bearerOf } from '../auth/bearer.ts';
import { languagesBody } from '../asr/asr-service.ts';
import { detailText, Refusal } from '../refusal.ts';

const codes: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  404: 'not_found',
  405: 'not_found',
  429: 'rate_limited',
  501: 'not_implemented',
};

/** How Variant B says no (ASR doc, errors: success false and an error object of code and message). */
export function altErrorBody(refusal: Refusal): unknown {
  const code = codes[refusal.status] ?? (refusal.status >= 500 ? 'internal_error' : 'invalid_request');
  return { success: false, error: { code, message: detailText(refusal.detail) } };
}

const unbuilt = [
  ['POST', '/v1/audio/transcriptions'],
  ['POST', '/v1/speakers/register'],
  ['DELETE', '/v1/speakers/delete'],
  ['GET', '/v1/speakers/list'],
  ['POST', '/v1/speakers/identify'],
] as const;

/**
 * The recognition service's alternate address, as far as it is built: health, languages, and who may come in. It takes an
 * API key, never a token (platform doc, authentication rule 9).
 */
export function addAltRoutes(app: FastifyInstance, keys: ApiKeys): void {
  const gate = async (request: FastifyRequest): Promise<void> => {
    const key = keys.find(bearerOf(request.headers) ?? '');
    if (key?.status !== 'active') {
      throw new Refusal(401, 'An API key is required: Authorization: Bearer <API_KEY>', {
        headers: { 'www-authenticate': 'Bearer' },
      });
    }
  };
  app.addContentTypeParser('*', (_request, _body, done) => done(null));
  app.get('/health', () => ({ ok: true }));
  app.get('/languages', { onRequest: gate }, languagesBody);
  for (const [method, url] of unbuilt) {
    app.route({
      method,
      url,
      onRequest: gate,
      handler: async () => {
        throw new Refusal(501, `${method} ${url} is not served by this platform yet`, { headers: { connection: 'close' } });
      },
    });
  }
}
