import type { CallAnswer } from '../call/admission/call-door.ts';
import type { LiveCalls } from '../call/admission/live-calls.ts';
import type { InboundCall } from '../carriers/port.ts';
import type { CallIntake, MediaElsewhere } from '../http/intake.ts';
import type { LiveAudio } from '../http/live-audio.ts';

/** The calls of this machine: of its one process, or of its media processes. */
export interface LocalCalls {
  readonly intake: CallIntake;
  readonly live: LiveCalls;
  readonly media: MediaElsewhere;
  readonly audio: LiveAudio;
  /** Of a live call, one that is dialled, or the leg of an agent. */
  has(callId: string): boolean;
  /** @param carrierKey `liveKey` */
  hasCarrierCall(carrierKey: string): boolean;
  /** Another attachment for a call that is alive; undefined where there is none. */
  again(inbound: Repeat): CallAnswer | undefined | Promise<CallAnswer | undefined>;
  /** Waits until a call that begins finds a recognition slot at hand, or none is free. */
  speechReady(): Promise<void>;
  /** Another machine goes on with the call: it ends here, and the carrier is told nothing. */
  giveUp(callId: string): void;
  redeem(botNames: readonly string[], token: string): string | undefined | Promise<string | undefined>;
}

/** What a call that is alive is asked for again by. */
export type Repeat = Pick<InboundCall, 'carrier' | 'carrierCallId' | 'mode' | 'isRepeat' | 'next'>;
