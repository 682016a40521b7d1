import type { AudioFormat, WireFormat } from '../audio/format.ts';
import type { AllowedTarget } from '../config/allowed-target.ts';

/** What a carrier tells us when its media stream starts. */
export interface StreamStarted {
  readonly type: 'started';
  /** The carrier's id of this stream. */
  readonly streamId: string;
  /** The carrier's id of the call. */
  readonly carrierCallId: string;
  /** How the caller's audio comes on the wire, … */
  readonly inbound: WireFormat;
  /** … and how ours is sent. A carrier may have two laws on one leg. */
  readonly outbound: WireFormat;
  /** Custom parameters of the answer document; strings, as the carrier sent them. */
  readonly parameters: Readonly<Record<string, string>>;
  /** Who calls whom, where the start says it. */
  readonly call?:
    | { readonly from: string; readonly to: string; readonly direction: 'inbound' | 'outbound'; readonly mode?: 'listen' }
    | undefined;
  /** What this stream can do less, or more, than its carrier usually can. */
  readonly capabilities?: Partial<CarrierCapabilities> | undefined;
}

/** One thing that happened on a carrier's media socket, as a call hears of it. */
export type MediaEvent =
  | { readonly type: 'connected' }
  | StreamStarted
  /**
   * Caller audio, 16-bit samples at the attachment's `rateHz`. `pcm` is only valid during the call that delivers it: copy what is
   * kept. `timestampMs` is the carrier's presentation time since stream start. `track` is there where the stream has both sides of a
   * call between people (`listen`): `other` is whoever the caller talks to.
   */
  | {
      readonly type: 'audio';
      readonly pcm: Int16Array;
      readonly timestampMs: number | undefined;
      readonly track?: MediaTrack | undefined;
    }
  | { readonly type: 'digit'; readonly digit: string }
  | { readonly type: 'mark'; readonly name: string }
  | { readonly type: 'stopped'; readonly reason: string }
  /** A message that could not be used; the stream goes on. `problem` says what was wrong and what is accepted. */
  | { readonly type: 'rejected'; readonly problem: string }
  /** The socket is gone; nothing follows. */
  | { readonly type: 'closed'; readonly code: number; readonly reason: string };

export type MediaTrack = 'caller' | 'other';

export interface CarrierCapabilities {
  /** Whether queued audio can be taken back. */
  readonly clear: 'native' | 'none';
  readonly marks: 'native' | 'none';
  /** Whether marks still queued come back when the carrier clears. */
  readonly marksReturnOnClear: 'yes' | 'no' | 'unknown';
  /** Whether audio may be sent ahead of real time: `realtime` gets a message as the one before is played. */
  readonly pacing: 'burst' | 'realtime';
  /** What is sent is a whole number of frames of this length; 0 for any length. */
  readonly frameMs: number;
  /**
   * How keys are pressed at the other end: by a message on the stream's own socket (`message`), by a request that leaves the stream alone (`rest`), by one that takes the call
   * away and brings it back on another socket (`reattach`), as tones in our audio (`inband`), or not at all.
   */
  readonly dtmfOut: 'message' | 'rest' | 'reattach' | 'inband' | 'none';
  /** Length of one message of audio, where the carrier wants it longer or shorter than usual; a multiple of `frameMs`. */
  readonly messageMs?: number;
  /** A clear while marks are queued spoils those behind it: the ends of sentences alone are marked, so that few are queued. */
  readonly marksAtEndsOnly?: true;
  /** A mark comes back once the carrier has nothing left to play: one that audio was sent behind never does. */
  readonly marksWhenIdle?: true | undefined;
  /** The media socket is closed politely (1000) when the call is over, and no message says so. Elsewhere such a close is a broken connection. */
  readonly closeEndsCall?: true;
  /**
   * When the socket breaks, as when its process dies, the carrier keeps the call and asks the gateway what comes next: the call goes on over another
   * socket.
   */
  readonly comesBack?: true;
  /** A message of ours on the stream, or its end, passes the caller on; where absent, `CallControl.transfer` does. */
  readonly transfer?: 'message';
}

/** One carrier socket that has started: the only thing of a carrier that a call sees. */
export interface Attachment {
  readonly id: string;
  readonly carrier: string;
  readonly started: StreamStarted;
  readonly capabilities: CarrierCapabilities;
  /** Rate of the samples that a call hears here, whatever the wire has: 16,000 where the wire has at least that, else 8,000. */
  readonly rateHz: number;
  /**
   * What speech is best synthesized as for this leg: G.711 of the leg's own law goes out byte for byte as it was made. Its rate, `rateHz` or less, is
   * that of the samples that are sent.
   */
  readonly speechFormat: AudioFormat;
  /** Bytes accepted but not yet handed to the operating system. */
  readonly bufferedBytes: number;
  /** Delivers every event after `started`, in order, to one listener; events before it is set are held. */
  listen(listener: (event: MediaEvent) => void): void;
  /** @param pcm 16-bit samples at the rate of `speechFormat`, whole frames of the carrier's `frameMs`; not kept */
  sendAudio(pcm: Int16Array): void;
  sendMark(name: string): void;
  sendClear(): void;
  /** Has the carrier press keys; only where `dtmfOut` is `message`. @param digits 0-9, * and #, without waits between them */
  sendDigits?(digits: string): void;
  /** A key that the carrier reported elsewhere than on its socket: delivered as if it had come there. */
  keyReported?(digit: string): void;
  /** Passes the caller on; only where `transfer` is `message`. The carrier ends the stream then. @param to a number in E.164 form, or a `sip:` address */
  sendTransfer?(to: AllowedTarget): void;
  /** Says goodbye where the carrier's protocol has a word for it, and closes the socket, which ends the call: nothing follows the stream. */
  close(reason: string): void;
}

/** What the signed voice webhook said about a call before its media arrives. */
export interface InboundCall {
  readonly carrier: string;
  readonly carrierCallId: string;
  readonly from: string;
  readonly to: string;
  readonly direction: 'inbound' | 'outbound';
  /** The bot named in the webhook's path, if any. */
  readonly botName: string | undefined;
  /** The id that the call is to have here, where machines agree on who begins it; a new one when absent. */
  readonly callId?: string | undefined;
  /** The same webhook was answered before, byte for byte: the carrier asks once more, or somebody replays it. */
  readonly isRepeat?: boolean | undefined;
  /** It goes on where it is alive, and is not begun: we dialled it, or the webhook was answered before and its call is over. */
  readonly goesOnOnly?: 'dialled' | 'replayed' | undefined;
  /** Our id of the call: its stream has ended, and the carrier asks what comes next. */
  readonly next?: string | undefined;
  /** When the carrier asked, where other machines were asked for the call before this one. */
  readonly askedAtWallMs?: number | undefined;
  /** A call between people, of which we get a copy: both sides are heard, and nothing is sent. */
  readonly mode?: 'listen' | undefined;
}

/** How far a dialled call has come, in our words. */
export type DialProgress =
  /** The carrier has taken the order. */
  | { readonly state: 'queued' }
  | { readonly state: 'ringing' }
  | { readonly state: 'answered' }
  /** Nothing follows. `completed`: it was answered, and is over. */
  | { readonly state: 'ended'; readonly outcome: DialEnd; readonly cause?: string | undefined };

/** `cause`, where there is one, is the carrier's own code or word for it. */
export type DialEnd = 'completed' | 'busy' | 'no-answer' | 'rejected' | 'failed' | 'cancelled';

/** What a carrier's own detection says of who answered; one witness among others. */
export type CarrierWitness = 'person' | 'machine' | 'machine-done' | 'fax' | 'unknown';

/** One call to be placed. */
export interface DialOrder {
  /** Our own id of the call: the carrier's is not known yet. */
  readonly callId: string;
  /** E.164, both. */
  readonly from: string;
  readonly to: AllowedTarget;
  readonly ringTimeoutMs: number;
  /** Longest call after its answer. */
  readonly maxDurationMs: number;
  /** Address of the media stream, with its single-use token: `wss`, or `ws` on loopback. */
  readonly streamUrl: string;
  /** Where the carrier reports on the call; names our id. */
  readonly statusUrl: string;
  /** Have the carrier say who answered, where it can. */
  readonly detectMachine: boolean;
}

/** What tells a call that may have been placed. */
export interface SoughtDial extends Pick<DialOrder, 'callId' | 'from'> {
  readonly to: string;
}

/** What a carrier knows of a call that it was asked for, when nobody knows whether it took the order. */
export type FoundDial =
  | { readonly found: 'placed'; readonly carrierCallId: string; readonly progress: DialProgress }
  /** It surely has no such call, and none will come of that order. */
  | { readonly found: 'not-placed' }
  /** It cannot say, or not yet. */
  | { readonly found: 'unknown' };

/** How a carrier dials. */
export interface DialCapabilities {
  /** New calls a second that an account may ask for, unless the account was given more. */
  readonly callsPerSecond: number;
  /** Whether the carrier says who answered. */
  readonly detectsMachines: boolean;
  /** Whether it can be asked for a call whose order got no answer. */
  readonly canFind: boolean;
}

/** Placing calls at a carrier. Only the dialler uses it, with the dial gate's yes in its hand. */
export interface Dialling {
  readonly capabilities: DialCapabilities;
  /**
   * Has the carrier place a call. Asks once, and never again by itself.
   * @returns the carrier's id of the call, once it has taken the order
   * @throws CarrierControlError when the call was surely not placed; DialUnknownError when nobody knows
   */
  dial(order: DialOrder, signal: AbortSignal): Promise<{ readonly carrierCallId: string }>;
  /**
   * Looks for a call that `dial` may have placed.
   * @param askedAtMs wall time of the order
   * @throws CarrierControlError when the carrier cannot be asked
   */
  find(order: SoughtDial, askedAtMs: number, signal: AbortSignal): Promise<FoundDial>;
  /** Asks how far a call has come, for when its reports were missed. @throws CarrierControlError */
  progressOf(carrierCallId: string, signal: AbortSignal): Promise<DialProgress | undefined>;
}

/** Acting on a call at its carrier, beside its media. */
export interface CallControl {
  /** A call goes on at the carrier, with a caller in silence, when its media stream has ended: `hangUp` alone ends it. */
  readonly outlivesStream?: true;
  /** The operator's own flow (a dialplan, the next applet) has a call whose stream we have closed: a bot that hangs up does no more than that. */
  readonly flowGoesOn?: true;
  /** Undefined where the carrier places no calls for us. */
  readonly dialling?: Dialling | undefined;
  /**
   * Asks the carrier something harmless in the account's name (a list of one call): `offhook doctor` checks credentials and clocks by it.
   * Undefined where every request does something, or is about one call.
   * @returns the carrier's wall clock, from its answer (`RestAnswer.atWallMs`)
   * @throws CarrierControlError
   */
  check?(signal: AbortSignal): Promise<{ readonly carrierWallMs: number }>;
  /** Ends the call. @throws CarrierControlError */
  hangUp(carrierCallId: string, signal: AbortSignal): Promise<void>;
  /**
   * Connects the caller to somebody else and leaves the call (a cold transfer); the media stream ends.
   * @param to a number in E.164 form, or a `sip:` address
   * @throws CarrierControlError
   */
  transfer(carrierCallId: string, to: AllowedTarget, signal: AbortSignal): Promise<void>;
  /**
   * Presses keys at the other end. Resolves when they are handed over; never asks twice.
   * @param digits 0-9, * and #; `w` waits half a second
   * @throws CarrierControlError
   */
  sendDigits(carrierCallId: string, digits: string, signal: AbortSignal): Promise<void>;
  /**
   * Connects two calls of this account with each other, each of which has a media stream of ours (the end of a warm transfer). Both streams end;
   * the callers hear each other until one hangs up. Undefined where the carrier cannot: the gateway passes the sound between them then.
   * @throws CarrierControlError when they were not joined: both streams go on, or the other call was ended
   */
  join?(carrierCallId: string, otherCarrierCallId: string, signal: AbortSignal): Promise<void>;
  /**
   * Has the carrier send a copy of both sides of a live call to us (`listen`), which goes on as it was. Undefined where only the call's own document
   * can begin that. @param streamUrl with its single-use token
   * @throws CarrierControlError
   */
  fork?(carrierCallId: string, streamUrl: string, signal: AbortSignal): Promise<void>;
}
