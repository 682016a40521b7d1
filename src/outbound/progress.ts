import type { Clock } from '../kernel/clock.ts';
import type { CampaignCounts, CampaignReach, CampaignRepository, ContactRepository } from '../records/campaigns.ts';
import type { AttemptRepository } from '../records/dialling.ts';
import { type Campaign, campaignRef } from './campaign.ts';

/** Calls by time, for a chart. */
export interface CampaignPace {
  readonly fromMs: number;
  readonly everyMs: number;
  /** Calls ordered at the carrier, one number for each stretch of time. */
  readonly placed: readonly number[];
  /** Answered ones among them. */
  readonly answered: readonly number[];
}

/** Everything that changes while a campaign runs. */
export interface CampaignProgress {
  readonly atMs: number;
  readonly counts: CampaignCounts;
  readonly reach: CampaignReach;
  /** When the first waiting contact may be called; running campaigns only. */
  readonly nextDueAtMs: number | undefined;
  readonly pace: CampaignPace;
}

export interface ProgressParts {
  readonly campaigns: Pick<CampaignRepository, 'countsOf' | 'counts' | 'reach'>;
  readonly contacts: Pick<ContactRepository, 'open'>;
  readonly attempts: Pick<AttemptRepository, 'placed'>;
  readonly clock: Clock;
}

const LEAST_AGE_MS = 1_000;
/** Largest share of time spent on counting, however many readers there are: a million contacts take long. */
const MOST_SHARE = 0.1;
const MOST_REMEMBERED = 500;

interface Remembered {
  /** Change time of the counted campaign. */
  readonly changedAtMs: number;
  readonly progress: Promise<CampaignProgress>;
  /** On the monotonic clock; undefined during counting. */
  untilMs: number | undefined;
}

/** Counts campaigns' progress once for all simultaneous readers. */
export class ProgressReader {
  readonly #parts: ProgressParts;
  readonly #remembered = new Map<string, Remembered>();

  constructor(parts: ProgressParts) {
    this.#parts = parts;
  }

  /** At most a second old, or ten times the duration of counting. A change of the campaign's state shows at once. */
  of(campaign: Campaign): Promise<CampaignProgress> {
    const { clock } = this.#parts;
    const { tenantId, id, changedAtMs } = campaign;
    const key = JSON.stringify([tenantId, id]);
    const known = this.#remembered.get(key);
    const startedMs = clock.nowMs();
    if (known?.changedAtMs === changedAtMs && (known.untilMs === undefined || startedMs < known.untilMs)) return known.progress;
    if (this.#remembered.size >= MOST_REMEMBERED) this.#remembered.clear();
    const counted: Remembered = { changedAtMs, progress: this.#count(campaign), untilMs: undefined };
    this.#remembered.set(key, counted);
    counted.progress.then(
      () => {
        const tookMs = clock.nowMs() - startedMs;
        counted.untilMs = clock.nowMs() + Math.max(LEAST_AGE_MS, tookMs / MOST_SHARE);
      },
      () => this.#remembered.delete(key),
    );
    return counted.progress;
  }

  async #count(campaign: Campaign): Promise<CampaignProgress> {
    const { campaigns, contacts, attempts, clock } = this.#parts;
    const ref = campaignRef(campaign);
    const atMs = clock.wallMs();
    const [counts, reach] = [await campaigns.counts(ref), await campaigns.reach(ref)];
    const nextDueAtMs = campaign.state === 'running' ? (await contacts.open(ref)).nextDueAtMs : undefined;
    const { fromMs, toMs, everyMs } = paceSpan(campaign, atMs);
    const length = Math.ceil((toMs - fromMs) / everyMs);
    const pace = { fromMs, everyMs, placed: Array<number>(length).fill(0), answered: Array<number>(length).fill(0) };
    if (length > 0)
      for (const each of await attempts.placed(campaign.tenantId, { campaignIds: [campaign.id], fromMs, toMs, everyMs })) {
        const index = (each.atMs - fromMs) / everyMs;
        pace.placed[index] = each.placed;
        pace.answered[index] = each.answered;
      }
    return { atMs, counts, reach, nextDueAtMs, pace };
  }
}

const SECOND_MS = 1_000;
const HOUR_MS = 3_600_000;
const STRETCHES_MS = [1, 5, 10, 30, 60, 300, 900, 3_600, 21_600, 86_400].map((seconds) => seconds * SECOND_MS);
const MOST_STRETCHES = 120;

/**
 * Time range of the pace chart: the last hour of a running campaign, all of an ended one, starting at its start.
 * @returns `toMs` excluded; `fromMs` is a multiple of `everyMs`, so that stretches stay in place
 */
export function paceSpan(
  { state, startedAtMs, changedAtMs, endedAtMs }: Pick<Campaign, 'state' | 'startedAtMs' | 'changedAtMs' | 'endedAtMs'>,
  nowMs: number,
): { readonly fromMs: number; readonly toMs: number; readonly everyMs: number } {
  const [least = SECOND_MS] = STRETCHES_MS;
  if (startedAtMs === undefined) return { fromMs: nowMs, toMs: nowMs, everyMs: least };
  const hasEnded = state === 'finished' || state === 'stopped';
  // The clock may have been set back.
  const lastMs = Math.max(startedAtMs, state === 'running' ? nowMs : (endedAtMs ?? changedAtMs));
  const firstMs = hasEnded ? startedAtMs : Math.max(startedAtMs, lastMs - HOUR_MS);
  const spanMs = lastMs - firstMs;
  const fitting = STRETCHES_MS.find((each) => spanMs / each <= MOST_STRETCHES);
  const everyMs = fitting ?? Math.ceil(spanMs / MOST_STRETCHES / DAY_MS) * DAY_MS;
  return { fromMs: Math.floor(firstMs / everyMs) * everyMs, toMs: lastMs + 1, everyMs };
}

const DAY_MS = 24 * HOUR_MS;
