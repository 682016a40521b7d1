import type { NumberedNews } from '../call/log/followed-news.ts';
import type { Clock } from '../kernel/clock.ts';
import { sleep } from '../kernel/waiting.ts';
import type { Logger } from '../observability/logger.ts';
import type { LocalCalls } from './call-host.ts';
import type { CallOrders } from './call-orders.ts';
import type { PeerLink } from './peer-link.ts';
import type { PeerCaller } from './peer-server.ts';
import type { Peers } from './peers.ts';
import type { Given } from './protocol.ts';

interface FollowedCallsParts {
  readonly local: Pick<LocalCalls, 'has' | 'live'>;
  /** The calls of this machine. */
  readonly here: Pick<CallOrders, 'follow' | 'unfollow'>;
  readonly peers: Peers;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A follower of a call of this machine: this machine itself, or another one. */
type Follower = PeerCaller | 'here';

interface Elsewhere {
  readonly link: PeerLink;
  /** Number of the last news. */
  number: number;
}

/** A call whose machine cannot be reached is looked for so long, then its followers are told that it ended. */
const LOOK_FOR_MS = 10_000;
const LOOK_EVERY_MS = 500;

/** Who follows which call: this machine the calls of any machine, and other machines the calls of this one. */
export class FollowedCalls implements Disposable {
  readonly #parts: FollowedCallsParts;
  readonly #followers = new Map<string, Set<Follower>>();
  readonly #elsewhere = new Map<string, Elsewhere>();
  readonly #closing = new AbortController();
  #listener: (news: NumberedNews) => void = () => undefined;

  constructor(parts: FollowedCallsParts) {
    this.#parts = parts;
    parts.local.live.onNews((news) => this.#happened(news));
  }

  /** Hears the news of the calls that are followed here, whichever machine has them. */
  onNews(listener: (news: NumberedNews) => void): void {
    this.#listener = listener;
  }

  /** @returns null where no machine has the call @throws PeerError */
  follow(callId: string): Promise<Given<'follow'>> {
    return this.#parts.local.has(callId) ? this.followFor('here', callId) : this.#followElsewhere(callId);
  }

  unfollow(callId: string): void {
    this.unfollowFor('here', callId);
    const followed = this.#elsewhere.get(callId);
    this.#elsewhere.delete(callId);
    followed?.link
      .ask('unfollow', { callId })
      .catch((error: unknown) => this.#parts.logger.debug({ callId, error }, 'call is still followed by a machine'));
  }

  /** Follows a call of this machine for that follower. @returns null for any other call */
  async followFor(follower: Follower, callId: string): Promise<Given<'follow'>> {
    const followers = this.#followers.get(callId) ?? new Set();
    this.#followers.set(callId, followers.add(follower));
    const told = await this.#parts.here.follow({ callId });
    if (told === null) this.unfollowFor(follower, callId);
    return told;
  }

  unfollowFor(follower: Follower, callId: string): void {
    const followers = this.#followers.get(callId);
    if (followers?.delete(follower) !== true || followers.size > 0) return;
    this.#followers.delete(callId);
    void this.#parts.here.unfollow({ callId });
  }

  /** Another machine is gone, or connects again. */
  unfollowAllFor(follower: Follower): void {
    for (const callId of this.#followers.keys()) this.unfollowFor(follower, callId);
  }

  /** Another machine tells news of one of its calls. */
  tell(news: NumberedNews): void {
    const { callId, type } = news.news;
    const followed = this.#elsewhere.get(callId);
    if (followed === undefined) return;
    followed.number = news.number;
    if (type === 'ended') this.#elsewhere.delete(callId);
    this.#listener(news);
  }

  /** The channel to a machine broke: follows its calls again, wherever they are by then. */
  async again(link: PeerLink): Promise<void> {
    const lost = [...this.#elsewhere].filter(([, followed]) => followed.link === link);
    await Promise.all(lost.map(([callId, followed]) => this.#again(callId, followed)));
  }

  [Symbol.dispose](): void {
    this.#closing.abort(new Error('the gateway stops'));
  }

  /** News of a call of this machine. */
  #happened(news: NumberedNews): void {
    const { callId, type } = news.news;
    const followers = this.#followers.get(callId) ?? [];
    if (type === 'ended') this.#followers.delete(callId);
    for (const follower of followers) {
      if (follower === 'here') this.#listener(news);
      else follower.tellNews(news);
    }
  }

  async #followElsewhere(callId: string): Promise<Given<'follow'>> {
    const link = await this.#parts.peers.ownerOf({ callId });
    if (link === undefined) return null;
    const followed: Elsewhere = { link, number: this.#elsewhere.get(callId)?.number ?? 0 };
    const forget = (): void => {
      if (this.#elsewhere.get(callId) === followed) this.#elsewhere.delete(callId);
    };
    // News may come before the answer is read.
    this.#elsewhere.set(callId, followed);
    const told = await link.ask('follow', { callId }).catch((error: unknown) => {
      forget();
      throw error;
    });
    if (told === null) forget();
    return told;
  }

  async #again(callId: string, before: Elsewhere): Promise<void> {
    const { clock } = this.#parts;
    const untilMs = clock.nowMs() + LOOK_FOR_MS;
    while (clock.nowMs() < untilMs && !this.#closing.signal.aborted) {
      const told = await this.#followElsewhere(callId).catch(() => null);
      if (told !== null) return;
      this.#elsewhere.set(callId, before);
      await sleep(clock, LOOK_EVERY_MS, this.#closing.signal).catch(() => undefined);
      // Its last follower has left meanwhile.
      if (!this.#elsewhere.has(callId)) return;
    }
    this.tell({ number: before.number + 1, atWallMs: clock.wallMs(), news: { type: 'ended', callId, reason: 'machine-gone' } });
  }
}
