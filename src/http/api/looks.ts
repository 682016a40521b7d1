import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { AuditEvent, AuditLog } from '../../records/retention/audit-log.ts';
import type { Clock, Timer } from '../../kernel/clock.ts';
import type { Logger } from '../../observability/logger.ts';
import { redactUrl } from '../public-addresses.ts';
import type { ApiScope, Principal } from './system/api-keys.ts';

/** Scopes that show people's numbers, words or recordings. */
const PERSONAL: ReadonlySet<ApiScope> = new Set<ApiScope>([
  'calls:read',
  'recordings:read',
  'analyses:read',
  'calls:listen',
  'campaigns:read',
  'dialling:read',
]);
/** Their routes that show no personal values, or write their own audit entry. */
const IMPERSONAL = new Set([
  '/api/calls/count',
  '/api/reviews/count',
  '/api/calls/:callId/peaks',
  '/api/calls/:callId/fixture',
  '/api/calls/:callId/webhooks',
  '/api/analyses/:id',
  '/api/analyses/submitted',
  '/api/campaigns',
  '/api/campaigns/choices',
  '/api/campaigns/:id',
  '/api/campaigns/:id/progress',
  '/api/campaigns/:id/hours',
  '/api/campaigns/:id/report',
  '/api/campaigns/:id/results',
  '/api/suppressions/lists',
  '/api/dial-decisions/verify',
]);
/** Repeated looks of a person within this time are one entry: pages poll, and players load in pieces. */
const SAME_LOOK_MS = 10 * 60_000;
/** Most remembered looks; a forgotten one is written again. */
const MOST_REMEMBERED = 10_000;
/** Delay for writing entries together. */
const WRITE_AFTER_MS = 1_000;
/** Most entries waiting for a slow disk; further looks are only counted. */
const MOST_WAITING = 5_000;

export interface LooksParts {
  readonly audit: Pick<AuditLog, 'addAll'>;
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'error'> | undefined;
}

/** Writes access to personal values to the audit log: the API path without its query. Requests do not wait for it. */
export class Looks {
  readonly #parts: LooksParts;
  readonly #last = new Map<string, number>();
  #waiting: AuditEvent[] = [];
  #dropped = 0;
  #timer: Timer | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(parts: LooksParts) {
    this.#parts = parts;
  }

  /** @param subject for example `/calls/call_1/audio` */
  note({ id: by, tenantId }: Pick<Principal, 'id' | 'tenantId'>, subject: string): void {
    const { clock } = this.#parts;
    const key = JSON.stringify([by, tenantId, subject]);
    const nowMs = clock.nowMs();
    const lastMs = this.#last.get(key);
    if (lastMs !== undefined && nowMs - lastMs < SAME_LOOK_MS) return;
    this.#last.delete(key);
    this.#last.set(key, nowMs);
    const [oldest] = this.#last.keys();
    if (this.#last.size > MOST_REMEMBERED && oldest !== undefined) this.#last.delete(oldest);
    if (this.#waiting.length >= MOST_WAITING) this.#dropped += 1;
    else this.#waiting.push({ by, tenantId, action: 'look', subject, outcome: 'done', atMs: clock.wallMs() });
    this.#timer ??= clock.after(WRITE_AFTER_MS, () => void this.write());
  }

  /** Writes waiting entries; never rejects. */
  write(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#writing = this.#writing.then(async () => {
      const [events, dropped] = [this.#waiting, this.#dropped];
      if (events.length === 0) return;
      this.#waiting = [];
      this.#dropped = 0;
      if (dropped > 0) this.#parts.logger?.error({ dropped }, 'looks not written to the audit log: the disk is too slow');
      await this.#parts.audit
        .addAll(events)
        .catch((error: unknown) => this.#parts.logger?.error({ lost: events.length, error }, 'audit log write failed'));
    });
    return this.#writing;
  }
}

/** Notes all access to personal values by a scope's routes, including sockets. */
export function noteLooks(app: FastifyInstance, looks: Looks): void {
  const isLook = ({ method, routeOptions: { url = '', config } }: FastifyRequest): boolean =>
    method === 'GET' && config.scope !== undefined && PERSONAL.has(config.scope) && !IMPERSONAL.has(url);
  const note = (request: FastifyRequest): void => looks.note(request.principal, redactUrl(request.url).replace(/^\/api/u, ''));
  app.addHook('onResponse', async (request, { statusCode }) => {
    if (statusCode < 400 && isLook(request)) note(request);
  });
  // A socket is answered outside the framework.
  app.addHook('preHandler', async (request) => {
    if (request.ws && isLook(request)) note(request);
  });
  app.addHook('onClose', () => looks.write());
}
