import { type AudioFormat, callRateHz, TELEPHONE_FORMAT } from '../../audio/format.ts';
import type { Attachment, CarrierWitness, InboundCall } from '../../carriers/port.ts';
import { dialogOf } from '../../config/bot-trials.ts';
import type { Bot } from '../../config/bots.ts';
import type { DialogHookFactory } from '../../dialog/port.ts';
import { newId } from '../../kernel/ids.ts';
import type { CallSpeech } from '../../speech/port.ts';
import {
  admit,
  type CallAnswer,
  type CallRefusal,
  type DoorOptions,
  outboundRoom,
  refusal,
  type SpeechPlace,
} from './call-door.ts';
import type { GivenUpListener, OutboundCall, OutboundCalls, OutboundReport, ReservedCall } from './outbound-calls.ts';
import { carrierCallOf, ReservedCalls } from './reserved-calls.ts';
import type { AgentLegs } from '../transfer/agent-legs.ts';
import { OpenedRecogniser } from '../inbound/opened-recogniser.ts';
import { greetAhead } from '../control/prepared-greeting.ts';
import { ListenedCall } from '../listened-call.ts';
import { type CarrierCall, isSameCall, liveKey, type LiveSession } from '../live-session.ts';
import { CallSession } from '../session.ts';
import type { CallIdentity, CallRecord } from '../log/call-record.ts';
import { type LeftBehind, leftOf } from '../resume/resumed-call.ts';
import type { CallServices, CallTap, CallTiming, SharedServices } from '../services.ts';
import { type CallOrder, OrderRefusedError } from '../control/supervision.ts';

export interface CallRegistryOptions extends DoorOptions<CallSpeech> {
  /** By bot name; other versions than the current ones by `versionKey`. */
  readonly dialogs: ReadonlyMap<string, DialogHookFactory>;
  readonly timing: CallTiming;
  /** Marks this process as the owner of a call; false when another one is. */
  readonly lease: (callId: string) => boolean;
  /** A call of a dead process that can go on here; undefined for any other. Does not take it over. */
  readonly left?: ((callId: string, askedAtWallMs: number | undefined) => Promise<LeftBehind | undefined>) | undefined;
  /** Takes the call over; false where another machine already did. `unlease` gives it up again where it cannot go on. */
  readonly take?: (callId: string) => Promise<boolean>;
  readonly unlease?: (callId: string) => void;
  /** Keeps a call as a fixture; undefined for one that is not to be kept. */
  readonly record?: (identity: CallIdentity, services: CallServices, timing: CallTiming) => CallTap | undefined;
  /** The audio format a carrier's legs are expected to play before one is attached; greetings are not made ahead where absent. */
  readonly speechFormatOf?: ((carrier: string) => AudioFormat | undefined) | undefined;
  /** The media of a dialled call has come, so its carrier id is certain. @param carrierKey `liveKey` */
  readonly onBegun?: ((callId: string, carrierKey: string) => void) | undefined;
  /** Agent legs for warm transfers; warm transfers are off where absent. */
  readonly legs?: AgentLegs | undefined;
  /** A call is over, its record kept where it had media, and its place free. @param carrierKey `liveKey`; undefined for one that had no media */
  readonly onOver?: ((callId: string, carrierKey: string | undefined) => void) | undefined;
}

/** Attachments of one call that may be awaited at once, so that a carrier whose sockets never come stops being asked to retry. */
const MOST_AWAITED = 3;

/** The calls of this process: admits them, finds them again by the carrier's id, and sees each one to its end. */
export class CallRegistry implements OutboundCalls {
  readonly #options: CallRegistryOptions;
  readonly #services: SharedServices;
  readonly #byId = new Map<string, LiveSession>();
  /** The latest media socket of each call. */
  readonly #attachments = new Map<string, Attachment>();
  readonly #byCarrierId = new Map<string, LiveSession>();
  readonly #recorders = new Map<string, CallTap>();
  /** Attachments that were promised and have not come, by call. */
  readonly #promised = new Map<string, number>();
  readonly #reserved: ReservedCalls;
  readonly #resuming = new Map<string, Promise<CallAnswer>>();
  /** Why new calls are refused. */
  #closed: 'stopping' | undefined;

  constructor(options: CallRegistryOptions, services: SharedServices) {
    this.#options = options;
    this.#services = services;
    this.#reserved = new ReservedCalls({
      unlease: (callId) => options.unlease?.(callId),
      onFree: (callId) => options.onOver?.(callId, undefined),
      onRinging: (held, carrierCallId) => {
        const format = options.speechFormatOf?.(held.call.carrier);
        // A leg is assumed to send the same bandwidth that it plays.
        const sampleRateHz = callRateHz(format ?? TELEPHONE_FORMAT);
        return {
          greeting: greetAhead(held, { carrierCallId, format, when: 'ringing' }, this.#services),
          recogniser: new OpenedRecogniser(held.speech.recogniser, { language: held.bot.language, sampleRateHz }),
        };
      },
    });
  }

  /** Calls that hold a place: those that are alive, and those that are dialled. */
  get active(): number {
    return this.#byId.size + this.#reserved.size;
  }

  get room(): number {
    return this.#closed === 'stopping' ? 0 : outboundRoom(this.#options, this.active);
  }

  /** Calls that are dialled and have no media yet, oldest first. */
  get dialled(): ReservedCalls['all'] {
    return this.#reserved.all;
  }

  get calls(): readonly LiveSession[] {
    return [...this.#byId.values()];
  }

  /** Whether this id is a live call, a dialled one, or an agent's leg. */
  has(callId: string): boolean {
    return this.#byId.has(callId) || this.#reserved.has(callId) || this.#options.legs?.has(callId) === true;
  }

  /** One tenant for each call that holds a place. */
  get #tenants(): string[] {
    return [...this.calls.map(({ identity }) => identity.tenantId), ...this.dialled.map(({ call }) => call.tenantId)];
  }

  /** @param carrierKey `liveKey` */
  readonly hasCarrierCall = (carrierKey: string): boolean => this.#byCarrierId.has(carrierKey);

  /** Whether no new call is taken. */
  get draining(): boolean {
    return this.#closed !== undefined;
  }

  /**
   * Admits a verified call or says why not; a live call gets another attachment.
   * @param place the recognition slot already counted for the call; chosen here when absent
   * @param began the version of the bot that it gets; by its share when absent
   * @throws what the disk throws when the lease is written; nothing is held then
   */
  answer({ callId = newId('call'), ...inbound }: InboundCall, place?: SpeechPlace, began?: Bot): CallAnswer {
    const again = this.again(inbound);
    if (again !== undefined) return again;
    const admission = admit(this.#options, inbound, { active: this.#tenants, place, closed: this.#closed, callId, began });
    if (admission.kind === 'refuse') return admission;
    const { bot, reservation } = admission;
    return this.#leased(callId, bot, reservation, (dialog) => {
      this.#begin({ callId, tenantId: bot.tenant, inbound, bot, dialog }, reservation);
      return this.#accept(callId);
    });
  }

  /**
   * The carrier asks what comes after a call's stream: another stream, if the call is alive or can go on here after its process died.
   * @param place see `answer` @throws see `answer`
   */
  async goOn(inbound: InboundCall, callId: string, place?: SpeechPlace): Promise<CallAnswer> {
    // A concurrent request for the same call is answered first.
    await this.#resuming.get(callId);
    const again = this.again({ ...inbound, next: callId });
    if (again !== undefined) return again;
    const resuming = this.#resume(inbound, callId, place).finally(() => this.#resuming.delete(callId));
    this.#resuming.set(callId, resuming);
    return resuming;
  }

  async #resume(inbound: InboundCall, callId: string, place: SpeechPlace | undefined): Promise<CallAnswer> {
    const left = leftOf(await this.#options.left?.(callId, inbound.askedAtWallMs), inbound);
    if (left === undefined) return { kind: 'over' };
    const { known, tenantId, resumed, began } = left;
    const at = { active: this.#tenants, place, closed: this.#closed, goesOn: true, tenantId, callId, began };
    const admission = admit(this.#options, known, at);
    if (admission.kind === 'refuse') return admission;
    const { bot, reservation } = admission;
    return this.#leased((await this.#options.take?.(callId)) === false ? undefined : callId, bot, reservation, (dialog) => {
      this.#begin({ callId, tenantId, inbound: known, outbound: resumed.outbound, bot, dialog, resumed }, reservation);
      return this.#accept(callId);
    });
  }

  /** @param place see `answer` */
  async reserve(call: OutboundCall, place?: SpeechPlace): Promise<ReservedCall | CallRefusal> {
    const { callId, tenantId } = call;
    const at = { active: this.#tenants, place, closed: this.#closed, leavesFree: true, tenantId, callId } as const;
    const admission = admit(this.#options, carrierCallOf(call), at);
    if (admission.kind === 'refuse') return admission;
    const { bot, reservation: speech } = admission;
    if (this.#byId.has(callId) || this.#reserved.has(callId)) {
      speech.release();
      return refusal(bot, 'apology', 'lease');
    }
    return this.#leased(callId, bot, speech, (dialog) => {
      this.#reserved.hold({ call, bot, dialog, speech, sinceWallMs: this.#services.clock.wallMs() });
      return { kind: 'reserved', attachmentId: newId('att') };
    });
  }

  release(callId: string, _reason: string): void {
    this.#reserved.release(callId);
    const session = this.#byId.get(callId);
    if (session !== undefined) this.#tell(session, 'carrier-ended', 'caller-hangup');
  }

  reported(callId: string, report: OutboundReport): void {
    this.#options.legs?.reported(callId, report);
    this.#reserved.reported(callId, report);
    const session = this.#byId.get(callId);
    if (session === undefined || !isSameCall(session.identity.inbound, report)) return;
    if (report.witness !== undefined) this.#witness(session, report.witness);
    if (report.progress?.state === 'ended') this.#tell(session, 'carrier-ended', 'caller-hangup');
  }

  onGivenUp(listener: GivenUpListener): void {
    this.#reserved.onGivenUp(listener);
  }

  /**
   * Another attachment for a live call; undefined where there is none. A repeated webhook gets none while a socket is attached; after a redirect the
   * carrier has already stopped the old one.
   */
  again(asked: CarrierCall & Pick<InboundCall, 'mode' | 'isRepeat' | 'next'>): CallAnswer | undefined {
    const { isRepeat, next } = asked;
    const alive = this.#byCarrierId.get(liveKey(asked));
    if (alive === undefined) return undefined;
    if (next !== undefined && (alive.over === true || next !== alive.id || (this.#promised.get(next) ?? 0) >= MOST_AWAITED))
      return { kind: 'over' };
    return isRepeat === true && alive.attached ? { kind: 'attached' } : this.#accept(alive.id);
  }

  attach(callId: string, attachment: Attachment): void {
    if (this.#options.legs?.attach(callId, attachment) === true) return;
    this.#keepPromise(callId);
    if (this.#reserved.has(callId)) this.#beginDialled(callId, attachment);
    const session = this.#byId.get(callId);
    const recorder = this.#recorders.get(callId);
    if (session === undefined) return attachment.close('the call is over');
    this.#attachments.set(callId, attachment);
    if (recorder === undefined) session.attach(attachment);
    else recorder.attach(attachment, (recorded) => session.attach(recorded));
  }

  /** No media will come for a promised attachment; a call without any attachment ends. */
  abandon(callId: string, reason: string): void {
    this.#options.legs?.abandoned(callId, reason);
    this.#keepPromise(callId);
    this.#reserved.giveUp(callId, 'no-media');
    const session = this.#byId.get(callId);
    if (session === undefined || session.attached || (this.#promised.get(callId) ?? 0) > 0) return;
    session.mediaNeverCame?.();
    this.#tell(session, 'carrier-ended', reason);
  }

  /** The carrier reports a pressed key out of band, for carriers whose stream has no keys. */
  keyReported(call: CarrierCall, digit: string): void {
    const session = this.#byCarrierId.get(liveKey({ ...call, mode: undefined }));
    if (session !== undefined) this.#attachments.get(session.id)?.keyReported?.(digit);
  }

  /** The carrier says that a call is over. */
  carrierEnded(call: CarrierCall, reason: string): void {
    for (const mode of [undefined, 'listen'] as const) {
      const session = this.#byCarrierId.get(liveKey({ ...call, mode }));
      if (session !== undefined) this.#tell(session, 'carrier-ended', reason);
    }
  }

  /**
   * Carries out an order from outside the call.
   * @param by who gave it, for the record
   * @throws OrderRefusedError, CarrierControlError
   */
  order(session: LiveSession, order: CallOrder, by: string): Promise<void> {
    const obey = (): Promise<void> => session.order(order, by);
    return this.#recorders.get(session.id)?.ordered(order, obey) ?? obey();
  }

  /** Carries out an order on a call that has no media yet. @throws OrderRefusedError */
  orderDialled(callId: string, order: CallOrder): void {
    if (order.type !== 'hang-up') throw new OrderRefusedError('The call is not answered yet.');
    this.#reserved.giveUp(callId, 'hung-up');
  }

  /** Refuses new calls, gives up dialled ones, and waits until the live ones have ended. */
  async drain(): Promise<readonly CallRecord[]> {
    this.#closed = 'stopping';
    this.#reserved.giveUpAll('stopping');
    const records = await Promise.all(this.calls.map((call) => call.ended));
    await this.#options.legs?.settled();
    return records;
  }

  /** Takes calls again after `drain`. */
  takeCalls(): void {
    this.#closed = undefined;
  }

  /** Refuses new calls, says goodbye on every live one, and waits for their ends. */
  shutDown(): Promise<readonly CallRecord[]> {
    const drained = this.drain();
    for (const call of this.calls) this.#tell(call, 'shut-down', 'shutdown');
    return drained;
  }

  #witness(session: LiveSession, witness: CarrierWitness): void {
    const tell = (): void => session.witness(witness);
    const recorder = this.#recorders.get(session.id);
    if (recorder === undefined) tell();
    else recorder.witnessed(witness, tell);
  }

  /** Tells a call what happened outside it. */
  #tell(session: LiveSession, what: 'carrier-ended' | 'shut-down', reason: string): void {
    const tell = (): void => (what === 'shut-down' ? session.apologise(reason, 'shutdown') : session.carrierEnded(reason));
    const recorder = this.#recorders.get(session.id);
    if (recorder === undefined) tell();
    else recorder.told(what, reason, tell);
  }

  /** Begins or holds a call under the lease of its id; releases the slot where that fails. @param callId undefined where another machine has it */
  #leased<Begun>(
    callId: string | undefined,
    bot: Bot,
    reservation: CallSpeech,
    begin: (dialog: DialogHookFactory) => Begun,
  ): Begun | CallRefusal {
    try {
      const dialog = dialogOf(this.#options.dialogs, bot);
      if (dialog !== undefined && callId !== undefined && this.#options.lease(callId)) return begin(dialog);
    } catch (error) {
      // A failed lease must not leak the slot.
      reservation.release();
      throw error;
    }
    reservation.release();
    return refusal(bot, 'apology', 'lease');
  }

  /** The media of a call that was dialled has come. */
  #beginDialled(callId: string, { started: { carrierCallId }, speechFormat }: Attachment): void {
    const held = this.#reserved.take(callId);
    if (held === undefined) return;
    const { call, bot, speech, witness, ahead } = held;
    const greeting =
      ahead?.greeting ?? greetAhead(held, { carrierCallId, format: speechFormat, when: 'answered' }, this.#services);
    const dialog = greeting ?? held.dialog;
    const { tenantId, variables, metadata, campaignId, duties } = call;
    const outbound = { variables, metadata, campaignId, duties };
    try {
      this.#begin(
        { callId, tenantId, inbound: carrierCallOf(call, carrierCallId), outbound, bot, dialog },
        speech,
        ahead?.recogniser,
      );
    } catch (error) {
      void greeting?.discard();
      ahead?.recogniser.discard();
      this.#reserved.hold(held);
      this.#reserved.giveUp(callId, 'no-media');
      throw error;
    }
    this.#options.onBegun?.(callId, liveKey({ carrier: call.carrier, carrierCallId }));
    const session = this.#byId.get(callId);
    if (witness !== undefined && session !== undefined) this.#witness(session, witness);
  }

  /** @param opened its recogniser, with a session already open */
  #begin(identity: CallIdentity, speech: CallSpeech, opened?: OpenedRecogniser): void {
    const { callId, inbound } = identity;
    const own: CallServices = {
      ...this.#services,
      recogniser: opened ?? speech.recogniser,
      synthesizer: speech.synthesizer,
      legs: this.#options.legs,
      spareRecognition: () => speech.spareRecognition(),
      watchSpeech: (listener) => speech.listen(listener),
      usedSpeech: () => speech.used?.() ?? [],
    };
    const isListened = inbound.mode === 'listen';
    // A call whose beginning is missing cannot be replayed.
    const isWhole = !isListened && identity.resumed === undefined;
    const recorder = isWhole ? this.#options.record?.(identity, own, this.#options.timing) : undefined;
    if (recorder !== undefined) this.#recorders.set(callId, recorder);
    const { services } = recorder ?? { services: own };
    const session = new (isListened ? ListenedCall : CallSession)(recorder?.identity ?? identity, services, this.#options.timing);
    this.#byId.set(callId, session);
    this.#byCarrierId.set(liveKey(inbound), session);
    void session.ended.then(() => {
      opened?.discard();
      speech.release();
      this.#byId.delete(callId);
      this.#attachments.delete(callId);
      this.#recorders.delete(callId);
      this.#byCarrierId.delete(liveKey(inbound));
      this.#promised.delete(callId);
      this.#options.onOver?.(callId, liveKey(inbound));
    });
  }

  #accept(callId: string): CallAnswer {
    this.#promised.set(callId, (this.#promised.get(callId) ?? 0) + 1);
    return { kind: 'accept', callId, attachmentId: newId('att') };
  }

  #keepPromise(callId: string): void {
    const promised = this.#promised.get(callId) ?? 0;
    if (promised > 1) this.#promised.set(callId, promised - 1);
    else this.#promised.delete(callId);
  }
}
