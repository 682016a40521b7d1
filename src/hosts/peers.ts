import type { Clock } from '../kernel/clock.ts';
import { SingleFlight, sleep, within } from '../kernel/waiting.ts';
import type { Logger } from '../observability/logger.ts';
import type { SharedState } from './shared-state/port.ts';
import { PeerError } from './errors.ts';
import { PeerLink, type PeerLinkOptions } from './peer-link.ts';
import type { PeerProofs } from './peer-server.ts';
import type { Asked, CallName, Given, PeerOrderName } from './protocol.ts';

export interface PeersOptions {
  readonly shared: Pick<SharedState, 'members' | 'calls' | 'isAway'>;
  readonly proofs: PeerProofs;
  readonly onNews: PeerLinkOptions['onNews'];
  readonly onDown: (link: PeerLink) => void;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The list of machines is read at most so often. */
const LIST_EVERY_MS = 1_000;
/** What a carrier reports is told to the machine that has the call for so long, in case that cannot be reached for a moment. */
const TELL_WITHIN_MS = 10_000;
const TELL_AGAIN_MS = 500;
/** A caller waits for the answer of the machine that had the call. */
const LATE_MS = 300;
const LATE = Symbol('late');
/** Longer than the pause between two of a machine's heartbeats (`redis.ts`), and shorter than its callers stay on the line in silence. */
const UNHEARD_MS = 2_000;

/** The other machines of the gateway, and which of them has which call. */
export class Peers implements Disposable {
  readonly #options: PeersOptions;
  readonly #links = new Map<string, PeerLink>();
  #listedAtMs = Number.NEGATIVE_INFINITY;
  #listing: Promise<void> | undefined;

  constructor(options: PeersOptions) {
    this.#options = options;
  }

  /** All other machines that are there, those that are leaving among them. */
  async all(): Promise<readonly PeerLink[]> {
    await this.#refresh();
    return [...this.#links.values()];
  }

  /** @returns the machine that has the call; undefined where none has, or this one. While the directory is away, the machines themselves are asked */
  async ownerOf(name: CallName): Promise<PeerLink | undefined> {
    const { shared } = this.#options;
    const entry = await shared.calls.find(name);
    if (entry === undefined && shared.isAway && 'callId' in name) return this.first((peer) => having(peer, name.callId));
    if (entry === undefined || entry.memberId === shared.members.own.id) return undefined;
    await this.#refresh(!this.#links.has(entry.memberId));
    return this.#links.get(entry.memberId);
  }

  /** @returns of all machines that are asked at once, the first that gives anything; undefined where none does */
  async first<Found>(ask: (peer: PeerLink) => Promise<Found | null | undefined>): Promise<Found | undefined> {
    const asked = (await this.all()).map(async (peer) => {
      const found = await ask(peer);
      if (found === null || found === undefined) throw new PeerError('this machine does not have it');
      return found;
    });
    return Promise.any(asked).catch(() => undefined);
  }

  /**
   * Tells the machine that has a call what was reported of it, more than once where that machine is away for a moment. Never rejects.
   * @returns whether there was such a machine, and it was told
   */
  async tellOwner<Name extends PeerOrderName>(call: CallName, name: Name, asked: Asked<Name>): Promise<boolean> {
    const { shared, clock, logger } = this.#options;
    const untilMs = clock.nowMs() + TELL_WITHIN_MS;
    for (;;) {
      try {
        const owner = await this.ownerOf(call);
        await owner?.ask(name, asked);
        // A machine that does not have the call does nothing.
        if (owner === undefined && shared.isAway)
          await Promise.allSettled((await this.all()).map((peer) => peer.ask(name, asked)));
        return owner !== undefined;
      } catch (error) {
        if (clock.nowMs() >= untilMs) {
          logger.warn({ order: name, error }, 'the machine that has a call was not told what was reported of it');
          return false;
        }
        await sleep(clock, TELL_AGAIN_MS);
      }
    }
  }

  /** @returns undefined where no other machine has the call @throws as `ask` of `PeerLink` */
  async askOwner<Name extends PeerOrderName>(call: CallName, name: Name, asked: Asked<Name>): Promise<Given<Name> | undefined> {
    return (await this.ownerOf(call))?.ask(name, asked);
  }

  /**
   * As `askOwner`, for a caller who waits: a machine that neither answers nor is heard of any more loses its calls, so that they can be claimed.
   * @returns `lost` then
   */
  async askOwnerWhileThere<Name extends PeerOrderName>(
    call: CallName,
    name: Name,
    asked: Asked<Name>,
  ): Promise<Given<Name> | 'lost' | undefined> {
    const answer = this.askOwner(call, name, asked);
    try {
      while ((await within(this.#options.clock, LATE_MS, answer, LATE)) === LATE) if (await this.#loseOwner(call)) return 'lost';
      return await answer;
    } catch (error) {
      if (await this.#loseOwner(call)) return 'lost';
      throw error;
    }
  }

  /** @returns whether the machine that has the call is dead, as its address refuses connections, or Redis has not heard of it for a while either */
  async #loseOwner(call: CallName): Promise<boolean> {
    const owner = await this.ownerOf(call).catch(() => undefined);
    if (owner === undefined) return false;
    return this.#options.shared.members.lose(owner.id, owner.isRefused ? 0 : UNHEARD_MS);
  }

  [Symbol.dispose](): void {
    for (const link of this.#links.values()) link.close();
    this.#links.clear();
  }

  async #refresh(now = false): Promise<void> {
    if (!now && this.#options.clock.nowMs() < this.#listedAtMs + LIST_EVERY_MS) return;
    this.#listing ??= this.#list().finally(() => (this.#listing = undefined));
    await this.#listing;
  }

  async #list(): Promise<void> {
    const { shared, clock, onDown } = this.#options;
    this.#listedAtMs = clock.nowMs();
    const members = await shared.members.list();
    for (const [id, link] of this.#links) {
      if (members.some((member) => member.id === id)) continue;
      link.close();
      this.#links.delete(id);
    }
    for (const { id, address, leaving } of members) {
      if (id === shared.members.own.id || address === undefined) continue;
      const known = this.#links.get(id);
      const link: PeerLink = known ?? new PeerLink({ ...this.#options, peer: { id, address }, onDown: () => onDown(link) });
      link.isLeaving = leaving;
      this.#links.set(id, link);
    }
  }
}

async function having(peer: PeerLink, callId: string): Promise<PeerLink | undefined> {
  return (await peer.ask('find', { callId })) === null ? undefined : peer;
}

/** What another machine says of Redis; `gone` where its address refuses connections, or it leaves. */
export type RedisThere = 'there' | 'away' | 'silent' | 'gone';

export interface CutOffOptions {
  readonly shared: Pick<SharedState, 'isAway'>;
  /** The other machines, those that were there last. */
  readonly peers: () => Promise<readonly CutOffPeer[]>;
  readonly clock: Clock;
  readonly logger: Logger;
}

type CutOffPeer = Pick<PeerLink, 'ask' | 'isLeaving' | 'isRefused'>;

const REDIS_ASK_WITHIN_MS = 1_000;
/** One look serves everybody who asks meanwhile. */
const LOOK_AGAIN_MS = 1_000;
/** Redis that is back by then was not lost: machines notice at different moments that it comes and goes. */
const SETTLE_MS = 500;

/** Whether this machine is the one that is cut off, so that others had better take its calls; or Redis is down for everybody, and all go on. */
export class CutOff {
  readonly #options: CutOffOptions;
  readonly #looking = new SingleFlight<void>();
  #lookedAtMs = Number.NEGATIVE_INFINITY;
  #problem: string | undefined;

  constructor(options: CutOffOptions) {
    this.#options = options;
  }

  /** @returns why this machine is cut off; undefined while it is not. The other machines are asked only while Redis is away */
  async problem(): Promise<string | undefined> {
    const { shared, clock } = this.#options;
    if (shared.isAway && clock.nowMs() >= this.#lookedAtMs + LOOK_AGAIN_MS) await this.#looking.run(() => this.#look());
    if (!shared.isAway) {
      this.#lookedAtMs = Number.NEGATIVE_INFINITY;
      this.#note(undefined);
    }
    return this.#problem;
  }

  async #look(): Promise<void> {
    const { shared, peers, clock } = this.#options;
    const answers = await Promise.all((await peers()).map((peer) => this.#answerOf(peer)));
    const problem = cutOffBy(answers);
    if (problem !== undefined && this.#problem === undefined) await sleep(clock, SETTLE_MS);
    this.#lookedAtMs = clock.nowMs();
    if (shared.isAway) this.#note(problem);
  }

  async #answerOf(peer: CutOffPeer): Promise<RedisThere> {
    const asked = hasRedis(peer).then(
      (isThere): RedisThere => (isThere ? 'there' : 'away'),
      (): RedisThere => 'silent',
    );
    const answer = await within<RedisThere, RedisThere>(this.#options.clock, REDIS_ASK_WITHIN_MS, asked, 'silent');
    const isGone = peer.isLeaving || peer.isRefused;
    return isGone && answer !== 'away' ? 'gone' : answer;
  }

  #note(problem: string | undefined): void {
    const { logger } = this.#options;
    if (problem !== undefined && this.#problem === undefined)
      logger.error({ problem }, 'this machine is not ready: it is cut off');
    if (problem === undefined && this.#problem !== undefined) logger.info({}, 'this machine is no longer cut off');
    this.#problem = problem;
  }
}

/** @throws as `ask` of `PeerLink` */
export async function hasRedis(peer: Pick<PeerLink, 'ask'>): Promise<boolean> {
  const { isAway } = await peer.ask('shared-state', null);
  return !isAway;
}

/** @returns why a machine is cut off that Redis does not answer, by what the others say of Redis; undefined where it is not, or is alone */
export function cutOffBy(answers: readonly RedisThere[]): string | undefined {
  if (answers.includes('there')) return 'cut off: Redis answers other machines, and not this one';
  const silent = answers.filter((answer) => answer === 'silent').length;
  if (silent === 0 || answers.includes('away')) return undefined;
  return `cut off: neither Redis nor ${silent === 1 ? 'the other machine' : `any of ${silent} other machines`} answers`;
}
