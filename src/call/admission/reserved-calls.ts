import type { CarrierWitness, InboundCall } from '../../carriers/port.ts';
import type { Bot } from '../../config/bots.ts';
import type { DialogHookFactory } from '../../dialog/port.ts';
import type { CallSpeech } from '../../speech/port.ts';
import type { OpenedRecogniser } from '../inbound/opened-recogniser.ts';
import type { PreparedGreeting } from '../control/prepared-greeting.ts';
import type { GivenUp, GivenUpListener, OutboundCall, OutboundReport } from './outbound-calls.ts';

/** A dialled call that has no media yet, with what is held for it. */
export interface DialledCall {
  readonly call: OutboundCall;
  readonly bot: Bot;
  readonly dialog: DialogHookFactory;
  readonly speech: CallSpeech;
  readonly sinceWallMs: number;
}

/** What is prepared for a call before it is answered. */
export interface MadeAhead {
  readonly greeting: PreparedGreeting | undefined;
  readonly recogniser: OpenedRecogniser;
}

interface Held extends DialledCall {
  /** Set once a report names it. */
  carrierCallId: string | undefined;
  ringing: boolean;
  /** Set once the phone rings. */
  ahead: MadeAhead | undefined;
  witness: CarrierWitness | undefined;
}

export interface ReservedCallsOptions {
  /** Gives up the ownership of a call's id. */
  readonly unlease: (callId: string) => void;
  /** A call's place is free. */
  readonly onFree: (callId: string) => void;
  /** The phone rings: prepare what can be prepared before the answer. */
  readonly onRinging: (reserved: DialledCall, carrierCallId: string) => MadeAhead;
}

/** The outbound calls of this process from before their dial until their media comes. */
export class ReservedCalls {
  readonly #options: ReservedCallsOptions;
  readonly #held = new Map<string, Held>();
  readonly #listeners: GivenUpListener[] = [];

  constructor(options: ReservedCallsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#held.size;
  }

  /** Oldest first. */
  get all(): readonly Readonly<Held>[] {
    return [...this.#held.values()];
  }

  has(callId: string): boolean {
    return this.#held.has(callId);
  }

  hold(reserved: DialledCall): void {
    this.#held.set(reserved.call.callId, {
      ...reserved,
      carrierCallId: undefined,
      ringing: false,
      ahead: undefined,
      witness: undefined,
    });
  }

  /** The call's media has come: hands over what was held. */
  take(callId: string): Readonly<Held> | undefined {
    const held = this.#held.get(callId);
    this.#held.delete(callId);
    return held;
  }

  release(callId: string): void {
    const held = this.take(callId);
    if (held === undefined) return;
    void held.ahead?.greeting?.discard();
    held.ahead?.recogniser.discard();
    held.speech.release();
    this.#options.unlease(callId);
    this.#options.onFree(callId);
  }

  reported(callId: string, { carrier, carrierCallId, progress, witness }: OutboundReport): void {
    const held = this.#held.get(callId);
    if (held === undefined || carrier !== held.call.carrier) return;
    held.carrierCallId ??= carrierCallId;
    if (carrierCallId !== held.carrierCallId) return;
    held.witness = witness ?? held.witness;
    if (!held.ringing && (progress?.state === 'ringing' || progress?.state === 'answered')) {
      held.ringing = true;
      held.ahead = this.#options.onRinging(held, carrierCallId);
    }
    if (progress?.state === 'ended') this.release(callId);
  }

  onGivenUp(listener: GivenUpListener): void {
    this.#listeners.push(listener);
  }

  giveUp(callId: string, why: GivenUp): void {
    const held = this.#held.get(callId);
    if (held === undefined) return;
    // Listeners are told before the place is freed, while its owner is still known.
    for (const listener of this.#listeners) listener(held.call, why);
    this.release(callId);
  }

  giveUpAll(why: GivenUp): void {
    for (const callId of this.#held.keys()) this.giveUp(callId, why);
  }
}

/** An outbound call under its carrier's id. @param carrierCallId empty while unknown */
export function carrierCallOf({ carrier, from, to, botName }: OutboundCall, carrierCallId = ''): InboundCall {
  return { carrier, carrierCallId, from, to, direction: 'outbound', botName };
}
