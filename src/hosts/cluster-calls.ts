import type { Socket } from 'node:net';
import type { CallAnswer } from '../call/admission/call-door.ts';
import type { LiveCall, LiveCalls } from '../call/admission/live-calls.ts';
import { type CallOrder, OrderRefusedError } from '../call/control/supervision.ts';
import { type CarrierCall, liveKey } from '../call/live-session.ts';
import type { DialledReport } from '../carriers/carrier.ts';
import type { InboundCall } from '../carriers/port.ts';
import type { StreamGrant } from '../carriers/stream-token.ts';
import type { CallIntake, MediaElsewhere, MediaUpgrade } from '../http/intake.ts';
import type { LiveAudio } from '../http/live-audio.ts';
import { endWithProblem } from '../http/problem.ts';
import type { Clock } from '../kernel/clock.ts';
import { errorText } from '../kernel/errors.ts';
import { newId } from '../kernel/ids.ts';
import { sleep } from '../kernel/waiting.ts';
import type { BusinessEvents } from '../observability/events.ts';
import type { Logger } from '../observability/logger.ts';
import type { RefusalCause } from '../observability/metrics.ts';
import type { SharedState } from './shared-state/port.ts';
import { CutOff, hasRedis } from './cut-off.ts';
import { OwnCalls } from './own-calls.ts';
import { PeerError } from './errors.ts';
import { FollowedElsewhere } from './followed-elsewhere.ts';
import type { LocalCalls, Repeat } from './call-host.ts';
import { join, type PeerLink } from './peer-link.ts';
import type { PeerProofs } from './peer-proofs.ts';
import type { PeerCaller, PeerHandlers } from './peer-server.ts';
import { Peers } from './peers.ts';
import type { Asked } from './protocol.ts';
import { servePeers } from './serve-peers.ts';
import { ShownCalls } from './shown-calls.ts';

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
export class ClusterCalls {
  readonly intake: CallIntake;
  readonly live: LiveCalls;
  readonly media: MediaElsewhere;
  readonly audio: LiveAudio;
  readonly cutOff: CutOff;
  readonly #options: ClusterCallsOptions;
  readonly #own: OwnCalls;
  readonly #peers: Peers;
  readonly #shown: ShownCalls<PeerLink>;
  readonly #followed: FollowedElsewhere;
  /** New calls whose first answer is not there yet, by their carriers' keys. */
  readonly #answering = new Map<string, Promise<CallAnswer>>();
  /** Where those listen who came here and listen elsewhere. */
  readonly #listeners = new Map<string, PeerLink>();

  constructor(options: ClusterCallsOptions) {
    const { local, clock } = options;
    this.#options = options;
    this.#own = new OwnCalls(options);
    this.#shown = new ShownCalls(clock);
    this.#peers = new Peers({
      ...options,
      onNews: (news) => this.#followed.tell(news),
      onDown: (link) => void this.#followed.again(link),
    });
    this.#followed = new FollowedElsewhere({ ...options, peers: this.#peers });
    this.cutOff = new CutOff({ ...options, peers: () => this.#peers.all() });
    const isHere = (callId: string): boolean => local.has(callId);
    this.intake = {
      answer: (inbound) => this.#answer(inbound),
      attach: (callId, attachment) => local.intake.attach(callId, attachment),
      abandon: (callId, attachmentId, reason) => {
        if (isHere(callId)) local.intake.abandon(callId, attachmentId, reason);
        else void this.#peers.tellOwner({ callId }, 'abandon', { callId, attachmentId, reason });
      },
      carrierStatus: (call, status, terminal) => this.#carrierStatus(call, status, terminal),
      keyReported: (call, digit) => {
        const carrierKey = liveKey(call);
        if (local.hasCarrierCall(carrierKey)) local.intake.keyReported(call, digit);
        else void this.#peers.tellOwner({ carrierKey }, 'key-reported', { ...call, digit });
      },
      dialReported: (callId, report) => void this.#dialReported(callId, report),
    };
    this.media = {
      expect: (callId, attachmentId, withinMs) => {
        if (isHere(callId)) local.media.expect(callId, attachmentId, withinMs);
        else void this.#peers.tellOwner({ callId }, 'expect', { callId, attachmentId, withinMs });
      },
      abandon: (attachmentId, reason) => {
        local.media.abandon(attachmentId, reason);
        void this.#tellAll((peer) => peer.ask('abandon', { attachmentId, reason }));
      },
      take: (grant, upgrade) => this.#take(grant, upgrade),
    };
    this.live = {
      list: () => this.#list(),
      find: (callId) => this.#find(callId),
      order: (callId, order, by) => this.#order(callId, order, by),
      follow: (callId) => (isHere(callId) ? this.#own.follow(callId, 'here') : this.#followed.follow(callId)),
      unfollow: (callId) => {
        this.#own.unfollow(callId, 'here');
        this.#followed.unfollow(callId);
      },
      onNews: (listener) => {
        this.#own.onNews(listener);
        this.#followed.onNews(listener);
      },
    };
    this.audio = {
      listen: async (order, { socket, headers, early, answered }) => {
        const { callId, listenerId } = order;
        if (isHere(callId)) return local.audio.listen(order, { socket, headers, early, answered });
        const asked = { order: { ...order }, headers: { ...headers }, early: early.toString('base64') };
        const listened = await this.#relay('listen', callId, asked, socket);
        this.#listeners.set(listenerId, listened.peer);
        return listened.given.finally(() => this.#listeners.delete(listenerId));
      },
      dismiss: (listenerId) => {
        local.audio.dismiss(listenerId);
        this.#listeners.get(listenerId)?.ask('dismiss', { listenerId }).catch(noteAt(options.logger, 'dismiss'));
      },
    };
  }

  /** What this machine does for another one. */
  serve(caller: PeerCaller): { readonly handlers: PeerHandlers; readonly gone: () => void } {
    const { local, shared, completed } = this.#options;
    const answer = (inbound: InboundCall): Promise<CallAnswer> => this.#answer(inbound, 'here');
    return servePeers({ local, own: this.#own, shared, completed, answer, again: (inbound) => this.#again(inbound) }, caller);
  }

  /** A call is about to be dialled here, or an agent's leg to be rung. */
  async opened(callId: string): Promise<void> {
    await this.#own.claim({ callId, carrierKey: undefined });
  }

  /** The media of a call that was dialled here has come: now its carrier's id is sure. */
  begun(callId: string, carrierKey: string): void {
    void this.#own.claim({ callId, carrierKey });
  }

  /** A call that this machine left behind when it died, which it ends now. @returns false where another machine has it */
  adopt(callId: string): Promise<boolean> {
    return this.#own.claim({ callId, carrierKey: undefined });
  }

  /** A call of this machine, or an agent's leg, is over. */
  over(callId: string): void {
    void this.#own.release(callId);
  }

  /** Gives out a value that a caller keyed, once, to one of these bots, whichever machine has it. */
  async redeem(botNames: readonly string[], token: string): Promise<string | undefined> {
    const here = await this.#options.local.redeem(botNames, token);
    if (here !== undefined || botNames.length === 0) return here;
    return this.#peers.first((peer) => peer.ask('redeem', { bots: [...botNames], token }));
  }

  [Symbol.dispose](): void {
    this.#followed[Symbol.dispose]();
    this.#peers[Symbol.dispose]();
  }

  /** Of webhooks of one call that come at once, to this machine or to several, one begins it; the others get its next attachment. */
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
      const isOwn = await this.#own.claim({ callId, carrierKey });
      const { carrier, carrierCallId, mode, isRepeat, next } = inbound;
      const repeat = { carrier, carrierCallId, mode, isRepeat, next };
      if (isOwn) {
        const elsewhere = this.#options.shared.isAway ? await this.#answerUnlisted(asked, repeat, where) : undefined;
        if (elsewhere !== undefined) {
          void this.#own.release(callId);
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
        // Whoever has it may be gone, or hangs: the directory says so in a moment.
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
      if (!isBegun) await this.#own.release(callId);
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
    // Nobody else begins it while the directory has it here.
    if (again === undefined) await this.#own.forget(key);
    return again;
  }

  #carrierStatus(call: CarrierCall, status: string, terminal: boolean): void {
    const { local } = this.#options;
    const keys = ([undefined, 'listen'] as const).map((mode) => liveKey({ ...call, mode }));
    if (keys.some((key) => local.hasCarrierCall(key))) return local.intake.carrierStatus(call, status, terminal);
    if (!terminal) return;
    for (const carrierKey of keys) void this.#peers.tellOwner({ carrierKey }, 'carrier-ended', { ...call });
  }

  async #dialReported(callId: string, report: DialledReport): Promise<void> {
    const { local } = this.#options;
    const { carrier, carrierCallId, progress, witness } = report;
    const asked = { callId, report: { carrier, carrierCallId, progress, witness } };
    // The attempt is in the store, which this machine has too.
    if (local.has(callId) || !(await this.#peers.tellOwner({ callId }, 'reported', asked)))
      local.intake.dialReported(callId, report);
  }

  async #take(grant: StreamGrant, upgrade: MediaUpgrade): Promise<void> {
    const { local, events } = this.#options;
    const { socket, transport = 'websocket', headers, early, answered = false, address } = upgrade;
    const { callId, carrier } = grant;
    if (local.has(callId)) return local.media.take(grant, upgrade);
    const sent = Buffer.from(early).toString('base64');
    const asked = { grant: { ...grant }, transport, headers: { ...headers }, early: sent, answered, address };
    const relayed = await this.#relay('media', callId, asked, socket).catch((error: unknown) => {
      events.streamRefused({ carrier, reason: 'call-not-reached', status: 503, callId, address });
      if (transport === 'websocket' && !answered) endWithProblem(socket, 503, errorText(error));
      throw error;
    });
    await relayed.given;
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

  async #list(): Promise<readonly LiveCall[]> {
    const [own, others] = await Promise.all([
      this.#options.local.live.list(),
      this.#peers.all().then((peers) => this.#shown.list(peers, (peer) => peer.ask('list', null))),
    ]);
    if (others.length === 0) return own;
    return [...own, ...others].toSorted((one, other) => one.startedAtWallMs - other.startedAtWallMs);
  }

  /** @returns of a machine that does not answer, the call as it was shown last @throws PeerError where it was not */
  async #find(callId: string): Promise<LiveCall | undefined> {
    const { local } = this.#options;
    if (local.has(callId)) return local.live.find(callId);
    const peer = await this.#peers.ownerOf({ callId });
    if (peer === undefined) return undefined;
    const found = await peer.ask('find', { callId }).catch((error: unknown) => {
      const shown = this.#shown.of(peer).find(({ id }) => id === callId);
      if (shown === undefined) throw error;
      return shown;
    });
    return found ?? undefined;
  }

  async #order(callId: string, order: CallOrder, by: string): Promise<LiveCall> {
    const { local } = this.#options;
    if (local.has(callId)) return local.live.order(callId, order, by);
    const done = await this.#peers.askOwner({ callId }, 'order', { callId, order, by });
    if (done === undefined) throw new OrderRefusedError(OVER);
    return done;
  }

  async #tellAll(tell: (peer: PeerLink) => Promise<unknown>): Promise<void> {
    for (const peer of await this.#peers.all()) tell(peer).catch(noteAt(this.#options.logger, 'tell'));
  }
}

function noteAt(logger: Logger, order: string): (error: unknown) => undefined {
  return (error) => {
    logger.debug({ order, error }, 'message to another machine failed');
    return undefined;
  };
}
