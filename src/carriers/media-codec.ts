import type { MediaTrack, StreamStarted } from './port.ts';

/** Longest message that is looked at; the socket enforces the same. */
export const maxMessageBytes = 65_536;

/** What one message of a carrier's media protocol gave. */
export type WireEvent =
  | { readonly type: 'connected' }
  /** Nothing but a sign of life. */
  | { readonly type: 'alive' }
  /** Without a call where the carrier does not say which one it is: the socket's token has to. */
  | (Omit<StreamStarted, 'carrierCallId'> & {
      readonly carrierCallId: string | undefined;
      /** What of the start is not as it was configured, for the log: the stream goes on as the start has it. */
      readonly mismatch?: string | undefined;
    })
  /**
   * Caller audio in the stream's inbound format. `payload` is lent: valid until the next message of any socket is read.
   * `timestampMs` is the carrier's presentation time since stream start.
   */
  | {
      readonly type: 'audio';
      readonly payload: Uint8Array;
      readonly timestampMs: number | undefined;
      /** Whose it is, where the stream has both sides of a call between people. */
      readonly track?: MediaTrack | undefined;
      /** The other side's audio of the same time, where one message has both. As long, lent as well. */
      readonly other?: Uint8Array | undefined;
    }
  | { readonly type: 'digit'; readonly digit: string }
  | { readonly type: 'mark'; readonly name: string }
  | { readonly type: 'stopped'; readonly reason: string }
  /** In place of a start: the carrier tries the connection, and no call comes. */
  | { readonly type: 'probe' }
  /**
   * A message that could not be used. `problem` says what was wrong and what is accepted; `fatal`: the stream can never
   * start after this, and the socket should be closed.
   */
  | { readonly type: 'rejected'; readonly problem: string; readonly fatal?: true }
  /** A message of a kind we have no use for. */
  | { readonly type: 'ignored'; readonly name: string };

/** Where messages go; `kernel/websocket/lent-writes.ts` fits. Nothing else may happen between `room` and `send`. */
export interface MessageSink {
  /** Memory for a message of this length, lent until `send`. */
  room(length: number): Uint8Array;
  /** Sends what was put into the room, all of it. */
  send(kind: 'text' | 'binary', length: number): void;
  sendText(text: string): void;
}

/**
 * One socket's media protocol: messages to events, and audio, marks, clears and keys to messages. A table of JSON messages
 * (`json-codec.ts`) and a protocol of binary frames are both one. It keeps the state of its stream, so each socket has its own.
 */
export interface MediaCodec {
  /**
   * Reads one whole message. Never throws: what cannot be used is `rejected`, and the next message is read as if nothing had been.
   * @param reply what the protocol has to be answered with at once (Genesys' `opened` and `pong`) goes here
   */
  read(message: Buffer, isBinary: boolean, reply: MessageSink): WireEvent;
  /** @param payload in the stream's outbound format, whole frames of the carrier's `frameMs`; not kept */
  audio(payload: Uint8Array, to: MessageSink): void;
  mark(name: string, to: MessageSink): void;
  clear(to: MessageSink): void;
  /** Asks the other end for a sign of life, in place of a WebSocket ping. */
  ping?(to: MessageSink): void;
  /** Where `dtmfOut` is `message`. @param digits 0-9, * and # */
  digits?(digits: string, to: MessageSink): void;
  /** Where `transfer` is `message`. @param callee a number in E.164 form, or a `sip:` address */
  transfer?(callee: string, to: MessageSink): void;
  /**
   * What is sent before we close.
   * @param isRefusal no call comes of this socket: its start cannot be used, or its call is not taken
   * @returns `wait` where the other end closes the socket then; it is closed by us if that takes too long
   */
  goodbye?(reason: string, to: MessageSink, isRefusal?: boolean): 'close' | 'wait';
}
