import type { Attachment, CarrierWitness, InboundCall } from '../carriers/port.ts';
import type { HeardSound } from './recording/heard-sound.ts';
import type { CallOrder } from './control/supervision.ts';
import type { TimedNews } from './log/call-news.ts';
import type { CallIdentity, CallRecord, CallStanding } from './log/call-record.ts';

/**
 * Who has the floor of a live call; `dialling` and `ringing` of a call that we place, until its media comes; `connecting` before the first sound, and
 * while the carrier's socket is gone.
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

/** A call of this process that is not over, as whoever keeps calls sees it: one with a bot, or one between people. */
export interface LiveSession {
  readonly id: string;
  readonly identity: CallIdentity;
  /** Whether a carrier's socket is attached now. */
  readonly attached: boolean;
  /** It has come to its end, and its record is being kept. */
  readonly over?: boolean;
  readonly standing: LiveStanding;
  /** What was told of it so far, oldest first, for somebody who begins to follow it. */
  readonly soFar: readonly TimedNews[];
  /** For whoever listens in; undefined before there is any. */
  readonly sound: HeardSound | undefined;
  /** Who has taken the call over by voice, and their voice (one channel at 16 kHz, not kept); absent for calls that have no bot. */
  readonly takeOver?: { readonly by: string | undefined; hear(pcm: Int16Array): void };
  /** Resolves with the record when the call is over and its recording is closed. */
  readonly ended: Promise<CallRecord>;
  /** Takes a started carrier socket. */
  attach(attachment: Attachment): void;
  /** The carrier's own detection has an opinion of who answered. */
  witness(witness: CarrierWitness): void;
  /** The carrier says that the call is gone, or no media will come. */
  carrierEnded(reason: string): void;
  /** No media will come, though the carrier may have answered the call. Absent for a call between people, which is theirs. */
  mediaNeverCame?(): void;
  /** The gateway stops. */
  apologise(reason: string, phrase: 'apology' | 'shutdown'): void;
  /** @param by who orders it, for the record @throws OrderRefusedError, CarrierControlError */
  order(order: CallOrder, by: string): Promise<void>;
}

export interface LiveStanding extends CallStanding {
  /** Who has the floor. */
  readonly phase: (typeof LIVE_PHASES)[number];
  readonly muted: boolean;
  readonly mutedUntilWallMs: number | undefined;
  readonly transfer?: LiveTransfer | undefined;
  /** Who has taken the call over by voice. */
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

/** What a live call is found by. A call between people that is listened to is another one than the same call with a bot. */
export function liveKey({ carrier, carrierCallId, mode }: CarrierCall & Pick<InboundCall, 'mode'>): string {
  const key = `${carrier} ${carrierCallId}`;
  return mode === 'listen' ? `listen ${key}` : key;
}

export function isSameCall(one: CarrierCall, other: CarrierCall): boolean {
  return one.carrier === other.carrier && one.carrierCallId === other.carrierCallId;
}
