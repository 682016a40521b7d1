import type { Clock } from '../kernel/clock.ts';
import { sleep, within } from '../kernel/waiting.ts';
import type { Logger } from '../observability/logger.ts';
import type { CallEntry, SharedState } from './shared-state/port.ts';
import { PeerError } from './errors.ts';
import { PeerLink, type PeerLinkOptions } from './peer-link.ts';
import type { PeerProofs } from './peer-proofs.ts';
import type { Asked, Given, PeerOrderName } from './protocol.ts';

export interface PeersOptions {
  readonly shared: Pick<SharedState, 'members' | 'calls' | 'isAway'>;
  readonly proofs: PeerProofs;
  readonly onNews: PeerLinkOptions['onNews'];
  readonly onDown: (link: PeerLink) => void;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** By what a call is looked up in the directory. */
export type CallName = Pick<CallEntry, 'callId'> | { readonly carrierKey: string };

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
