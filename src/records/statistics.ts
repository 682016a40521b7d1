/** Which calls are counted: those of one bot that began in a time, from (included) to (excluded), and have ended. */
export interface CountedCalls {
  readonly botName: string;
  readonly fromMs: number;
  readonly toMs: number;
  readonly botVersion?: string | undefined;
}

/** Where calls went in their bot's dialog. Calls of dialogs that tell no steps, and of erased words, are not in it. */
export interface PathCounts {
  /** Calls that were looked at; the latest ones where there are more than a bound. */
  readonly calls: number;
  readonly hasMore: boolean;
  /** How often a step was come to, and in how many calls. */
  readonly steps: readonly { readonly step: string; readonly times: number; readonly calls: number }[];
  /** From a step straight to the next; `from` is undefined for a call's first step. */
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

/** Calls of one version on one day, and how they ended. Undefined for calls of before versions were kept. */
export interface OutcomeCount {
  readonly botVersion: string | undefined;
  /** `YYYY-MM-DD` in the time zone that was asked for. */
  readonly day: string;
  readonly endReason: string;
  readonly disposition: string | undefined;
  readonly calls: number;
}

/** How long callers waited for replies, in ms. */
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

/** Counts over stored calls, made in the database. */
export interface StatisticsRepository {
  paths(tenantId: string, calls: CountedCalls): Promise<PathCounts>;
  /** @param timeZone of days, an IANA name */
  ofBot(tenantId: string, calls: CountedCalls, timeZone: string): Promise<BotStatistics>;
}
