import type { MediaTrack, StreamStarted } from './port.ts';

/** Longest accepted message; the socket enforces the same. */
export const maxMessageBytes = 65_536;

/** Result of one message of a carrier's media protocol. */
export type WireEvent =
  | { readonly type: 'connected' }
  /** Only a sign of life. */
  | { readonly type: 'alive' }
  /** Has no call where the carrier does not name it: the socket's token must. */
  | (Omit<StreamStarted, 'carrierCallId'> & {
      readonly carrierCallId: string | undefined;
      /** Differences between start and configuration, for the log; the start is followed. */
      readonly mismatch?: string | undefined;
    })
  /**
   * Caller audio in the stream's inbound format. `payload` is lent: valid until the next message of any socket is read. `timestampMs` is the
   * carrier's presentation time since stream start.
   */
  | {
      readonly type: 'audio';
      readonly payload: Uint8Array;
      readonly timestampMs: number | undefined;
      /** Which side, where the stream has both sides of a call between people. */
      readonly track?: MediaTrack | undefined;
      /** The other side's audio of the same time, where one message has both. Of equal length, and lent as well. */
      readonly other?: Uint8Array | undefined;
    }
  | { readonly type: 'digit'; readonly digit: string }
  | { readonly type: 'mark'; readonly name: string }
  | { readonly type: 'stopped'; readonly reason: string }
  /** Instead of a start: the carrier tests the connection, without a call. */
  | { readonly type: 'probe' }
  /**
   * An unusable message. `problem` says what was wrong and what is accepted; `fatal`: the stream can never start, and the socket should be closed.
   */
  | { readonly type: 'rejected'; readonly problem: string; readonly fatal?: true }
  /** A message of an unneeded kind. */
  | { readonly type: 'ignored'; readonly name: string };

/** Output for messages, such as `kernel/websocket/lent-writes.ts`. Nothing else may happen between `room` and `send`. */
export interface MessageSink {
  /** A buffer of this length, lent until `send`. */
  room(length: number): Uint8Array;
  /** Sends the complete buffer. */
  send(kind: 'text' | 'binary', length: number): void;
  sendText(text: string): void;
}

/**
 * One socket's media protocol: turns messages into events, and audio, marks, clears and keys into messages. Holds its stream's state, so each socket
 * has its own. `json-codec.ts` implements it by tables; binary protocols have their own.
 */
export interface MediaCodec {
  /**
   * Reads one complete message. Never throws: an unusable message is `rejected`, and the next is read normally.
   * @param reply takes messages the protocol requires in answer (Genesys' `opened` and `pong`)
   */
  read(message: Buffer, isBinary: boolean, reply: MessageSink): WireEvent;
  /** @param payload in the stream's outbound format, whole frames of the carrier's `frameMs`; not kept */
  audio(payload: Uint8Array, to: MessageSink): void;
  mark(name: string, to: MessageSink): void;
  clear(to: MessageSink): void;
  /** Asks the other end for a sign of life, instead of a WebSocket ping. */
  ping?(to: MessageSink): void;
  /** Where `dtmfOut` is `message`. @param digits 0-9, * and # */
  digits?(digits: string, to: MessageSink): void;
  /** Where `transfer` is `message`. @param callee a number in E.164 form, or a `sip:` address */
  transfer?(callee: string, to: MessageSink): void;
  /**
   * Sends what must precede our close.
   * @param isRefusal the socket has no call: its start is unusable, or its call is refused
   * @returns `wait` where the other end closes the socket; after a time limit we do
   */
  goodbye?(reason: string, to: MessageSink, isRefusal?: boolean): 'close' | 'wait';
}
