import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Clock } from '../../../kernel/clock.ts';
import { Refusal } from '../listener/refusal.ts';
import type { ApiKeys } from '../../keys/api-keys.ts';
import { bearerOf } from './gate.ts';
import type { Tokens } from '../../keys/tokens.ts';

/** Platform doc, limits. */
const defaultLifeSeconds = 900;
const maxLifeSeconds = 86_400;

export interface MintServiceOptions {
  readonly keys: ApiKeys;
  readonly tokens: Tokens;
  readonly clock: Clock;
  readonly mintsPerMinute: number;
  /** Also accepts the key in `Authorization: Bearer`, as newer clients send it. */
  readonly compat: boolean;
}

/** The token service: `POST /api/auth/token`, its public keys, and health. */
export function addMintRoutes(app: FastifyInstance, options: MintServiceOptions): void {
  const { keys, tokens, clock } = options;
  const rate = new MintRate(options.mintsPerMinute);
  // Bodies of any type are ignored, as the endpoint takes none (platform doc, token endpoint).
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, _body, done) => done(null));

  app.post('/api/auth/token', async (request, reply) => {
    const secret = apiKeyOf(request, options.compat);
    const lifeSeconds = lifeOf(request.query);
    const key = keys.find(secret);
    if (key === undefined) throw new Refusal(403, 'The API key is not known');
    if (key.status === 'revoked') throw new Refusal(403, 'The API key was revoked');
    if (key.status === 'no-balance') throw new Refusal(403, 'The account balance is too low');
    const waitSeconds = rate.waitSeconds(key.id, clock.nowMs());
    if (waitSeconds > 0) {
      throw new Refusal(429, `More than ${options.mintsPerMinute} tokens a minute were asked for with this key`, {
        headers: { 'retry-after': String(waitSeconds) },
      });
    }
    const { token, expiresAtSeconds } = await tokens.mint(key.id, { lifeSeconds });
    await reply.header('cache-control', 'no-store').send({
      token,
      expires_in: lifeSeconds,
      expires_at: new Date(expiresAtSeconds * 1000).toISOString(),
    });
  });
  app.get('/.well-known/jwks.json', () => tokens.jwks());
  app.get('/health', () => ({ ok: true }));
}

/** @throws Refusal 400 when the header is missing, repeated, blank, or not printable ASCII */
function apiKeyOf(request: FastifyRequest, compat: boolean): string {
  const sent = request.raw.headersDistinct['api-key'] ?? [];
  if (sent.length > 1) throw new Refusal(400, 'The api-key header was sent more than once');
  const bearer = compat ? bearerOf(request.headers) : undefined;
  const secret = sent[0]?.trim() ?? bearer ?? '';
  if (secret === '') throw new Refusal(400, 'The api-key header is missing');
  if (!/^[\x21-\x7e]{1,512}$/.test(secret)) throw new Refusal(400, 'The api-key header is malformed');
  return secret;
}

const querySchema = z.object({ expires_in: z.union([z.string(), z.array(z.string())]).optional() });

/** Limited to a day. @throws Refusal 400 for anything but a whole number of at least 1 (D) */
function lifeOf(query: unknown): number {
  const asked = querySchema.parse(query).expires_in;
  if (asked === undefined) return defaultLifeSeconds;
  if (typeof asked !== 'string' || !/^\d+$/.test(asked) || Number(asked) < 1) {
    throw new Refusal(400, 'expires_in must be a whole number of seconds, at least 1');
  }
  return Math.min(Number(asked), maxLifeSeconds);
}

const windowMs = 60_000;

/** Limits mints per key over a sliding minute (platform doc, token endpoint, rule 3); refused mints do not count. */
export class MintRate {
  readonly #perMinute: number;
  /** Times of the mints inside the window, oldest first; at most `perMinute` per key. */
  readonly #times = new Map<string, number[]>();

  constructor(perMinute: number) {
    this.#perMinute = perMinute;
  }

  /**
   * @param nowMs monotonic
   * @returns 0 when the mint is allowed, which counts it; else whole seconds to wait, at least 1
   */
  waitSeconds(keyId: string, nowMs: number): number {
    const times = (this.#times.get(keyId) ?? []).filter((atMs) => atMs > nowMs - windowMs);
    this.#times.set(keyId, times);
    if (times.length < this.#perMinute) {
      times.push(nowMs);
      return 0;
    }
    const oldest = times[0] ?? nowMs;
    return Math.max(1, Math.ceil((oldest + windowMs - nowMs) / 1000));
  }
}
