import type { LiveCalls } from '../../call/log/live-call.ts';
import type { AuditLog } from '../../jobs/retention/audit-log.ts';
import type { Logger } from '../../observability/logger.ts';

/** What the API needs to show live calls and to control them. */
export interface LiveCallOrders {
  readonly calls: LiveCalls;
  readonly audit: Pick<AuditLog, 'add'>;
  /** The journal of a call that another process of this machine is having. */
  readonly elsewhere: (callId: string) => Promise<unknown>;
  readonly logger: Logger;
}
