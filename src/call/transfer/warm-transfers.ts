import type { Attachment } from '../../carriers/port.ts';
import { ringingTone } from '../../audio/tone.ts';
import { fillPhrase } from '../../config/bot-phrases.ts';
import { checkTransfer } from '../../config/allowed-target.ts';
import { type Bot, phrasesOf } from '../../config/bots.ts';
import type { DialogAction, DialogTurn } from '../../dialog/port.ts';
import { partiesOf } from '../../kernel/call-parties.ts';
import { newId } from '../../kernel/ids.ts';
import type { CallLine } from '../call-line.ts';
import { type AgentTransfers, transferCheckOf } from '../control/carrier-control.ts';
import type { CallLanguage } from '../control/call-language.ts';
import type { TransferEntry } from '../log/transfer-log.ts';
import type { LiveTransfer } from '../live-session.ts';
import { callerFloor } from '../turn/floor.ts';
import type { TransferOutcome, TransferResult } from '../turn/farewell-state.ts';
import { AgentLeg } from './agent-leg.ts';
import type { AgentLegServices } from './agent-line.ts';
import { BridgedLine } from './bridge.ts';
import { QueuedCaller, type TransferQueues } from './transfer-queues.ts';

export interface WarmTransferServices extends Omit<AgentLegServices, 'legs'> {
  /** Undefined where agents cannot be rung, as in a terminal chat. */
  readonly legs?: AgentLegServices['legs'] | undefined;
  /** The process's agent queues; callers are not queued where absent. */
  readonly queues?: TransferQueues | undefined;
  /** The looped sound for a waiting caller; the ringing tone where a bot has none. */
  readonly holdSoundOf?: ((bot: Bot, rateHz: number) => Int16Array | undefined) | undefined;
}

/** After a failed join, a stream that the carrier had moved ends within this time. */
const REFUSED_JOIN_MS = 5_000;

type WarmAction = DialogAction & { readonly type: 'transfer' };

/** The running transfer. */
interface Running {
  readonly to: string;
  readonly leg: AgentLeg;
  readonly entry: TransferEntry;
  state: LiveTransfer['state'];
  /** When the carrier refused to join the calls. */
  refusedAtMs: number | undefined;
  /** Audio to the agent and to the caller, where the gateway bridges them. */
  bridge: { readonly toAgent: BridgedLine; readonly toCaller: BridgedLine } | undefined;
}

/**
 * Rings agents for one call's caller, who stays with the bot meanwhile: one at a time, and each unwanted leg is hung up. Connects the two at the
 * carrier, or bridges their audio, and reports the result to the dialog.
 */
export class WarmTransfers implements AgentTransfers {
  readonly #line: CallLine;
  readonly #services: WarmTransferServices;
  readonly #language: CallLanguage;
  #isClosed = false;
  #joining: Promise<void> = Promise.resolve();
  /** The transfer to begin once the dialog's reply was heard. */
  #next: WarmAction | undefined;
  #running: Running | undefined;
  /** The caller's place in the agent's queue. */
  #queued: QueuedCaller | undefined;
  /** The result to report once the floor is free. */
  #result: TransferResult | undefined;
  /** When the caller last heard words. */
  #comfortedMs = 0;

  /** @param language whose recogniser is not needed while the caller talks to an agent */
  constructor(line: CallLine, services: WarmTransferServices, language: CallLanguage) {
    this.#line = line;
    this.#services = services;
    this.#language = language;
  }

  /** The agent being rung, as the dialog sees it. */
  get standing(): DialogTurn['transfer'] {
    const running = this.#running;
    const queued = this.#queued;
    if (running === undefined) return queued && { to: queued.action.to, state: 'queued', place: queued.place };
    if (running.state === 'joining' || running.state === 'connected') return undefined;
    return { to: running.to, state: running.state, ...(queued === undefined ? {} : { place: queued.place }) };
  }

  /** The same for observers of the call, until caller and agent hang up. */
  get seen(): LiveTransfer | undefined {
    const [running, queued] = [this.#running, this.#queued];
    if (running === undefined) return queued && { to: queued.action.to, state: 'queued', sinceWallMs: queued.sinceWallMs };
    return { to: running.to, state: running.state, sinceWallMs: running.entry.record.startedAtWallMs };
  }

  /** Why no other transfer can start now. */
  get whyNotTaken(): string | undefined {
    const state = this.#running?.state;
    return state === 'joining' || state === 'connected' ? 'The caller is connected to an agent.' : undefined;
  }

  /** Whether the gateway bridges caller and agent. */
  get bridged(): boolean {
    return this.#running?.bridge !== undefined;
  }

  /** Prepares the dialog's transfer, to follow its reply. */
  prepare(action: WarmAction): void {
    this.#next = action;
  }

  /** The reply was heard: rings the agent. */
  start(to: string): void {
    const action = this.#next;
    this.#next = undefined;
    this.#drop();
    const { clock, queues } = this.#services;
    const { queue } = action?.warm ?? {};
    this.#comfortedMs = clock.nowMs();
    this.hold(true);
    if (action === undefined || queue === undefined || queues === undefined) return this.#ring(to, action);
    const now = { nowMs: clock.nowMs(), wallMs: clock.wallMs() };
    this.#queued = new QueuedCaller(action, queue, queues, this.#line.identity, now);
    this.#line.log.transfers.waits(this.#queued.place);
  }

  #ring(to: string, action: WarmAction | undefined): void {
    const { bot } = this.#line.identity;
    const { legs } = this.#services;
    const warm = action?.warm;
    const leg = this.#newLeg();
    const entry = this.#line.log.transfers.begin({ to, kind: 'warm', legId: leg.legId });
    const checked = checkTransfer(to, transferCheckOf(this.#line.identity, this.#services, true));
    if (warm === undefined || legs === undefined || 'refusal' in checked) {
      const { logger } = this.#services;
      const refused = 'refusal' in checked ? checked : undefined;
      logger.warn({ callId: leg.callId, bot: bot.name, ...refused }, 'warm transfer not possible');
      return this.#over(entry, to, 'failed', refused?.refusal);
    }
    const { ringMs, acceptKey, declineKey, callerId } = bot.transfers;
    const language = warm.language ?? this.#line.language;
    const keys = fillPhrase(phrasesOf(bot, language).agentKeys, { accept: acceptKey, decline: declineKey });
    const about = {
      leg,
      bot,
      to: checked.target,
      from: callerId ?? partiesOf(this.#line.identity.inbound).ours,
      ringMs: warm.ringMs ?? ringMs,
    };
    const order = { ...about, brief: warm.brief, keys, language, voice: warm.voice };
    const agent: AgentLeg = new AgentLeg(
      order,
      { ...this.#services, legs },
      {
        placed: (carrierCallId) => entry.placed(carrierCallId),
        ringing: () => this.#reached(entry, 'ringing'),
        answered: () => this.#reached(entry, 'briefing'),
        accepted: () => this.#accepted(entry),
        audio: (pcm) => this.#running?.bridge?.toCaller.push(pcm),
        over: (outcome, cause) => this.#over(entry, to, outcome, cause),
        gone: (how) => this.#gone(entry, how),
      },
    );
    // Without an account at the carrier, the leg has failed already.
    if (entry.record.outcome === undefined)
      this.#running = { to, leg: agent, entry, state: 'dialling', refusedAtMs: undefined, bridge: undefined };
  }

  /** The dialog withdraws the transfer, or hangs up. */
  cancel(): void {
    this.#next = undefined;
    if (this.#running === undefined && this.#result === undefined && this.#queued === undefined) return;
    if (this.#drop()) this.#line.feed({ type: 'consult-cancelled', atMs: this.#services.clock.nowMs() });
  }

  /** @returns false for an agent who is connected, or about to be */
  #drop(): boolean {
    const running = this.#running;
    if (running?.state === 'connected' || (running?.state === 'joining' && !this.#isClosed)) return false;
    this.#result = undefined;
    this.#running = undefined;
    this.#leaveQueue();
    this.hold(false);
    running?.entry.over('cancelled');
    running?.leg.hangUp();
    return true;
  }

  tick(nowMs: number): void {
    const turn = this.#line.turn;
    const media = this.#line.media;
    if (media === undefined) return;
    if (media.voice.speaking || turn.phase.name !== 'listening') this.#comfortedMs = nowMs;
    const isFree = turn.phase.name === 'listening' && callerFloor(turn) === undefined && !media.voice.speaking;
    this.#lookAtQueue(nowMs);
    const isDue = nowMs - this.#comfortedMs >= this.#line.identity.bot.transfers.comfortMs || this.#queued?.isNews === true;
    if (this.#result !== undefined) this.#tellDialog(this.#result, isFree);
    else if (turn.consulting && isFree && isDue) {
      this.#comfortedMs = nowMs;
      const policy = 'always';
      this.#line.feed({ type: 'bot-started', atMs: nowMs, policy });
      const phrases = phrasesOf(this.#line.identity.bot, media.voice.language);
      const text = this.#queued?.announcement(phrases) ?? phrases.stillConnecting;
      media.voice.interject(text, this.#line.log.conversation.current, policy);
    }
  }

  /** Rings the agent for the first in the queue. A wait that is too long is reported to the dialog, unless the agent is about to take the call. */
  #lookAtQueue(nowMs: number): void {
    const queued = this.#queued;
    if (queued === undefined) return;
    const running = this.#running;
    if (queued.hasWaited(nowMs) && running?.state !== 'briefing') {
      running?.leg.hangUp();
      running?.entry.over('cancelled');
      this.#running = undefined;
      this.#leaveQueue();
      this.#result = { outcome: 'no-answer', to: queued.action.to, cause: 'queue-time' };
      // Where agents cannot be rung, as in a terminal chat, the caller waits.
    } else if (running === undefined && this.#services.legs !== undefined && queued.mayRing(nowMs))
      this.#ring(queued.action.to, queued.action);
  }

  #leaveQueue(): void {
    this.#queued?.leave();
    this.#queued = undefined;
  }

  /** Starts or stops the hold sound, under speech and in silence. */
  hold(on: boolean): void {
    const media = this.#line.media;
    const rateHz = this.#line.attachment?.speechFormat.rateHz;
    if (rateHz === undefined) return;
    media?.outbound.hold(on ? (this.#services.holdSoundOf?.(this.#line.identity.bot, rateHz) ?? ringingTone(rateHz)) : undefined);
  }

  /** Takes in the caller's audio. @param pcm at their attachment's rate; not kept */
  hear(pcm: Int16Array): void {
    this.#running?.bridge?.toAgent.push(pcm);
  }

  /** The caller's line has a new socket. */
  reattached(attachment: Attachment): void {
    const running = this.#running;
    if (running?.bridge !== undefined) running.bridge = this.#bridge(attachment, running.leg.attachment);
  }

  /** The caller's call is over: stops ringing, and releases a connected agent. */
  close(): void {
    this.#isClosed = true;
    this.#leaveQueue();
    const running = this.#running;
    // A carrier that joins two calls ends their streams before it reports so; its report shows the result.
    if (running === undefined || running.state === 'joining') return;
    this.#running = undefined;
    if (running.state === 'connected') running.entry.over('answered');
    if (running.entry.record.connectedBy === 'carrier') running.leg.release();
    else running.leg.hangUp();
  }

  /** Resolves when the result of a join at the end of the call is known. Never rejects. */
  async settled(): Promise<void> {
    await this.#joining;
  }

  /** The carrier refused a cold transfer. */
  coldFailed(to: string, cause: string | undefined): void {
    this.#tellDialog({ outcome: 'failed', to, ...(cause === undefined ? {} : { cause }) }, true);
  }

  #newLeg() {
    const { callId, inbound } = this.#line.identity;
    return { legId: newId('leg'), attachmentId: newId('att'), callId, carrier: inbound.carrier };
  }

  #reached(entry: TransferEntry, state: 'ringing' | 'briefing'): void {
    if (this.#running === undefined) return;
    if (this.#running.state === 'dialling' || state === 'briefing') this.#running.state = state;
    entry.reached(state === 'briefing' ? 'answered' : 'ringing');
  }

  #accepted(entry: TransferEntry): void {
    const running = this.#running;
    const turn = this.#line.turn;
    if (running === undefined) return;
    // A bot that says goodbye has given the agent up.
    if (!turn.consulting || turn.farewell.stage !== 'none' || this.#line.attachment === undefined) return this.cancel();
    running.state = 'joining';
    this.#leaveQueue();
    entry.reached('accepted');
    this.#line.feed({ type: 'agent-accepted' });
    this.#line.emit({ type: 'agent-accepted', result: { outcome: 'answered', to: running.to } });
    this.#joining = this.#join(running);
  }

  /** Joins the two calls at the carrier where it can; otherwise, or if it refuses, bridges their audio. */
  async #join(running: Running): Promise<void> {
    const { controlOf, logger, clock } = this.#services;
    const { inbound, callId, bot } = this.#line.identity;
    const control = controlOf(inbound.carrier);
    const { carrierCallId } = running.leg;
    if (bot.transfers.joinBy === 'carrier' && control?.join !== undefined && carrierCallId !== undefined) {
      try {
        await control.join(inbound.carrierCallId, carrierCallId, new AbortController().signal);
        running.state = 'connected';
        running.entry.connected('carrier');
        if (this.#isClosed) this.close();
        else this.#line.emit({ type: 'transferred' });
        return;
      } catch (error) {
        logger.warn({ callId, error }, 'carrier refused to join two calls');
        running.refusedAtMs = clock.nowMs();
      }
    }
    const attachment = this.#line.attachment;
    if (this.#isClosed) {
      this.#drop();
      return;
    }
    // Either side may have been lost during the request.
    if (attachment === undefined || running.leg.attachment === undefined || running.leg.isLost) {
      running.leg.hangUp();
      this.#over(running.entry, running.to, 'dropped', undefined);
      return;
    }
    this.hold(false);
    attachment.sendClear();
    this.#language.stopListening();
    running.bridge = this.#bridge(attachment, running.leg.attachment);
    running.state = 'connected';
    running.entry.connected('gateway');
  }

  #bridge(caller: Attachment, agent: Attachment | undefined): Running['bridge'] {
    if (agent === undefined) return undefined;
    const { clock } = this.#services;
    const sound = this.#line.media?.sound;
    return {
      toAgent: new BridgedLine(caller, agent, clock),
      toCaller: new BridgedLine(agent, caller, clock, (pcm, startMs, nowMs) => sound?.bot(pcm, startMs, nowMs)),
    };
  }

  #over(entry: TransferEntry, to: string, outcome: TransferOutcome, cause: string | undefined): void {
    entry.over(outcome, cause);
    if (this.#running?.entry === entry) this.#running = undefined;
    if (this.#queued?.waitsOn(outcome, this.#services.clock.nowMs()) === true) return;
    this.#leaveQueue();
    this.#result = { outcome, to, ...(cause === undefined ? {} : { cause }) };
  }

  /** A connected agent is gone. A hang-up ended the conversation; a lost line did not. */
  #gone(entry: TransferEntry, how: 'hung-up' | 'lost'): void {
    const running = this.#running;
    // A carrier that joins the two ends their streams.
    if (running?.entry !== entry || running.state === 'joining' || entry.record.connectedBy === 'carrier') return;
    const { refusedAtMs = Number.NEGATIVE_INFINITY } = running;
    // The carrier moves the agent's call first: if it then fails to move the caller's, the agent's stream ends without a hang-up.
    const isOfJoin = this.#services.clock.nowMs() - refusedAtMs < REFUSED_JOIN_MS;
    if (how === 'hung-up' && !isOfJoin) return this.#line.hangUp('transferred');
    running.bridge = undefined;
    running.leg.hangUp();
    this.#language.listen();
    this.hold(true);
    this.#over(entry, running.to, 'dropped', 'lost');
  }

  #tellDialog(result: TransferResult, isFree: boolean): void {
    const isLeft = this.#line.turn.farewell.stage === 'transferring';
    if (!isFree && !isLeft) return;
    this.#result = undefined;
    this.hold(false);
    this.#line.feed({ type: 'transfer-over', atMs: this.#services.clock.nowMs(), result });
  }
}
