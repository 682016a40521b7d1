import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Clock } from '../kernel/clock.ts';
import type { Metrics } from '../observability/metrics.ts';
import { SingleFlight, within } from '../kernel/waiting.ts';
import { z } from 'zod';
import { SharedRateLimit, type SharedRateLimitParts } from './rate-limit.ts';
import { RequestRefused, sendProblem } from './problem.ts';
import { wasPassedOn } from './public-addresses.ts';

/** Whether this process should get new calls, and why not. */
export interface Readiness {
  readonly ready: boolean;
  /** State by part, for example `{ platform: 'ok', store: 'locked' }`. Public: no addresses, no secrets. */
  readonly parts: Readonly<Record<string, string>>;
}

export interface HealthDeps {
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly ready: () => Promise<Readiness>;
}

/** Longest wait of a readiness probe for the parts. */
const readyWithinMs = 2000;
const tooSlow: Readiness = { ready: false, parts: { gateway: `no answer within ${readyWithinMs} ms` } };

/** `GET /healthz`: the process is alive. */
export function healthRoutes(app: FastifyInstance): void {
  app.get('/healthz', (_request, reply) => reply.send({ status: 'ok' }));
}

/** `GET /readyz` (the process can take calls) and `GET /metrics`. */
export function stateRoutes(app: FastifyInstance, deps: HealthDeps): void {
  // These need no key but ask other processes and the store: simultaneous requests share one answer.
  const asking = { ready: new SingleFlight<Readiness>(), metrics: new SingleFlight<Awaited<ReturnType<Metrics['render']>>>() };
  app.get('/readyz', async (_request, reply) => {
    const { ready, parts } = await within(deps.clock, readyWithinMs, asking.ready.run(deps.ready), tooSlow);
    return reply.code(ready ? 200 : 503).send({ status: ready ? 'ready' : 'not ready', parts });
  });
  app.get('/metrics', async (_request, reply) => {
    const { contentType, body } = await asking.metrics.run(() => deps.metrics.render());
    return reply.type(contentType).send(body);
  });
}

export interface SecretRoutesDeps extends SharedRateLimitParts {
  /**
   * Gives out a keyed value, once.
   * @param botSecret the `secretEnv` of the bot that got the token
   * @returns undefined for an unknown value, or another bot's
   */
  readonly redeem: (botSecret: string, token: string) => string | undefined | Promise<string | undefined>;
}

const MOST_BODY_BYTES = 1_000;
/** Wrong secrets and tokens from one address: ten in a row, then one each ten seconds. */
const GUESSES = { burst: 10, perSecond: 0.1 };
const body = z.object({ token: z.string().min(1).max(100) });

/**
 * `POST /secrets/redeem` with `{token}` and the bot's secret as `authorization: Bearer`; answers with an uncacheable `{value}`. An address with too
 * many wrong guesses gets 429 for everything for some time, so that a right guess does not show.
 */
export function secretRoutes(app: FastifyInstance, deps: SecretRoutesDeps): void {
  const guesses = new SharedRateLimit(deps, 'redeemed secrets', GUESSES);
  // Guesses through a proxy count under a separate name, so that they do not lock out a bot's server beside the gateway.
  const guesserOf = ({ ip, headers }: FastifyRequest): string => (wasPassedOn(headers) ? `proxy ${ip}` : ip);
  // Carriers send forms only; JSON is read here only.
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'string', bodyLimit: MOST_BODY_BYTES },
    app.getDefaultJsonParser('error', 'error'),
  );
  app.addHook('onRequest', async (request, reply) => {
    const waitS = await guesses.wait(guesserOf(request));
    if (waitS > 0) return sendProblem(request, reply.header('retry-after', waitS), 429, 'Too many wrong guesses.');
  });
  app.post('/secrets/redeem', async (request, reply) => {
    const [, secret] = /^Bearer (.+)$/u.exec(request.headers.authorization ?? '') ?? [];
    if (secret === undefined) throw new RequestRefused(401, 'The header authorization must be Bearer and the secret of the bot.');
    const parsed = body.safeParse(request.body);
    if (!parsed.success) throw new RequestRefused(400, 'The body must be JSON with the token that the bot was given.');
    const value = await deps.redeem(secret, parsed.data.token);
    if (value === undefined) {
      await guesses.take(guesserOf(request));
      throw new RequestRefused(404, 'There is no value for this token and this bot, or it was fetched before.');
    }
    return reply.header('cache-control', 'no-store').send({ value });
  });
}
