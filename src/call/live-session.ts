import type { Attachment, CarrierWitness, InboundCall } from '../carriers/port.ts';
import type { HeardSound } from './recording/heard-sound.ts';
import type { CallOrder } from './control/supervision.ts';
import type { TimedNews } from './log/call-news.ts';
import type { CallIdentity, CallRecord, CallStanding } from './log/call-record.ts';

/**
 * Phase of a live call. `dialling` and `ringing`: outbound, before its media. `connecting`: before the first sound, and while the carrier's socket is
 * lost.
 */
export const LIVE_PHASES = [
  'dialling',
  'ringing',
  'connecting',
  'listening',
  'caller-speaking',
  'settling',
  'keying',
  'thinking',
  'bot-speaking',
] as const;

/** How far a warm transfer has come. */
export const TRANSFER_STATES = ['queued', 'dialling', 'ringing', 'briefing', 'joining', 'connected'] as const;

/** A live call of this process: with a bot, or between people. */
export interface LiveSession {
  readonly id: string;
  readonly identity: CallIdentity;
  /** Whether a carrier's socket is attached now. */
  readonly attached: boolean;
  /** The call has ended, and its record is being saved. */
  readonly over?: boolean;
  readonly standing: LiveStanding;
  /** News so far, oldest first, for a new follower. */
  readonly soFar: readonly TimedNews[];
  /** For listeners; undefined before there is any. */
  readonly sound: HeardSound | undefined;
  /** The operator who has taken the call over, and their voice (mono, 16 kHz, not kept); absent for calls without a bot. */
  readonly takeOver?: { readonly by: string | undefined; hear(pcm: Int16Array): void };
  /** Resolves with the record when the call is over and its recording is closed. */
  readonly ended: Promise<CallRecord>;
  /** Takes a started carrier socket. */
  attach(attachment: Attachment): void;
  /** The carrier's own answer detection reports. */
  witness(witness: CarrierWitness): void;
  /** The carrier says that the call is gone, or no media will come. */
  carrierEnded(reason: string): void;
  /** No media will come, though the carrier may have answered the call. Absent for a call between people. */
  mediaNeverCame?(): void;
  /** The gateway stops. */
  apologise(reason: string, phrase: 'apology' | 'shutdown'): void;
  /** @param by who gave it, for the record @throws OrderRefusedError, CarrierControlError */
  order(order: CallOrder, by: string): Promise<void>;
}

export interface LiveStanding extends CallStanding {
  /** Who has the floor. */
  readonly phase: (typeof LIVE_PHASES)[number];
  readonly muted: boolean;
  readonly mutedUntilWallMs: number | undefined;
  /** The operator who muted the bot, and types in its place. */
  readonly mutedBy?: string | undefined;
  readonly transfer?: LiveTransfer | undefined;
  /** The operator who has taken the call over by voice. */
  readonly takenOver?: string | undefined;
}

/** The agent who is rung for a caller, or talks to them through the gateway. */
export interface LiveTransfer {
  readonly to: string;
  readonly state: (typeof TRANSFER_STATES)[number];
  readonly sinceWallMs: number;
}

/** A call as its carrier names it: an id is unique within one account of one carrier. */
export type CarrierCall = Pick<InboundCall, 'carrier' | 'carrierCallId'>;

/** Key of a live call. Listening to a call between people has a key of its own, apart from a bot's part of the same call. */
export function liveKey({ carrier, carrierCallId, mode }: CarrierCall & Pick<InboundCall, 'mode'>): string {
  const key = `${carrier} ${carrierCallId}`;
  return mode === 'listen' ? `listen ${key}` : key;
}

export function isSameCall(one: CarrierCall, other: CarrierCall): boolean {
  return one.carrier === other.carrier && one.carrierCallId === other.carrierCallId;
}
