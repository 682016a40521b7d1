import type { FastifyInstance } from 'fastify';
import type { ApiKeys } from '../auth/api-keys.ts';
import { Refusal } from '../refusal.ts';

/** The medical batch service, as far as it is built: health, and who may come in (ASR doc, POST /transcribe). */
export function addMedRoutes(app: FastifyInstance, keys: ApiKeys): void {
  app.addContentTypeParser('*', (_request, _body, done) => done(null));
  app.get('/health', () => ({ ok: true }));
  app.post('/transcribe', {
    onRequest: async (request) => {
      const secret = request.headers['x-api-key'];
      const key = typeof secret === 'string' ? keys.find(secret.trim()) : undefined;
      if (key?.status !== 'active') throw new Refusal(401, 'An API key is required: X-API-Key: <API_KEY>');
    },
    handler: async () => {
      throw new Refusal(501, 'Medical transcription is not served by this platform yet', { headers: { connection: 'close' } });
    },
  });
}
