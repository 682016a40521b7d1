import type { Attachment, InboundCall } from '../carriers/port.ts';
import { findBot, phrasesOf, type Bot } from '../config/bots.ts';
import type { DialogHookFactory } from '../dialog/port.ts';
import { newId } from '../kernel/ids.ts';
import type { RefusalCause } from '../observability/metrics.ts';
import { roomFor } from './admission.ts';
import type { CallRecord } from './call-record.ts';
import { CallSession } from './session.ts';
import type { CallRecorder } from './replay/call-recorder.ts';
import type { CallIdentity, CallServices, CallTiming } from './services.ts';
import type { CallOrder } from './supervision.ts';

/** A promise of the speech platform to serve one more call; taken when the call is answered, before `start`. */
export interface SpeechReservation {
  release(): void;
}

export interface CallRegistryOptions {
  readonly bots: readonly Bot[];
  readonly dialogs: ReadonlyMap<string, DialogHookFactory>;
  readonly timing: CallTiming;
  readonly maximum: number;
  /** Whether new calls are refused because the event loop is late. */
  readonly shedding: () => boolean;
  readonly tenantId: string;
  /** Undefined when no slot is free. */
  readonly reserveSpeech: () => SpeechReservation | undefined;
  /** Whether the speech platform answers; a call is not half-served. */
  readonly speechIsUp: () => boolean;
  /** Marks this process as the owner of a call; false when another one is. */
  readonly lease: (callId: string) => boolean;
  /** Keeps a call as a fixture; undefined for one that is not to be kept. */
  readonly record?: (identity: CallIdentity, services: CallServices, timing: CallTiming) => CallRecorder | undefined;
}

export type CallAnswer =
  | {
      readonly kind: 'accept';
      readonly callId: string;
      /** New for every answer, also when a call that is alive is answered again. */
      readonly attachmentId: string;
    }
  /** The caller hears `say` in the carrier's own voice, then the call ends. `cause` is counted, `reason` is for the log. */
  | {
      readonly kind: 'refuse';
      readonly say: string;
      readonly language: string;
      readonly cause: RefusalCause;
      readonly reason: string;
    };

/** The calls of this process: admits them, finds them again by the carrier's id, and sees each one to its end. */
export class CallRegistry {
  readonly #options: CallRegistryOptions;
  readonly #services: CallServices;
  readonly #byId = new Map<string, CallSession>();
  readonly #byCarrierId = new Map<string, CallSession>();
  readonly #recorders = new Map<string, CallRecorder>();
  /** Attachments that were promised and have not come, by call. */
  readonly #promised = new Map<string, number>();

  constructor(options: CallRegistryOptions, services: CallServices) {
    this.#options = options;
    this.#services = services;
  }

  get active(): number {
    return this.#byId.size;
  }

  get calls(): readonly CallSession[] {
    return [...this.#byId.values()];
  }

  /**
   * Admits a verified call or says why not; a call that is alive gets another attachment.
   * @throws what the disk throws at a lease; nothing is held then
   */
  answer(inbound: InboundCall): CallAnswer {
    const alive = this.#byCarrierId.get(inbound.carrierCallId);
    if (alive !== undefined) return this.#accept(alive.id);
    const bot = findBot(this.#options.bots, { pathName: inbound.botName, dialledNumber: inbound.to });
    const dialog = bot === undefined ? undefined : this.#options.dialogs.get(bot.name);
    if (bot === undefined || dialog === undefined) return refusal(this.#options.bots[0], 'nobody', 'no-bot');
    const room = roomFor(this.#options, { active: this.active, shedding: this.#options.shedding() });
    if (room !== 'room') return refusal(bot, 'overflow', room);
    if (!this.#options.speechIsUp()) return refusal(bot, 'apology', 'speech-down');
    const reservation = this.#options.reserveSpeech();
    if (reservation === undefined) return refusal(bot, 'overflow', 'speech-slots');
    try {
      const callId = newId('call');
      if (this.#options.lease(callId)) {
        this.#begin({ callId, tenantId: this.#options.tenantId, inbound, bot, dialog }, reservation);
        return this.#accept(callId);
      }
    } catch (error) {
      // A disk that refuses the lease must not cost a slot with every call.
      reservation.release();
      throw error;
    }
    reservation.release();
    return refusal(bot, 'apology', 'lease');
  }

  attach(callId: string, attachment: Attachment): void {
    this.#keepPromise(callId);
    const session = this.#byId.get(callId);
    const recorder = this.#recorders.get(callId);
    if (session === undefined) attachment.close('the call is over');
    else if (recorder === undefined) session.attach(attachment);
    else recorder.attach(attachment, (recorded) => session.attach(recorded));
  }

  /** No media will come for a promised attachment; a call that has none at all is over. */
  abandon(callId: string, reason: string): void {
    this.#keepPromise(callId);
    const session = this.#byId.get(callId);
    if (session !== undefined && !session.attached && (this.#promised.get(callId) ?? 0) === 0)
      this.#tell(session, 'carrier-ended', reason);
  }

  /** The carrier says that a call is over. */
  carrierEnded(carrierCallId: string, reason: string): void {
    const session = this.#byCarrierId.get(carrierCallId);
    if (session !== undefined) this.#tell(session, 'carrier-ended', reason);
  }

  /**
   * Has a live call of this process do what somebody outside it wants.
   * @param by who that is, for the record
   * @throws OrderRefusedError, CarrierControlError
   */
  order(session: CallSession, order: CallOrder, by: string): Promise<void> {
    const obey = (): Promise<void> => session.order(order, by);
    return this.#recorders.get(session.id)?.ordered(order, obey) ?? obey();
  }

  /** Says goodbye to every call and waits for their ends. */
  async drain(reason: string): Promise<readonly CallRecord[]> {
    const { calls } = this;
    for (const call of calls) this.#tell(call, 'apologise', reason);
    return Promise.all(calls.map((call) => call.ended));
  }

  /** Tells a call what happened outside it. */
  #tell(session: CallSession, what: 'carrier-ended' | 'apologise', reason: string): void {
    const tell = (): void => (what === 'apologise' ? session.apologise(reason) : session.carrierEnded(reason));
    const recorder = this.#recorders.get(session.id);
    if (recorder === undefined) tell();
    else recorder.told(what, reason, tell);
  }

  #begin(identity: CallIdentity, reservation: SpeechReservation): void {
    const { callId, inbound } = identity;
    const recorder = this.#options.record?.(identity, this.#services, this.#options.timing);
    if (recorder !== undefined) this.#recorders.set(callId, recorder);
    const { services } = recorder ?? { services: this.#services };
    const session = new CallSession(recorder?.identity ?? identity, services, this.#options.timing);
    this.#byId.set(callId, session);
    this.#byCarrierId.set(inbound.carrierCallId, session);
    void session.ended.then(() => {
      reservation.release();
      this.#byId.delete(callId);
      this.#recorders.delete(callId);
      this.#byCarrierId.delete(inbound.carrierCallId);
      this.#promised.delete(callId);
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

const reasons = {
  'no-bot': 'no bot answers this number',
  calls: 'the most calls at once are running',
  'loop-lag': 'the event loop is late',
  'speech-down': 'the speech platform is down',
  'speech-slots': 'no recognition slot is free',
  lease: 'another process owns this call',
} as const satisfies Partial<Record<RefusalCause, string>>;

function refusal(bot: Bot | undefined, phrase: 'nobody' | 'overflow' | 'apology', cause: keyof typeof reasons): CallAnswer {
  const phrases = bot === undefined ? undefined : phrasesOf(bot);
  const say = phrases?.[phrase] ?? 'Sorry, this number is not in service. Goodbye.';
  return { kind: 'refuse', say, language: bot?.language ?? 'en', cause, reason: reasons[cause] };
}
