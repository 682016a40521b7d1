import type { Clock } from '../../kernel/clock.ts';
import type { CallNews, TimedNews } from './call-news.ts';

/** News of a followed call. */
export interface NumberedNews extends TimedNews {
  /** Rises by one with each news of its call, so that gaps can be counted. */
  readonly number: number;
}

/** A call's news at the time a follower joined. */
export interface ToldSoFar {
  /** Number of the last news in `soFar`; later news have higher numbers. */
  readonly number: number;
  /** Oldest first. */
  readonly soFar: readonly TimedNews[];
}

/** Passes on the news of followed calls; ignores all others. */
export class FollowedNews {
  readonly #clock: Clock;
  readonly #numbers = new Map<string, number>();
  #listener: (news: NumberedNews) => void = () => undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether the call is followed. */
  has(callId: string): boolean {
    return this.#numbers.has(callId);
  }

  /** Hears all news of followed calls; replaces the earlier listener. */
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
