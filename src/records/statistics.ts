/** The counted calls: ended ones of one bot that began in a range, from (included) to (excluded). */
export interface CountedCalls {
  readonly botName: string;
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

/** One version's calls of a day, by ending. Undefined for calls from before versions were recorded. */
export interface OutcomeCount {
  readonly botVersion: string | undefined;
  /** `YYYY-MM-DD` in the requested time zone. */
  readonly day: string;
  readonly endReason: string;
  readonly disposition: string | undefined;
  readonly calls: number;
}

/** Callers' waits for replies, in ms. */
export interface ReplyTimes {
  readonly replies: number;
  readonly medianMs: number;
  readonly p90Ms: number;
  readonly p99Ms: number;
}

export interface BotStatistics {
  readonly outcomes: readonly OutcomeCount[];
  readonly replies: ReplyTimes | undefined;
  readonly repliesByVersion: readonly (ReplyTimes & { readonly botVersion: string | undefined })[];
  readonly repliesByDay: readonly (ReplyTimes & { readonly day: string })[];
}

/** Ended calls that began in a range, for rules of alerts. */
export interface RecentCalls {
  readonly endings: readonly { readonly endReason: string; readonly calls: number }[];
  /** The bot's replies, greetings included. */
  readonly replies: number;
  /** Callers' waits for replies; undefined without one. */
  readonly replyP50Ms: number | undefined;
  readonly replyP95Ms: number | undefined;
  /** Replies that a caller broke off, and those broken off within their first second, as when the bot began too early. */
  readonly brokenOff: number;
  readonly brokenOffEarly: number;
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

export const COST_GROUPS = ['bot', 'campaign', 'day', 'vendor'] as const;
export type CostGroup = (typeof COST_GROUPS)[number];

/** Statistics of stored calls, computed in the database. */
export interface StatisticsRepository {
  paths(tenantId: string, calls: CountedCalls): Promise<PathCounts>;
  /** @param timeZone of days, an IANA name */
  ofBot(tenantId: string, calls: CountedCalls, timeZone: string): Promise<BotStatistics>;
  /** Costs of calls that began in a range, from (included) to (excluded); largest first, days in order. Calls without a cost are not counted. */
  costs(tenantId: string, range: { readonly fromMs: number; readonly toMs: number }, by: CostGroup): Promise<readonly CostSum[]>;
  /** @param range.botName of all bots when absent */
  recent(
    tenantIds: readonly string[],
    range: { readonly fromMs: number; readonly toMs: number; readonly botName?: string | undefined },
  ): Promise<RecentCalls>;
  /** Known costs of all calls of these tenants that began since then, by bot. */
  spentSince(
    tenantIds: readonly string[],
    sinceMs: number,
  ): Promise<readonly { readonly botName: string; readonly micros: number }[]>;
}
