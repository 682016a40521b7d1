import type { Clock } from '../../kernel/clock.ts';
import type { CallNews, TimedNews } from './call-news.ts';

/** News of a followed call. */
export interface NumberedNews extends TimedNews {
  /** Rises by one with each news of its call, so that missing ones can be counted. */
  readonly number: number;
}

/** What a call had told when somebody began to follow it. */
export interface ToldSoFar {
  /** Of the last news that `soFar` has; what is told from now on has higher numbers. */
  readonly number: number;
  /** Oldest first. */
  readonly soFar: readonly TimedNews[];
}

/** Passes on the news of calls that somebody follows, and does nothing for any other. */
export class FollowedNews {
  readonly #clock: Clock;
  readonly #numbers = new Map<string, number>();
  #listener: (news: NumberedNews) => void = () => undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether somebody follows a call. */
  has(callId: string): boolean {
    return this.#numbers.has(callId);
  }

  /** Hears all news of followed calls, in place of whoever did. */
  onNews(listener: (news: NumberedNews) => void): void {
    this.#listener = listener;
  }

  /** @returns the number of the call's last news */
  follow(callId: string): number {
    const number = this.#numbers.get(callId) ?? 0;
    this.#numbers.set(callId, number);
    return number;
  }

  unfollow(callId: string): void {
    this.#numbers.delete(callId);
  }

  tell(news: CallNews): void {
    const last = this.#numbers.get(news.callId);
    if (last === undefined) return;
    const number = last + 1;
    if (news.type === 'ended') this.#numbers.delete(news.callId);
    else this.#numbers.set(news.callId, number);
    this.#listener({ number, atWallMs: this.#clock.wallMs(), news });
  }
}
