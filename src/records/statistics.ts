import type { Ending } from '../call/log/outcome.ts';
import type { ReplyTimes } from './reply-times.ts';

/** The counted calls: ended ones that began in a range, from (included) to (excluded). All bots and versions where none is named. */
export interface CountedCalls {
  readonly botName?: string | undefined;
  readonly fromMs: number;
  readonly toMs: number;
  readonly botVersion?: string | undefined;
}

/** Paths of calls through the dialog; without calls whose dialog reports no steps, or whose words were erased. */
export interface PathCounts {
  /** Number of counted calls; limited to the latest. */
  readonly calls: number;
  readonly hasMore: boolean;
  /** How often a step was entered, and in how many calls. */
  readonly steps: readonly { readonly step: string; readonly times: number; readonly calls: number }[];
  /** Direct moves between steps; `from` is undefined for a call's first step. */
  readonly hops: readonly {
    readonly from: string | undefined;
    readonly to: string;
    readonly times: number;
    readonly calls: number;
  }[];
  /** Where calls ended, and why; `examples` are ids of some of them. */
  readonly ends: readonly {
    readonly step: string;
    readonly endReason: string;
    readonly calls: number;
    readonly examples: readonly string[];
  }[];
}

/** Figures of some calls. Calls between people and recordings from elsewhere are not counted. */
export interface Figures {
  readonly calls: number;
  /** Answered by a person; inbound calls always are once they have sound. */
  readonly answered: number;
  /** Answered, and ended by the bot itself or with the caller's goodbye. */
  readonly contained: number;
  readonly transferred: number;
  /** The caller hung up, said nothing, or was not understood to the end. */
  readonly givenUp: number;
  readonly optedOut: number;
  /** Calls in which the bot spoke into the caller's words, and how often it did. */
  readonly cutOffCalls: number;
  readonly cutOffs: number;
  /** Calls with a turn that the bot did not understand, and how many turns. */
  readonly notUnderstoodCalls: number;
  readonly notUnderstood: number;
  readonly durationS: number;
  readonly endings: Readonly<Record<Ending, number>>;
  /** Undefined without replies. */
  readonly replies: ReplyTimes | undefined;
  /** One for each currency, in millionths of it; empty where nothing has a cost. */
  readonly costs: readonly { readonly currency: string; readonly micros: number }[];
}

/** Figures of a group of calls. */
export interface FigureGroup extends Figures {
  readonly botName: string;
  /** Empty for calls from before versions were recorded, and where a group has several. */
  readonly botVersion: string;
  /** Quarter of an hour of its first and last call. */
  readonly firstMs: number;
  readonly lastMs: number;
}

/** What ended calls cost, by a group: a bot, a campaign, a day of UTC or a vendor. */
export interface CostSum {
  /** Undefined for calls of no campaign. */
  readonly group: string | undefined;
  readonly currency: string;
  readonly calls: number;
  /** Sum of the parts whose cost is known, in millionths. */
  readonly knownMicros: number;
  /** Calls with a part whose cost is unknown. */
  readonly unknownCalls: number;
}

/** Units of which calls used some, and whose cost is unknown. */
export interface UnpricedUnits {
  readonly vendor: string;
  readonly model: string | undefined;
  readonly unit: string;
  readonly calls: number;
}

export const COST_GROUPS = ['bot', 'campaign', 'day', 'vendor'] as const;
export type CostGroup = (typeof COST_GROUPS)[number];

/** Statistics of stored calls, computed in the database. */
export interface StatisticsRepository {
  paths(tenantId: string, calls: CountedCalls & { readonly botName: string }): Promise<PathCounts>;
  /** @param tenantIds one, or several that are added up */
  figures(tenantIds: string | readonly string[], calls: CountedCalls): Promise<Figures>;
  /** @param startsMs beginnings of periods, oldest first: multiples of a quarter of an hour, except the first @returns one for each */
  figuresByPeriod(tenantId: string, calls: CountedCalls, startsMs: readonly number[]): Promise<readonly Figures[]>;
  /** Groups with calls, the latest first. */
  figuresByBot(tenantId: string, calls: CountedCalls, by: 'bot' | 'version'): Promise<readonly FigureGroup[]>;
  /** Calls by disposition, most frequent first; undefined for those without one. */
  dispositions(
    tenantId: string,
    calls: CountedCalls,
  ): Promise<readonly { readonly disposition: string | undefined; readonly calls: number }[]>;
  /**
   * Brings the figures of changed calls up to date, for all tenants. Reading does so for the latest changes of its tenant.
   * @param limit quarters of an hour, for each tenant
   * @returns how many were computed
   */
  rollUp(limit: number): Promise<number>;
  /** Costs of calls that began in a range, from (included) to (excluded); largest first, days in order. Calls without a cost are not counted. */
  costs(tenantId: string, range: { readonly fromMs: number; readonly toMs: number }, by: CostGroup): Promise<readonly CostSum[]>;
  /** The bot's replies in counted calls, greetings included, and how many of them a caller broke off. */
  interruptions(
    tenantIds: readonly string[],
    calls: CountedCalls,
  ): Promise<{ readonly replies: number; readonly brokenOff: number }>;
  /** What ended calls of a range used that had no price then, by vendor, model and unit; in most calls first. */
  unpriced(tenantId: string, range: { readonly fromMs: number; readonly toMs: number }): Promise<readonly UnpricedUnits[]>;
  /** Known costs of all calls of these tenants that began since then, by bot. */
  spentSince(
    tenantIds: readonly string[],
    sinceMs: number,
  ): Promise<readonly { readonly botName: string; readonly micros: number }[]>;
}
