import { z } from 'zod';
import { deleteExpiredFixtures } from '../../rehearsal/replay/fixture-file.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Logger } from '../../observability/logger.ts';
import type { Store } from '../port.ts';
import { removeAbandonedFiles } from './call-files.ts';
import type { Eraser } from './eraser.ts';
import type { JobHandler } from '../queue/port.ts';
import { removeLeftUploads, removeSubmission } from '../submissions/remove-uploads.ts';
import type { Uploads } from '../objects/uploads.ts';

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
