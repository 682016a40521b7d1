import type { AudioFormat, WireFormat } from '../audio/format.ts';
import type { AllowedTarget } from '../config/allowed-target.ts';

/** What a carrier reports when its media stream starts. */
export interface StreamStarted {
  readonly type: 'started';
  /** The carrier's id of this stream. */
  readonly streamId: string;
  /** The carrier's id of the call. */
  readonly carrierCallId: string;
  /** Format of the caller's audio on the wire, … */
  readonly inbound: WireFormat;
  /** … and of ours. A carrier may use two laws on one leg. */
  readonly outbound: WireFormat;
  /** Custom parameters of the answer document; strings, as the carrier sent them. */
  readonly parameters: Readonly<Record<string, string>>;
  /** The call's numbers, where the start has them. */
  readonly call?:
    | { readonly from: string; readonly to: string; readonly direction: 'inbound' | 'outbound'; readonly mode?: 'listen' }
    | undefined;
  /** Differences between this stream's capabilities and its carrier's usual ones. */
  readonly capabilities?: Partial<CarrierCapabilities> | undefined;
}

/** One event on a carrier's media socket, as a call sees it. */
export type MediaEvent =
  | { readonly type: 'connected' }
  | StreamStarted
  /**
   * Caller audio, 16-bit samples at the attachment's `rateHz`. `pcm` is only valid during the call that delivers it: copy what is kept. `timestampMs`
   * is the carrier's presentation time since stream start. `track` is set for both sides of a call between people (`listen`): `other` is the other
   * party.
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
  /** An unusable message; the stream goes on. `problem` says what was wrong and what is accepted. */
  | { readonly type: 'rejected'; readonly problem: string }
  /** The socket is closed; nothing follows. */
  | { readonly type: 'closed'; readonly code: number; readonly reason: string };

export type MediaTrack = 'caller' | 'other';

export interface CarrierCapabilities {
  /** Whether queued audio can be taken back. */
  readonly clear: 'native' | 'none';
  readonly marks: 'native' | 'none';
  /** Whether queued marks return when the carrier clears. */
  readonly marksReturnOnClear: 'yes' | 'no' | 'unknown';
  /** Whether audio may be sent ahead of real time: `realtime` gets each message as the one before is played. */
  readonly pacing: 'burst' | 'realtime';
  /** Outbound audio is whole frames of this length; 0 for any length. */
  readonly frameMs: number;
  /**
   * How keys are pressed: by a message on the stream's socket (`message`), by a request that leaves the stream alone (`rest`), by one that takes the
   * call away and brings it back on another socket (`reattach`), as tones in our audio (`inband`), or not at all.
   */
  readonly dtmfOut: 'message' | 'rest' | 'reattach' | 'inband' | 'none';
  /** Message length, where the carrier wants an unusual one; a multiple of `frameMs`. */
  readonly messageMs?: number;
  /** A clear corrupts the queued marks, so that only the ends of sentences are marked. */
  readonly marksAtEndsOnly?: true;
  /** A mark returns once the carrier has nothing left to play: one followed by more audio never does. */
  readonly marksWhenIdle?: true | undefined;
  /** A normal close (1000) ends the call, as no message does. Elsewhere such a close is a broken connection. */
  readonly closeEndsCall?: true;
  /** When the socket breaks, as in a crash, the carrier keeps the call and asks the gateway what comes next: the call continues on another socket. */
  readonly comesBack?: true;
  /** Transfers are a message on the stream, or its end; where absent, `CallControl.transfer` does them. */
  readonly transfer?: 'message';
}

/** A started carrier socket: all that a call sees of a carrier. */
export interface Attachment {
  readonly id: string;
  readonly carrier: string;
  readonly started: StreamStarted;
  readonly capabilities: CarrierCapabilities;
  /** Inbound rate for the call, whatever the wire has: 16,000 where the wire has at least that, else 8,000. */
  readonly rateHz: number;
  /** Best synthesis format for this leg: G.711 of the leg's own law is sent unchanged. Its rate, `rateHz` or less, is the outbound rate. */
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
  /** A key reported outside the socket: delivered as if it had come there. */
  keyReported?(digit: string): void;
  /**
   * Transfers the caller; only where `transfer` is `message`. The carrier then ends the stream. @param to a number in E.164 form, or a `sip:` address
   */
  sendTransfer?(to: AllowedTarget): void;
  /** Sends a goodbye where the protocol has one, and closes the socket, which ends the call. */
  close(reason: string): void;
}

/** The signed voice webhook's facts about a call, before its media arrives. */
export interface InboundCall {
  readonly carrier: string;
  readonly carrierCallId: string;
  readonly from: string;
  readonly to: string;
  readonly direction: 'inbound' | 'outbound';
  /** The bot named in the webhook's path, if any. */
  readonly botName: string | undefined;
  /** Our id of the call, where machines agree on who begins it; a new one when absent. */
  readonly callId?: string | undefined;
  /** The identical webhook was answered before: a retry by the carrier, or a replay. */
  readonly isRepeat?: boolean | undefined;
  /** The call continues if alive, but is not begun: we dialled it, or its webhook was answered before and it is over. */
  readonly goesOnOnly?: 'dialled' | 'replayed' | undefined;
  /** Our id of the call whose stream ended, where the carrier asks what comes next. */
  readonly next?: string | undefined;
  /** When the carrier asked, where other machines were asked for the call first. */
  readonly askedAtWallMs?: number | undefined;
  /** A copy of a call between people: both sides are heard, and nothing is sent. */
  readonly mode?: 'listen' | undefined;
  /** The version of the bot that the caller tries out, such as a draft: the call is not counted. */
  readonly rehearses?: string | undefined;
}

/** Progress of a dialled call. */
export type DialProgress =
  /** The carrier has accepted the order. */
  | { readonly state: 'queued' }
  | { readonly state: 'ringing' }
  | { readonly state: 'answered' }
  /** The last report. `completed`: answered, and over. */
  | { readonly state: 'ended'; readonly outcome: DialEnd; readonly cause?: string | undefined };

/** `cause` is the carrier's own code or word, where there is one. */
export type DialEnd = 'completed' | 'busy' | 'no-answer' | 'rejected' | 'failed' | 'cancelled';

/** The carrier's detection of who answered; one kind of evidence among others. */
export type CarrierWitness = 'person' | 'machine' | 'machine-done' | 'fax' | 'unknown';

/** A call to place. */
export interface DialOrder {
  /** Our own call id; the carrier's is not known yet. */
  readonly callId: string;
  /** E.164, both. */
  readonly from: string;
  readonly to: AllowedTarget;
  readonly ringTimeoutMs: number;
  /** Longest call after its answer. */
  readonly maxDurationMs: number;
  /** Address of the media stream, with its single-use token: `wss`, or `ws` on loopback. */
  readonly streamUrl: string;
  /** Report address; includes our id. */
  readonly statusUrl: string;
  /** Whether to have the carrier detect who answered, where it can. */
  readonly detectMachine: boolean;
}

/** What identifies a possibly placed call. */
export interface SoughtDial extends Pick<DialOrder, 'callId' | 'from'> {
  readonly to: string;
}

/** A carrier's answer about an order whose outcome is unknown. */
export type FoundDial =
  | { readonly found: 'placed'; readonly carrierCallId: string; readonly progress: DialProgress }
  /** There is no such call, and none will follow. */
  | { readonly found: 'not-placed' }
  /** Not known, or not yet. */
  | { readonly found: 'unknown' };

/** How a carrier dials. */
export interface DialCapabilities {
  /** Default limit of new calls a second for an account. */
  readonly callsPerSecond: number;
  /** Whether the carrier detects who answered. */
  readonly detectsMachines: boolean;
  /** Whether an order without an answer can be looked up. */
  readonly canFind: boolean;
}

/** Places calls at a carrier. Only for the dialler, after the dial gate's approval. */
export interface Dialling {
  readonly capabilities: DialCapabilities;
  /**
   * Places a call. Asks once, and never repeats.
   * @returns the carrier's call id, once it has accepted the order
   * @throws CarrierControlError when the call was certainly not placed; DialUnknownError when that is not known
   */
  dial(order: DialOrder, signal: AbortSignal): Promise<{ readonly carrierCallId: string }>;
  /**
   * Looks for a call that `dial` may have placed.
   * @param askedAtMs wall time of the order
   * @throws CarrierControlError when the carrier cannot be asked
   */
  find(order: SoughtDial, askedAtMs: number, signal: AbortSignal): Promise<FoundDial>;
  /** Asks for a call's progress, when its reports were missed. @throws CarrierControlError */
  progressOf(carrierCallId: string, signal: AbortSignal): Promise<DialProgress | undefined>;
}

/** Acts on a call at its carrier, beside its media. */
export interface CallControl {
  /** The call continues at the carrier, in silence, after its media stream: only `hangUp` ends it. */
  readonly outlivesStream?: true;
  /** The operator's own flow (a dialplan, the next applet) has the call after we close its stream: a bot's hang-up does only that. */
  readonly flowGoesOn?: true;
  /** Undefined where the carrier places no calls. */
  readonly dialling?: Dialling | undefined;
  /**
   * Makes a harmless request for the account (a list of one call), with which `offhook doctor` checks credentials and clocks. Undefined where every
   * request acts or is about one call.
   * @returns the carrier's wall clock, from its answer (`RestAnswer.atWallMs`)
   * @throws CarrierControlError
   */
  check?(signal: AbortSignal): Promise<{ readonly carrierWallMs: number }>;
  /** Ends the call. @throws CarrierControlError */
  hangUp(carrierCallId: string, signal: AbortSignal): Promise<void>;
  /**
   * Transfers the caller (cold); the media stream ends.
   * @param to a number in E.164 form, or a `sip:` address
   * @throws CarrierControlError
   */
  transfer(carrierCallId: string, to: AllowedTarget, signal: AbortSignal): Promise<void>;
  /**
   * Presses keys at the far end. Resolves when they are handed over; never repeats.
   * @param digits 0-9, * and #; `w` waits half a second
   * @throws CarrierControlError
   */
  sendDigits(carrierCallId: string, digits: string, signal: AbortSignal): Promise<void>;
  /**
   * Joins two calls of this account that both have a media stream of ours (the end of a warm transfer). Both streams end; the parties talk until one
   * hangs up. Undefined where the carrier cannot: the gateway then bridges the audio.
   * @throws CarrierControlError when they were not joined: both streams go on, or the other call was ended
   */
  join?(carrierCallId: string, otherCarrierCallId: string, signal: AbortSignal): Promise<void>;
  /**
   * Has the carrier send a copy of both sides of a live call (`listen`), which continues unchanged. Undefined where only the call's own document can
   * start that. @param streamUrl with its single-use token
   * @throws CarrierControlError
   */
  fork?(carrierCallId: string, streamUrl: string, signal: AbortSignal): Promise<void>;
}
