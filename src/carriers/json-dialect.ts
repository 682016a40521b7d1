import type { WireEncoding, WireFormat } from '../audio/format.ts';

/** Path of a value in a message, from the root: `['start', 'callSid']`. */
export type FieldPath = readonly string[];

/** Our meaning of a carrier's event name. */
export type JsonEventKind = 'connected' | 'start' | 'audio' | 'digit' | 'mark' | 'stop' | 'error' | 'alive';

/**
 * One carrier's JSON-over-WebSocket protocol as a table for `json-codec.ts`; a carrier of this family needs no codec of its own. Where a field has
 * several paths, the first present one counts.
 */
export interface JsonDialect {
  /** Key of the event's name. */
  readonly eventKey: string;
  /** Another spelling of that key in some messages. */
  readonly otherEventKey?: string;
  readonly events: Readonly<Record<string, JsonEventKind>>;
  readonly start: {
    readonly streamId: readonly FieldPath[];
    readonly callId: readonly FieldPath[];
    readonly parameters: readonly FieldPath[];
    /** The call's numbers, where the start has them; any `direction` not beginning with `out` is inbound. */
    readonly call?: {
      readonly from: readonly FieldPath[];
      readonly to: readonly FieldPath[];
      readonly direction: readonly FieldPath[];
    };
    readonly encoding: readonly FieldPath[];
    readonly rateHz: readonly FieldPath[];
    readonly channels: readonly FieldPath[];
    /** Encoding names on the wire, in lower case and without parameters after a semicolon. */
    readonly encodings: Readonly<Record<string, WireEncoding>>;
    /** Meaning of any other name; refused where absent. */
    readonly otherEncoding?: WireEncoding;
    readonly ratesHz: readonly number[];
    /** Format of a start message that names none. */
    readonly format: WireFormat;
    /** Outbound format for this inbound one; the same where absent. */
    outbound?(inbound: WireFormat): WireFormat;
  };
  readonly audio: {
    /** Raw audio in base64, without a header. */
    readonly payload: FieldPath;
    readonly timestampMs: FieldPath;
    /** Frame counter of a track, for a carrier that may send frames out of order. */
    readonly order?: FieldPath;
    readonly track: FieldPath;
    /** Names of the caller's tracks, … */
    readonly callerTracks: readonly string[];
    /** … and of the other party's, for a call that is only listened to. Other named tracks are dropped. */
    readonly otherTracks?: readonly string[];
  };
  readonly digit: FieldPath;
  readonly markName: FieldPath;
  readonly stopReason: FieldPath;
  /** Parts of an error message's text. */
  readonly errorText?: readonly FieldPath[];
  readonly send: {
    /** Text before and after an audio message's base64. */
    audio(streamId: string, format: WireFormat): readonly [before: string, after: string];
    /** Where the carrier has marks. */
    mark?(streamId: string, name: string): string;
    clear(streamId: string): string;
    /** Where `dtmfOut` is `message`: 0-9, * and #. */
    digits?(streamId: string, digits: string): string | readonly string[];
    /** Message that ends the stream, after which the carrier closes the socket. */
    goodbye?(streamId: string): string;
  };
}
