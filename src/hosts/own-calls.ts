import type { LiveCalls } from '../call/admission/live-calls.ts';
import type { NumberedNews, ToldSoFar } from '../call/log/followed-news.ts';
import type { Logger } from '../observability/logger.ts';
import type { CallDirectory, CallEntry } from './shared-state/port.ts';
import type { PeerCaller } from './peer-server.ts';

export interface OwnCallsOptions {
  readonly local: { readonly live: LiveCalls; readonly giveUp: (callId: string) => void };
  readonly shared: { readonly calls: CallDirectory };
  readonly logger: Logger;
}

/** A follower of calls of this machine: whoever watches here, or another machine. */
type Follower = PeerCaller | 'here';

/** What the other machines know of the calls of this one: their entries in the directory, and their news. */
export class OwnCalls {
  readonly #options: OwnCallsOptions;
  readonly #claimed = new Set<string>();
  readonly #followers = new Map<string, Set<Follower>>();
  #listener: (news: NumberedNews) => void = () => undefined;

  constructor(options: OwnCallsOptions) {
    this.#options = options;
    options.local.live.onNews((news) => this.#tell(news));
    options.shared.calls.onLost((callId) => {
      this.#claimed.delete(callId);
      options.logger.error(
        { callId },
        'another machine went on with a call that is alive here: this machine was not heard of for a while',
      );
      options.local.giveUp(callId);
    });
  }

  /** @returns false where another machine has the call, or has another call of that key */
  async claim(call: Pick<CallEntry, 'callId' | 'carrierKey'>): Promise<boolean> {
    const { shared, logger } = this.#options;
    this.#claimed.add(call.callId);
    const isOwn = await shared.calls.claim(call);
    if (isOwn) return true;
    this.#claimed.delete(call.callId);
    logger.info({ callId: call.callId }, 'another machine has the call');
    return false;
  }

  async release(callId: string): Promise<void> {
    this.#claimed.delete(callId);
    await this.#options.shared.calls.release(callId);
  }

  /** No call of this machine has that key, whatever the directory says. */
  async forget(carrierKey: string): Promise<void> {
    const entry = await this.#options.shared.calls.find({ carrierKey });
    if (entry !== undefined && !this.#claimed.has(entry.callId)) await this.release(entry.callId);
  }

  async follow(callId: string, follower: Follower): Promise<ToldSoFar | undefined> {
    const followers = this.#followers.get(callId) ?? new Set();
    followers.add(follower);
    this.#followers.set(callId, followers);
    const told = await this.#options.local.live.follow(callId);
    if (told === undefined) this.unfollow(callId, follower);
    return told;
  }

  unfollow(callId: string, follower: Follower): void {
    const followers = this.#followers.get(callId);
    if (followers?.delete(follower) !== true || followers.size > 0) return;
    this.#followers.delete(callId);
    this.#options.local.live.unfollow(callId);
  }

  /** Another machine is gone, or connects again. */
  unfollowAll(follower: Follower): void {
    for (const callId of this.#followers.keys()) this.unfollow(callId, follower);
  }

  /** Hears the news of the calls that are followed here. */
  onNews(listener: (news: NumberedNews) => void): void {
    this.#listener = listener;
  }

  #tell(news: NumberedNews): void {
    const { callId, type } = news.news;
    const followers = this.#followers.get(callId) ?? [];
    if (type === 'ended') this.#followers.delete(callId);
    for (const follower of followers) {
      if (follower === 'here') this.#listener(news);
      else follower.tellNews(news);
    }
  }
}
