import type { FastifyInstance } from 'fastify';
import type { Metrics } from '../observability/metrics.ts';

/** Whether this process should get new calls, and why not. */
export interface Readiness {
  readonly ready: boolean;
  /** Part to state, for example `{ platform: 'ok', store: 'locked' }`. Shown to anyone: no addresses, no secrets. */
  readonly parts: Readonly<Record<string, string>>;
}

/** `GET /healthz` (the process lives), `GET /readyz` (it can take calls) and `GET /metrics`. */
export function healthRoutes(
  app: FastifyInstance,
  deps: { readonly metrics: Metrics; readonly ready: () => Promise<Readiness> },
): void {
  app.get('/healthz', (_request, reply) => reply.send({ status: 'ok' }));
  app.get('/readyz', async (_request, reply) => {
    const { ready, parts } = await deps.ready();
    return reply.code(ready ? 200 : 503).send({ status: ready ? 'ready' : 'not ready', parts });
  });
  app.get('/metrics', async (_request, reply) => {
    const { contentType, body } = await deps.metrics.render();
    return reply.type(contentType).send(body);
  });
}
