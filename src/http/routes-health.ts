import type { FastifyInstance } from 'fastify';
import type { Clock } from '../kernel/clock.ts';
import type { Metrics } from '../observability/metrics.ts';
import { SingleFlight, within } from '../kernel/waiting.ts';

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
