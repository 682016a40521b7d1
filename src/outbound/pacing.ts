import type { Clock } from '../kernel/clock.ts';
import { type PaceKey, startsBefore } from '../kernel/pace.ts';
import type { CampaignRepository } from '../records/campaigns.ts';
import type { Attempt } from '../records/dialling.ts';

/** A campaign with contacts to call now. */
export interface PacedCampaign {
  readonly id: string;
  readonly weight: number;
  /** Its own limit. */
  readonly callsPerSecond: number;
  readonly carrier: string;
}

/**
 * Divides an amount by weight: no share exceeds its maximum, and unused parts go to the others.
 * @returns the shares in order; they add up to `total`, or to all that is wanted
 */
export function shareByWeight(total: number, wanting: readonly { readonly weight: number; readonly most: number }[]): number[] {
  const shares = wanting.map(() => 0);
  let left = Math.max(0, total);
  let open = wanting.map((_, index) => index).filter((index) => (wanting[index]?.most ?? 0) > 0);
  while (open.length > 0 && left > 0) {
    const weights = open.reduce((sum, index) => sum + (wanting[index]?.weight ?? 0), 0);
    const perWeight = left / weights;
    const filled = open.filter((index) => (wanting[index]?.most ?? 0) <= (wanting[index]?.weight ?? 0) * perWeight);
    for (const index of filled.length > 0 ? filled : open) {
      const { most = 0, weight = 0 } = wanting[index] ?? {};
      shares[index] = filled.length > 0 ? most : weight * perWeight;
    }
    if (filled.length === 0) break;
    left -= filled.reduce((sum, index) => sum + (wanting[index]?.most ?? 0), 0);
    open = open.filter((index) => !filled.includes(index));
  }
  return shares;
}

/** Calls per second of each campaign: an account's rate is shared by weight among campaigns with contacts to call. */
export function shareRates(
  campaigns: readonly PacedCampaign[],
  accountRate: (carrier: string) => number,
): ReadonlyMap<string, number> {
  const rates = new Map<string, number>();
  for (const carrier of new Set(campaigns.map((campaign) => campaign.carrier))) {
    const sharing = campaigns.filter((campaign) => campaign.carrier === carrier);
    const wanting = sharing.map(({ weight, callsPerSecond }) => ({ weight, most: callsPerSecond }));
    const shares = shareByWeight(accountRate(carrier), wanting);
    for (const [index, { id }] of sharing.entries()) rates.set(id, shares[index] ?? 0);
  }
  return rates;
}

/**
 * Calls each campaign may add so that running calls match the weights: one above its share adds none.
 * @param room calls that can be added in all
 * @returns whole numbers in order, adding up to at most `room`
 */
export function shareRoom(
  room: number,
  campaigns: readonly { readonly weight: number; readonly underWay: number; readonly wanted: number }[],
): number[] {
  const added = campaigns.map(() => 0);
  // One at a time to the campaign with least for its weight, in at most `room` steps.
  const wanted = campaigns.reduce((sum, campaign) => sum + Math.max(0, Math.floor(campaign.wanted)), 0);
  for (let step = Math.min(Math.floor(room), wanted); step > 0; step -= 1) {
    let next = -1;
    let least = Infinity;
    for (const [index, { weight, underWay, wanted: most }] of campaigns.entries()) {
      const has = added[index] ?? 0;
      const load = (underWay + has + 1) / weight;
      if (has + 1 <= most && load < least) {
        least = load;
        next = index;
      }
    }
    if (next < 0) break;
    added[next] = (added[next] ?? 0) + 1;
  }
  return added;
}

export const campaignKey = (tenantId: string, id: string): string => `campaign/${tenantId}/${id}`;
export const carrierKey = (carrier: string): string => `carrier/${carrier}`;
export const lineKey = (from: string): string => `line/${from}`;

/** The pace key of something limited to this many starts a second. */
export function paceKey(key: string, perSecond: number): PaceKey {
  return { key, intervalMs: 1000 / perSecond };
}

/**
 * How many calls may begin before a moment.
 * @param keys limits of every call: its campaign and account
 * @param lines caller ids, which share the calls; those without a limit are absent
 */
export function callsBefore(
  untilMs: number,
  nowMs: number,
  limits: { readonly keys: readonly PaceKey[]; readonly lines: readonly PaceKey[] | undefined },
  freeAtMs: ReadonlyMap<string, number>,
): number {
  const of = ({ key, intervalMs }: PaceKey): number => startsBefore(untilMs, nowMs, freeAtMs.get(key), intervalMs);
  const all = limits.keys.map(of);
  const lines = limits.lines?.reduce((sum, line) => sum + of(line), 0) ?? Infinity;
  return Math.min(...all, lines);
}

/** Moments further ahead are not taken. */
const MOST_AHEAD_MS = 10_000;

/** Spaces single calls among all calls of their carrier account and caller id, over all processes. */
export class SharedPace {
  readonly #campaigns: Pick<CampaignRepository, 'paces' | 'takePace'>;
  readonly #keysOf: (attempt: Pick<Attempt, 'carrier' | 'from'>) => readonly PaceKey[];
  readonly #clock: Pick<Clock, 'wallMs'>;

  constructor(
    campaigns: Pick<CampaignRepository, 'paces' | 'takePace'>,
    perSecond: { readonly carrier: number; readonly line: number },
    clock: Pick<Clock, 'wallMs'>,
  ) {
    this.#campaigns = campaigns;
    this.#keysOf = ({ carrier, from }) => [
      paceKey(carrierKey(carrier), perSecond.carrier),
      paceKey(lineKey(from), perSecond.line),
    ];
    this.#clock = clock;
  }

  /** @returns the wait; 0 for a campaign's call, whose runner already took its moment */
  async take(attempt: Pick<Attempt, 'carrier' | 'from' | 'campaignId'>): Promise<number> {
    if (attempt.campaignId !== undefined) return 0;
    const keys = this.#keysOf(attempt);
    const nowMs = this.#clock.wallMs();
    const freeAtMs = await this.#campaigns.paces(keys.map(({ key }) => key));
    const aheadMs = Math.max(0, ...Array.from(freeAtMs.values(), (atMs) => atMs - nowMs));
    if (aheadMs > MOST_AHEAD_MS) return aheadMs;
    const [atMs = nowMs] = await this.#campaigns.takePace([keys], nowMs);
    return atMs - nowMs;
  }
}
