import { z } from 'zod';
import { deleteExpiredFixtures } from '../../rehearsal/replay/fixture-file.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Logger } from '../../observability/logger.ts';
import type { Store } from '../port.ts';
import { removeAbandonedFiles } from './call-files.ts';
import type { Eraser } from './eraser.ts';
import type { JobHandler } from '../queue/port.ts';
import { removeLeftUploads, removeSubmission } from '../submissions/lifecycle.ts';
import type { Uploads } from '../objects/recordings.ts';
import type { AuditLog } from './audit-log.ts';

/** Retention of a bot's calls in days; 0 means unlimited. */
export interface KeptFor {
  readonly audioDays: number;
  readonly textDays: number;
}

export interface RetentionParts {
  readonly store: Pick<Store, 'privacy' | 'submissions' | 'idempotency' | 'campaigns'>;
  readonly uploads: Pick<Uploads, 'remove'>;
  readonly eraser: Eraser;
  /** Temporary files of dead processes are removed here. */
  readonly dataDir: string;
  /** Folder of replay fixtures. */
  readonly fixturesFolder: string;
  /** By bot; other bots' calls are kept as `byDefault` says. */
  readonly bots: () => ReadonlyMap<string, KeptFor>;
  readonly byDefault: KeptFor;
  readonly clock: Clock;
  readonly logger: Logger;
}

const DAY_MS = 86_400_000;
/** Erased at a time, to bound memory. */
const BATCH = 200;
/** Most ended campaigns examined, oldest first. */
const MOST_CAMPAIGNS = 10_000;

/** The job of the `retention` queue: erases expired data, except under legal hold. */
export function retentionJob(parts: RetentionParts): JobHandler {
  const { store, eraser, byDefault, clock, logger } = parts;
  return async ({ signal }) => {
    const bots = parts.bots();
    for (const kind of ['audio', 'text'] as const) {
      const daysOf = (kept: KeptFor): number => (kind === 'audio' ? kept.audioDays : kept.textDays);
      const rules = [
        ...[...bots].map(([name, kept]) => ({ botNames: [name], except: false, days: daysOf(kept) })),
        { botNames: [...bots.keys()], except: true, days: daysOf(byDefault) },
      ];
      let erased = 0;
      for (const { botNames, except, days } of rules) {
        if (days === 0) continue;
        const query = { kind, botNames, except, endedBeforeMs: clock.wallMs() - days * DAY_MS, limit: BATCH };
        for (;;) {
          signal.throwIfAborted();
          const expired = await store.privacy.expired(query);
          if (expired.length > 0) await eraser.eraseKind(expired, kind, signal);
          erased += expired.length;
          if (expired.length < BATCH) break;
        }
      }
      if (erased > 0) logger.info({ kind, erased }, 'expired data erased');
    }
    await forgetSubmissions(parts, signal);
    await forgetCampaigns(parts, bots, signal);
    await forgetFixtures(parts);
    await removeAbandonedFiles(parts.dataDir, clock.wallMs());
    await store.idempotency.forget(clock.wallMs() - DAY_MS);
    // Last, so that an unavailable object store delays nothing else.
    await removeLeftUploads(parts, signal);
  };
}

/** Recordings from elsewhere have no bot, so the default retention of words applies. */
async function forgetSubmissions(
  { store, uploads, byDefault, clock, logger }: RetentionParts,
  signal: AbortSignal,
): Promise<void> {
  if (byDefault.textDays === 0) return;
  const endedBeforeMs = clock.wallMs() - byDefault.textDays * DAY_MS;
  let erased = 0;
  for (;;) {
    const expired = await store.submissions.endedBefore({ endedBeforeMs, limit: BATCH });
    for (const ref of expired) {
      signal.throwIfAborted();
      await removeSubmission({ store, uploads }, ref);
    }
    erased += expired.length;
    if (expired.length < BATCH) break;
  }
  if (erased > 0) logger.info({ kind: 'submissions', erased }, 'expired data erased');
}

const ofBot = z.object({ bot: z.string() });

/** Contacts expire with the words of their bot's calls, counted from their campaign's end. */
async function forgetCampaigns(
  { store, byDefault, clock, logger }: RetentionParts,
  bots: ReadonlyMap<string, KeptFor>,
  signal: AbortSignal,
): Promise<void> {
  const nowMs = clock.wallMs();
  const expired = (await store.campaigns.endedBefore({ endedBeforeMs: nowMs, limit: MOST_CAMPAIGNS })).filter(
    ({ settings, endedAtMs = nowMs }) => {
      const bot = ofBot.safeParse(settings).data?.bot ?? '';
      const { textDays } = bots.get(bot) ?? byDefault;
      return textDays > 0 && endedAtMs < nowMs - textDays * DAY_MS;
    },
  );
  for (const { tenantId, id: campaignId } of expired) {
    signal.throwIfAborted();
    await store.campaigns.erase({ tenantId, campaignId }, nowMs);
  }
  if (expired.length > 0) logger.info({ kind: 'campaigns', erased: expired.length }, 'expired data erased');
}

async function forgetFixtures({ fixturesFolder, clock, logger }: RetentionParts): Promise<void> {
  const erased = await deleteExpiredFixtures(fixturesFolder, clock.wallMs(), (name, error) =>
    logger.warn({ name, error }, 'fixture unreadable'),
  );
  if (erased > 0) logger.info({ kind: 'fixtures', erased }, 'expired data erased');
}

export interface HoldChange {
  readonly tenantId: string;
  /** One call, or all stored calls with a person's number. */
  readonly of: { readonly callId: string } | { readonly number: string };
  readonly on: boolean;
  /** Author, for the audit log. */
  readonly by: string;
}

/** A held call. */
export interface HeldCall {
  readonly id: string;
  readonly bot: string;
  readonly startedAt: string;
}

/** Legal holds, which exempt calls from retention and erasure. Each change is in the audit log before this returns. */
export class LegalHolds {
  readonly #store: Pick<Store, 'calls' | 'privacy'>;
  readonly #audit: Pick<AuditLog, 'add'>;

  constructor(store: Pick<Store, 'calls' | 'privacy'>, audit: Pick<AuditLog, 'add'>) {
    this.#store = store;
    this.#audit = audit;
  }

  /** @returns calls now in the wanted state, and those unknown to the store */
  async change({ tenantId, of, on, by }: HoldChange): Promise<{ readonly changed: string[]; readonly missing: string[] }> {
    const ids = 'callId' in of ? [of.callId] : await this.#store.privacy.callsOf(tenantId, of.number);
    const [changed, missing]: [string[], string[]] = [[], []];
    for (const subject of ids) {
      const found = await this.#store.calls.setLegalHold(tenantId, subject, on);
      (found ? changed : missing).push(subject);
      const action = on ? 'hold.set' : 'hold.lift';
      await this.#audit.add({ by, tenantId, action, subject, outcome: found ? 'done' : 'refused' });
    }
    return { changed, missing };
  }

  /** Every held call, newest first. */
  async *list(tenantId: string): AsyncIterable<HeldCall> {
    let before: string | undefined;
    do {
      const page = await this.#store.calls.search(tenantId, { limit: 200, before, held: true });
      for (const { id, botName, startedAtMs } of page.calls)
        yield { id, bot: botName, startedAt: new Date(startedAtMs).toISOString() };
      before = page.next;
    } while (before !== undefined);
  }
}
