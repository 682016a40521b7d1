import type { Socket } from 'node:net';
import type { CallAnswer } from '../call/admission/call-door.ts';
import type { LiveCall } from '../call/admission/live-calls.ts';
import { OrderRefusedError } from '../call/control/supervision.ts';
import { liveKey } from '../call/live-session.ts';
import type { InboundCall } from '../carriers/port.ts';
import type { StreamGrant } from '../carriers/stream-token.ts';
import { endWithProblem } from '../http/problem.ts';
import type { Clock } from '../kernel/clock.ts';
import { errorText } from '../kernel/errors.ts';
import { newId } from '../kernel/ids.ts';
import { sleep } from '../kernel/waiting.ts';
import type { BusinessEvents } from '../observability/events.ts';
import type { Logger } from '../observability/logger.ts';
import type { RefusalCause } from '../observability/metrics.ts';
import type { LocalCalls, ReachedCalls, Repeat } from './call-host.ts';
import { callsBehind, callsOf, type CallOrders, done, ListedCalls, ordersOn, socketOf, tellers } from './call-orders.ts';
import { PeerError } from './errors.ts';
import { FollowedCalls } from './followed-calls.ts';
import { join, type PeerLink } from './peer-link.ts';
import type { PeerCaller, PeerHandlers, PeerProofs } from './peer-server.ts';
import { CutOff, hasRedis, Peers } from './peers.ts';
import type { Asked, CallName, TellName } from './protocol.ts';
import type { SharedState } from './shared-state/port.ts';

export interface ClusterCallsOptions {
  readonly local: LocalCalls;
  readonly shared: Pick<SharedState, 'members' | 'calls' | 'isAway'>;
  readonly proofs: PeerProofs;
  /** The address of the machine that keeps the state of a live call, whether it is there or not. */
  readonly keptAt?: ((callId: string) => Promise<string | undefined>) | undefined;
  /** Adds what only the machine knows that had the call dialled: the carrier's id of it. */
  readonly completed: (grant: StreamGrant) => StreamGrant;
  readonly events: Pick<BusinessEvents, 'streamRefused'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** How long a webhook waits for a machine that has its call and does not answer; carriers wait for 8 s at least. */
const OWNER_WITHIN_MS = 6_000;
const OWNER_AGAIN_MS = 150;
const OVER = 'The call is over.';
/** Why this machine takes no call that another one may take. */
const FULL: readonly RefusalCause[] = ['stopping', 'calls', 'loop-lag', 'process', 'speech-slots'];
/** Other machines that are asked for a place; the caller waits meanwhile. */
const MOST_ASKED = 2;

/**
 * The calls of all machines of a gateway, from one of them: what concerns a call of this machine goes to it, what concerns another is passed on to the
 * machine that has it, which the directory knows. Any machine serves any webhook, media socket or order.
 */
export class ClusterCalls implements Disposable {
  /** The calls of all machines. */
  readonly calls: ReachedCalls;
  readonly cutOff: CutOff;
  readonly #options: ClusterCallsOptions;
  /** The calls of this machine. */
  readonly #here: CallOrders;
  readonly #peers: Peers;
  readonly #listed: ListedCalls<PeerLink>;
  readonly #followed: FollowedCalls;
  /** Calls that the directory was told to be of this machine. */
  readonly #claimed = new Set<string>();
  /** New calls whose first answer is not there yet, by their carriers' keys. */
  readonly #answering = new Map<string, Promise<CallAnswer>>();
  /** The machines that listeners who came here listen to. */
  readonly #listeners = new Map<string, PeerLink>();

  constructor(options: ClusterCallsOptions) {
    const { local, shared, clock, logger } = options;
    this.#options = options;
    this.#here = ordersOn(local);
    this.#listed = new ListedCalls(clock);
    this.#peers = new Peers({
      ...options,
      onNews: (news) => this.#followed.tell(news),
      onDown: (link) => void this.#followed.again(link),
    });
    this.#followed = new FollowedCalls({ ...options, here: this.#here, peers: this.#peers });
    this.cutOff = new CutOff({ ...options, peers: () => this.#peers.all() });
    const { intake, ...calls } = callsBehind(this.#orders(), (listener) => this.#followed.onNews(listener));
    this.calls = { ...calls, intake: { ...intake, attach: (...attached) => local.intake.attach(...attached) } };
    shared.calls.onLost((callId) => {
      this.#claimed.delete(callId);
      logger.error(
        { callId },
        'another machine went on with a call that is alive here: this machine was not heard of for a while',
      );
      local.giveUp(callId);
    });
  }

  /** What this machine does for another one: with its own calls, and nothing that leads to a third machine. */
  serve(caller: PeerCaller): { readonly handlers: PeerHandlers; readonly gone: () => void } {
    const { local, shared, completed } = this.#options;
    const handlers: PeerHandlers = {
      ...this.#here,
      answer: ({ inbound }) => this.#answer(inbound, 'here'),
      again: async (inbound) => (await this.#again(inbound)) ?? null,
      media: ({ grant, ...asked }, socket) => {
        if (local.has(grant.callId)) return this.#here.media({ ...asked, grant: completed(grant) }, socket);
        if (asked.transport === 'websocket' && !asked.answered) endWithProblem(socketOf(socket), 503, OVER);
        throw new PeerError('the call is over');
      },
      follow: ({ callId }) => this.#followed.followFor(caller, callId),
      unfollow: ({ callId }) => done(this.#followed.unfollowFor(caller, callId)),
      'shared-state': async () => {
        // Finds out now whether it is there.
        await shared.members.list();
        return { isAway: shared.isAway };
      },
    };
    return { handlers, gone: () => this.#followed.unfollowAllFor(caller) };
  }

  /**
   * Tells the other machines that a call is here: one that is about to be dialled or begins, an agent's leg that is rung, or a call that this
   * machine left behind when it died and ends now.
   * @param carrierKey `liveKey`; undefined until the carrier's id is sure
   * @returns false where another machine has the call, or has another call of that key
   */
  async claim(callId: string, carrierKey?: string): Promise<boolean> {
    const { shared, logger } = this.#options;
    this.#claimed.add(callId);
    if (await shared.calls.claim({ callId, carrierKey })) return true;
    this.#claimed.delete(callId);
    logger.info({ callId }, 'another machine has the call');
    return false;
  }

  /** A call of this machine, or an agent's leg, is over. */
  async release(callId: string): Promise<void> {
    this.#claimed.delete(callId);
    await this.#options.shared.calls.release(callId);
  }

  [Symbol.dispose](): void {
    this.#followed[Symbol.dispose]();
    this.#peers[Symbol.dispose]();
  }

  /** What concerns a call of another machine is passed on to it. */
  #orders(): CallOrders {
    const here = this.#here;
    return {
      ...tellers((name, asked) => this.#tell(name, asked)),
      reported: (asked) => done(void this.#dialReported(asked)),
      unfollow: ({ callId }) => done(this.#followed.unfollow(callId)),
      dismiss: (asked) => {
        this.#listeners.get(asked.listenerId)?.ask('dismiss', asked).catch(noteAt(this.#options.logger, 'dismiss'));
        return here.dismiss(asked);
      },
      answer: ({ inbound }) => this.#answer(inbound),
      again: async (inbound) => (await this.#again(inbound)) ?? null,
      media: (asked, socket) =>
        this.#isHere(asked.grant) ? here.media(asked, socket) : this.#takeElsewhere(asked, socketOf(socket)),
      listen: async (asked, socket) => {
        const { callId, listenerId } = asked.order;
        if (this.#isHere({ callId })) return here.listen(asked, socket);
        const listened = await this.#relay('listen', callId, asked, socketOf(socket));
        this.#listeners.set(listenerId, listened.peer);
        return listened.given.finally(() => this.#listeners.delete(listenerId));
      },
      list: () => this.#list(),
      find: (asked) => (this.#isHere(asked) ? here.find(asked) : this.#findElsewhere(asked.callId)),
      follow: ({ callId }) => this.#followed.follow(callId),
      order: async (asked) => {
        if (this.#isHere(asked)) return here.order(asked);
        const changed = await this.#peers.askOwner({ callId: asked.callId }, 'order', asked);
        if (changed === undefined) throw new OrderRefusedError(OVER);
        return changed;
      },
      /** Gives out a value that a caller keyed, once, whichever machine has it. */
      redeem: async (asked) => {
        const value = await here.redeem(asked);
        if (value !== null || asked.bots.length === 0) return value;
        return (await this.#peers.first((peer) => peer.ask('redeem', asked))) ?? null;
      },
    };
  }

  #isHere(call: CallName): boolean {
    const { local } = this.#options;
    return 'callId' in call ? local.has(call.callId) : local.hasCarrierCall(call.carrierKey);
  }

  #tell<Name extends TellName>(name: Name, asked: Asked<Name>): void {
    const about = callsOf(name, asked);
    const isHere = about.length === 0 || about.some((call) => this.#isHere(call));
    if (isHere) void this.#here[name](asked);
    if (about.length === 0) void this.#tellAll(name, asked);
    if (!isHere) for (const call of about) void this.#peers.tellOwner(call, name, asked);
  }

  async #tellAll<Name extends TellName>(name: Name, asked: Asked<Name>): Promise<void> {
    for (const peer of await this.#peers.all()) peer.ask(name, asked).catch(noteAt(this.#options.logger, 'tell'));
  }

  /** Webhooks of one call may come at once, to this machine or to several: one begins the call, the others get its next attachment. */
  async #answer(inbound: InboundCall, where: 'anywhere' | 'here' = 'anywhere'): Promise<CallAnswer> {
    const { local } = this.#options;
    const key = liveKey(inbound);
    for (let first = this.#answering.get(key); first !== undefined; first = this.#answering.get(key))
      await first.catch(() => undefined);
    if (local.hasCarrierCall(key)) return local.intake.answer(inbound);
    const answering = this.#answerNew(inbound, key, where).finally(() => this.#answering.delete(key));
    this.#answering.set(key, answering);
    return answering;
  }

  async #answerNew(inbound: InboundCall, carrierKey: string, where: 'anywhere' | 'here'): Promise<CallAnswer> {
    const { clock } = this.#options;
    const untilMs = clock.nowMs() + OWNER_WITHIN_MS;
    const asked = { ...inbound, askedAtWallMs: inbound.askedAtWallMs ?? clock.wallMs() };
    if (inbound.next !== undefined && (await this.#isAnothers(inbound.next, carrierKey))) return { kind: 'over' };
    const there = where === 'anywhere' && inbound.next !== undefined ? await this.#wentOnThere(asked, inbound.next) : undefined;
    if (there?.kind === 'accept') return there;
    for (;;) {
      const callId = inbound.next ?? newId('call');
      const isOwn = await this.claim(callId, carrierKey);
      const { carrier, carrierCallId, mode, isRepeat, next } = inbound;
      const repeat = { carrier, carrierCallId, mode, isRepeat, next };
      if (isOwn) {
        const elsewhere = this.#options.shared.isAway ? await this.#answerUnlisted(asked, repeat, where) : undefined;
        if (elsewhere !== undefined) {
          void this.release(callId);
          return elsewhere;
        }
        const answer = await this.#begin({ ...asked, callId }, callId);
        const isFull = answer.kind === 'refuse' && FULL.includes(answer.cause);
        return (isFull && where === 'anywhere' ? await this.#passOn(inbound) : undefined) ?? answer;
      }
      try {
        const again = await this.#peers.askOwnerWhileThere({ carrierKey }, 'again', repeat);
        if (again === 'lost') continue;
        if (again !== undefined && again !== null) return again;
      } catch (error) {
        // The machine that has it may be gone, or hang: the directory says so in a moment.
        if (clock.nowMs() >= untilMs) throw error;
      }
      if (clock.nowMs() >= untilMs) throw new PeerError('no machine has the call, and none can begin it');
      await sleep(clock, OWNER_AGAIN_MS);
    }
  }

  /** Whether a call that a carrier asks to go on with is another one's: its entry in the directory stays as it is then. */
  async #isAnothers(callId: string, carrierKey: string): Promise<boolean> {
    const { local, shared } = this.#options;
    const known = (await shared.calls.find({ callId }))?.carrierKey;
    return known === undefined ? local.has(callId) : known !== carrierKey;
  }

  /**
   * Without the directory, the machines themselves are asked whether the call is alive. One that has the directory begins a new call: no machine but this
   * one would know that it is here.
   * @returns undefined where it is to begin here
   */
  async #answerUnlisted(inbound: InboundCall, repeat: Repeat, where: 'anywhere' | 'here'): Promise<CallAnswer | undefined> {
    const [alive, listed] = await Promise.all([
      this.#peers.first((peer) => peer.ask('again', repeat)),
      where === 'here' ? undefined : this.#peers.first(async (peer) => (!peer.isLeaving && (await hasRedis(peer)) ? peer : null)),
    ]);
    if (alive !== undefined) return alive;
    const begun = await listed?.ask('answer', { inbound: { ...inbound } }).catch(noteAt(this.#options.logger, 'answer'));
    return begun?.kind === 'accept' ? begun : undefined;
  }

  async #begin(inbound: InboundCall, callId: string): Promise<CallAnswer> {
    let isBegun = false;
    try {
      await this.#options.local.speechReady();
      const answer = await this.#options.local.intake.answer(inbound);
      isBegun = answer.kind === 'accept';
      return answer;
    } finally {
      if (!isBegun) await this.release(callId);
    }
  }

  /** A call whose process died goes on at its own machine where that is there: it has the call's files. */
  async #wentOnThere(inbound: InboundCall, callId: string): Promise<CallAnswer | undefined> {
    const address = await this.#options.keptAt?.(callId);
    if (address === undefined || address === this.#options.shared.members.own.address) return undefined;
    const [owner, peers] = await Promise.all([this.#options.shared.calls.find({ callId }), this.#peers.all()]);
    // While it has an owner, that one is asked.
    if (peers.some(({ id }) => id === owner?.memberId)) return undefined;
    const peer = peers.find((each) => each.address === address);
    return peer?.ask('answer', { inbound: { ...inbound } }).catch(noteAt(this.#options.logger, 'answer'));
  }

  /** Has another machine begin a call that this one has no place for. @returns undefined where none has */
  async #passOn(inbound: InboundCall): Promise<CallAnswer | undefined> {
    const peers = (await this.#peers.all()).filter(({ isLeaving }) => !isLeaving);
    for (const peer of peers.toSorted(() => Math.random() - 0.5).slice(0, MOST_ASKED)) {
      const answer = await peer.ask('answer', { inbound: { ...inbound } }).catch(noteAt(this.#options.logger, 'answer'));
      if (answer?.kind === 'accept') return answer;
    }
    return undefined;
  }

  /** For another machine: of a call that is alive here, or just begins. */
  async #again(inbound: Repeat): Promise<CallAnswer | undefined> {
    const { local } = this.#options;
    const key = liveKey(inbound);
    await this.#answering.get(key)?.catch(() => undefined);
    const again = await local.again(inbound);
    if (again !== undefined) return again;
    // No other machine begins it while the directory has it here.
    const entry = await this.#options.shared.calls.find({ carrierKey: key });
    if (entry !== undefined && !this.#claimed.has(entry.callId)) await this.release(entry.callId);
    return undefined;
  }

  async #dialReported(asked: Asked<'reported'>): Promise<void> {
    const { callId } = asked;
    // The attempt is in the store, which this machine has too.
    if (this.#isHere({ callId }) || !(await this.#peers.tellOwner({ callId }, 'reported', asked)))
      await this.#here.reported(asked);
  }

  async #takeElsewhere(asked: Asked<'media'>, socket: Socket): Promise<null> {
    const { grant, transport, answered, address } = asked;
    const { callId, carrier } = grant;
    const relayed = await this.#relay('media', callId, asked, socket).catch((error: unknown) => {
      this.#options.events.streamRefused({ carrier, reason: 'call-not-reached', status: 503, callId, address });
      if (transport === 'websocket' && !answered) endWithProblem(socket, 503, errorText(error));
      throw error;
    });
    return relayed.given;
  }

  /**
   * Has the machine that has a call serve a socket that came here: its bytes are passed on until either end closes it.
   * @throws PeerError when that machine cannot be reached; nothing was read of the socket then, nor written
   */
  async #relay<Name extends 'media' | 'listen'>(name: Name, callId: string, asked: Asked<Name>, socket: Socket) {
    const peer = await this.#peers.ownerOf({ callId });
    if (peer === undefined) throw new PeerError('no machine of the gateway has the call: it is over, or its machine is gone');
    const { id, socket: there } = await peer.openSocket();
    join(socket, there);
    return { peer, given: peer.ask(name, asked, id) };
  }

  async #list(): Promise<LiveCall[]> {
    const [own, others] = await Promise.all([
      this.#here.list(null),
      this.#peers.all().then((peers) => this.#listed.list(peers, (peer) => peer.ask('list', null))),
    ]);
    if (others.length === 0) return own;
    return [...own, ...others].toSorted((one, other) => one.startedAtWallMs - other.startedAtWallMs);
  }

  /** @returns null where no machine has it; of a machine that does not answer, the call as it was listed last @throws PeerError where it was not */
  async #findElsewhere(callId: string): Promise<LiveCall | null> {
    const peer = await this.#peers.ownerOf({ callId });
    if (peer === undefined) return null;
    return peer.ask('find', { callId }).catch((error: unknown) => {
      const listed = this.#listed.of(peer).find(({ id }) => id === callId);
      if (listed === undefined) throw error;
      return listed;
    });
  }
}

function noteAt(logger: Logger, order: string): (error: unknown) => undefined {
  return (error) => {
    logger.debug({ order, error }, 'message to another machine failed');
    return undefined;
  };
}
