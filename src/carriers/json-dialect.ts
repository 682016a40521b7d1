import type { WireEncoding, WireFormat } from '../audio/format.ts';

/** Where a value lies in a message, from the root: `['start', 'callSid']`. */
export type FieldPath = readonly string[];

/** What a carrier's event name means to us. */
export type JsonEventKind = 'connected' | 'start' | 'audio' | 'digit' | 'mark' | 'stop' | 'error' | 'alive';

/**
 * One carrier's JSON-over-WebSocket protocol as a table. The engine in `json-codec.ts` reads and writes by it; a carrier of this
 * family needs no codec of its own. Several paths for a field mean: the first that is there.
 */
export interface JsonDialect {
  /** The key whose value names the event. */
  readonly eventKey: string;
  /** How some messages of the carrier write that key. */
  readonly otherEventKey?: string;
  readonly events: Readonly<Record<string, JsonEventKind>>;
  readonly start: {
    readonly streamId: readonly FieldPath[];
    readonly callId: readonly FieldPath[];
    readonly parameters: readonly FieldPath[];
    /** Who calls whom, where the start says it; `direction` is one that begins with `out`, else the call came in. */
    readonly call?: {
      readonly from: readonly FieldPath[];
      readonly to: readonly FieldPath[];
      readonly direction: readonly FieldPath[];
    };
    readonly encoding: readonly FieldPath[];
    readonly rateHz: readonly FieldPath[];
    readonly channels: readonly FieldPath[];
    /** Names of encodings on the wire, in lower case and without what follows a semicolon. */
    readonly encodings: Readonly<Record<string, WireEncoding>>;
    /** What a name that is not among them means; refused where absent. */
    readonly otherEncoding?: WireEncoding;
    readonly ratesHz: readonly number[];
    /** What a start message that names no format means. */
    readonly format: WireFormat;
    /** What is sent to a stream whose audio comes in this format; the same where absent. */
    outbound?(inbound: WireFormat): WireFormat;
  };
  readonly audio: {
    /** Base64 of raw audio, no header. */
    readonly payload: FieldPath;
    readonly timestampMs: FieldPath;
    /** Counts the frames of a track by ones, for a carrier that may send them out of order. */
    readonly order?: FieldPath;
    readonly track: FieldPath;
    /** Tracks that are the caller, … */
    readonly callerTracks: readonly string[];
    /** … and those that are whoever the caller talks to, of a call that is only listened to. Audio of another named track is dropped. */
    readonly otherTracks?: readonly string[];
  };
  readonly digit: FieldPath;
  readonly markName: FieldPath;
  readonly stopReason: FieldPath;
  /** What an error message says of a message of ours, in as many parts as there are. */
  readonly errorText?: readonly FieldPath[];
  readonly send: {
    /** What stands before and after the base64 text of an audio message. */
    audio(streamId: string, format: WireFormat): readonly [before: string, after: string];
    /** Where the carrier has marks. */
    mark?(streamId: string, name: string): string;
    clear(streamId: string): string;
    /** Where `dtmfOut` is `message`: 0-9, * and #. */
    digits?(streamId: string, digits: string): string | readonly string[];
    /** What ends the stream, where the carrier has a message for it: the carrier closes the socket then. */
    goodbye?(streamId: string): string;
  };
}
