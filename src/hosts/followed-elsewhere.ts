import type { NumberedNews, ToldSoFar } from '../call/log/followed-news.ts';
import type { Clock } from '../kernel/clock.ts';
import { sleep } from '../kernel/waiting.ts';
import type { Logger } from '../observability/logger.ts';
import type { PeerLink } from './peer-link.ts';
import type { Peers } from './peers.ts';

interface Followed {
  readonly link: PeerLink;
  /** Of the last news. */
  number: number;
}

/** A call whose machine cannot be reached is looked for so long, then told as ended to whoever follows it. */
const LOOK_FOR_MS = 10_000;
const LOOK_EVERY_MS = 500;

/** Calls of other machines that somebody follows here. */
export class FollowedElsewhere implements Disposable {
  readonly #parts: { readonly peers: Peers; readonly clock: Clock; readonly logger: Logger };
  readonly #followed = new Map<string, Followed>();
  readonly #closing = new AbortController();
  #listener: (news: NumberedNews) => void = () => undefined;

  constructor(parts: { readonly peers: Peers; readonly clock: Clock; readonly logger: Logger }) {
    this.#parts = parts;
  }

  onNews(listener: (news: NumberedNews) => void): void {
    this.#listener = listener;
  }

  /** @returns undefined where no machine has the call @throws PeerError */
  async follow(callId: string): Promise<ToldSoFar | undefined> {
    const link = await this.#parts.peers.ownerOf({ callId });
    if (link === undefined) return undefined;
    const followed: Followed = { link, number: this.#followed.get(callId)?.number ?? 0 };
    // News may come before the answer is read.
    this.#followed.set(callId, followed);
    const told = await link.ask('follow', { callId }).catch((error: unknown) => {
      if (this.#followed.get(callId) === followed) this.#followed.delete(callId);
      throw error;
    });
    if (told !== null) return told;
    if (this.#followed.get(callId) === followed) this.#followed.delete(callId);
    return undefined;
  }

  unfollow(callId: string): void {
    const followed = this.#followed.get(callId);
    this.#followed.delete(callId);
    followed?.link
      .ask('unfollow', { callId })
      .catch((error: unknown) => this.#parts.logger.debug({ callId, error }, 'call is still followed by a machine'));
  }

  /** What another machine tells. */
  tell(news: NumberedNews): void {
    const { callId, type } = news.news;
    const followed = this.#followed.get(callId);
    if (followed === undefined) return;
    followed.number = news.number;
    if (type === 'ended') this.#followed.delete(callId);
    this.#listener(news);
  }

  /** The channel to a machine broke: follows its calls again, wherever they are by then. */
  async again(link: PeerLink): Promise<void> {
    const lost = [...this.#followed].filter(([, followed]) => followed.link === link);
    await Promise.all(lost.map(([callId, followed]) => this.#again(callId, followed)));
  }

  [Symbol.dispose](): void {
    this.#closing.abort(new Error('the gateway stops'));
  }

  async #again(callId: string, before: Followed): Promise<void> {
    const { clock } = this.#parts;
    const untilMs = clock.nowMs() + LOOK_FOR_MS;
    while (clock.nowMs() < untilMs && !this.#closing.signal.aborted) {
      const told = await this.follow(callId).catch(() => undefined);
      if (told !== undefined) return;
      this.#followed.set(callId, before);
      await sleep(clock, LOOK_EVERY_MS, this.#closing.signal).catch(() => undefined);
      // Nobody wants it any more.
      if (!this.#followed.has(callId)) return;
    }
    this.tell({ number: before.number + 1, atWallMs: clock.wallMs(), news: { type: 'ended', callId, reason: 'machine-gone' } });
  }
}
