import type { Clock } from '../../kernel/clock.ts';
import type { ProfileBook } from '../../jobs/analysis/profile-book.ts';
import type { JobQueue } from '../../jobs/queue/port.ts';
import type { Store } from '../../store/port.ts';
import type { Recordings } from '../../store/objects/recordings.ts';
import type { Uploads } from '../../store/objects/uploads.ts';
import type { ApiKeys } from './api-keys.ts';
import type { LiveCallOrders } from './live-call-orders.ts';

export interface ApiDeps {
  readonly keys: ApiKeys;
  readonly store: Pick<Store, 'calls' | 'analyses' | 'submissions' | 'idempotency'>;
  readonly queue: Pick<JobQueue, 'enqueue' | 'failed' | 'retry'>;
  readonly recordings: Pick<Recordings, 'open'>;
  readonly uploads: Pick<Uploads, 'keep' | 'remove'>;
  readonly profiles: Pick<ProfileBook, 'names'>;
  /** Where uploads are while they arrive. */
  readonly uploadFolder: string;
  readonly clock: Clock;
  /** Absent where there are no live calls. */
  readonly live?: LiveCallOrders;
}
