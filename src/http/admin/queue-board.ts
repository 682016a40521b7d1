import { createBullBoard } from '@bull-board/api';
import { FastifyAdapter } from '@bull-board/fastify';
import type { FastifyInstance } from 'fastify';
import { QUEUE_PURPOSES, ALL_QUEUES, type JobQueue } from '../../records/queue/port.ts';
import type { Clock } from '../../kernel/clock.ts';
import { sendProblem } from '../problem.ts';
import { AdminLogin, type AdminLoginParts } from './admin-login.ts';

export interface BoardParts extends AdminLoginParts {
  readonly clock: Clock;
  readonly queue: Pick<JobQueue, 'shown'>;
}

const PATH = '/admin/queues';
/** BullMQ waits for a lost server without limit; the dashboard does not. */
const ANSWER_WITHIN_MS = 10_000;

/** The page is one script of its own origin; styles are inline. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');
const HEADERS = {
  'content-security-policy': POLICY,
  'x-frame-options': 'DENY',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
};
/** The page would load fonts from a third party; system fonts replace them. */
const FOREIGN_LINK = /<link\b[^>]*\bhref="https?:[^>]*>/gu;

/**
 * The queue dashboard under `/admin/queues`, behind the admin login: every queue with its counts and jobs, of all tenants. Read-only: changing routes
 * do not exist.
 */
export async function queueBoardRoutes(app: FastifyInstance, parts: BoardParts): Promise<void> {
  const { queue, clock, logger } = parts;
  const login = new AdminLogin(parts);
  app.addHook('onRequest', async (request, reply) => {
    const refused = await login.admit(request, reply);
    if (refused !== undefined) return refused;
    const late = clock.after(ANSWER_WITHIN_MS, () => {
      if (!reply.sent) sendProblem(request, reply, 503, 'The queue does not answer.');
    });
    reply.raw.once('close', () => late.cancel());
  });
  app.addHook('onSend', async (_request, reply, payload) => {
    reply.headers(HEADERS);
    const isPage = String(reply.getHeader('content-type')).startsWith('text/html');
    return isPage && typeof payload === 'string' ? payload.replaceAll(FOREIGN_LINK, '') : payload;
  });
  const server = new ReadingAdapter((error) => logger.warn({ error }, 'queue dashboard failed'));
  server.setBasePath(PATH);
  createBullBoard({
    queues: await Promise.all(ALL_QUEUES.map((name) => queue.shown(name, QUEUE_PURPOSES[name]))),
    serverAdapter: server,
    options: { uiConfig: { boardTitle: 'Offhook queues', hideDocsLink: true, sortQueues: false } },
  });
  app.register(server.registerPlugin(), { prefix: PATH });
}

/** Leaves out routes that change something, and error texts. */
class ReadingAdapter extends FastifyAdapter {
  readonly #onError: (error: Error) => void;

  constructor(onError: (error: Error) => void) {
    super();
    this.#onError = onError;
  }

  override setApiRoutes(...[routes]: Parameters<FastifyAdapter['setApiRoutes']>): FastifyAdapter {
    return super.setApiRoutes(routes.filter(({ method }) => method === 'get'));
  }

  override setErrorHandler(): this {
    return super.setErrorHandler((error) => {
      this.#onError(error);
      return { status: 500, body: { error: { key: 'ERRORS.INTERNAL_SERVER_ERROR' } } };
    });
  }
}
