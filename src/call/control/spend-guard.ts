import type { Bot } from '../../config/bots.ts';
import type { PriceList } from '../../config/prices.ts';
import { costOf } from '../../costs/cost.ts';
import { carriedMinutes } from '../../costs/usage.ts';
import type { CallLine } from '../call-line.ts';

/** What calls may cost. */
export interface SpendRules {
  readonly prices: PriceList;
  /** Known cost of one call, in whole units of the currency, where its bot has no limit of its own. */
  readonly maximumPerCall: number | undefined;
  /** Whether today's calls have reached a limit of this bot. */
  readonly dayReached: (bot: Bot) => boolean;
}

export interface SpendServices {
  /** No limits where absent. */
  readonly spend?: SpendRules | undefined;
}

/** Between two looks at a call's cost. */
const LOOK_MS = 1_000;

/** Watches what one call costs. */
export class SpendGuard {
  readonly #line: CallLine;
  readonly #rules: SpendRules | undefined;
  #lookAtMs = Number.NEGATIVE_INFINITY;
  #reached = false;

  constructor(line: CallLine, { spend }: SpendServices) {
    this.#line = line;
    this.#rules = spend;
  }

  /** @returns whether a limit is reached now; true once a call. The day's limit counts for callers, as their call begins. */
  tick(nowMs: number): boolean {
    if (this.#rules === undefined || this.#reached || nowMs < this.#lookAtMs) return false;
    const isFirst = this.#lookAtMs === Number.NEGATIVE_INFINITY;
    this.#lookAtMs = nowMs + LOOK_MS;
    const { bot, inbound, resumed } = this.#line.identity;
    const begins = isFirst && inbound.direction === 'inbound' && resumed === undefined;
    this.#reached = (begins && this.#rules.dayReached(bot)) || this.#costsTooMuch(this.#rules, nowMs);
    return this.#reached;
  }

  #costsTooMuch({ prices, maximumPerCall }: SpendRules, nowMs: number): boolean {
    const { identity, log, media } = this.#line;
    const most = identity.bot.spend.maximumPerCall ?? maximumPerCall;
    if (most === undefined) return false;
    const { carrier, direction, to } = identity.inbound;
    const carried = carriedMinutes({ carrier, direction, to, answeredAtMs: 0, endedAtMs: nowMs - (media?.startedMs ?? nowMs) });
    return costOf([...log.usage.all, ...carried], prices).known >= most;
  }
}
