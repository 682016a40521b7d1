import { idleByte } from '../../audio/format.ts';
import type { MediaCodec, MessageSink, WireEvent } from '../media-codec.ts';
import type { TcpFraming } from '../tcp-connection.ts';

/*
 * Asterisk's AudioSocket (docs.asterisk.org, "AudioSocket"; res_audiosocket.h; checked against Asterisk 22.10.1): messages of one byte of kind, two bytes of
 * length (big-endian) and a payload, over TCP. Asterisk is the client. Linear samples, little-endian, 20 ms each.
 */

const HEAD_BYTES = 3;
export const FRAME_MS = 20;
const HANG_UP = 0x00;
const UUID = 0x01;
const DIGIT = 0x03;
const ERROR = 0xff;
/** Sample rate by message kind. Asterisk also has 12, 32, 44.1, 96 and 192 kHz. */
const RATES_HZ: Readonly<Record<number, number>> = { 0x10: 8_000, 0x12: 16_000, 0x13: 24_000, 0x16: 48_000 };
const isAudio = (kind: number): boolean => kind >= 0x10 && kind <= 0x18;

const silence = Buffer.alloc(HEAD_BYTES + 320, idleByte('pcm16'));
silence[0] = 0x10;
silence.writeUInt16BE(320, 1);

export const framing: TcpFraming = {
  headBytes: HEAD_BYTES,
  lengthOf([kind = 0, high = 0, low = 0]) {
    const isKnown = kind === HANG_UP || kind === UUID || kind === DIGIT || kind === ERROR || isAudio(kind);
    return isKnown ? HEAD_BYTES + high * 256 + low : undefined;
  },
  // Asterisk ends a call after two seconds without audio from either side, and older versions wait for the first message (asterisk issue 2089).
  idle: { afterMs: 1_000, message: silence },
};

/** @returns the text form of the UUID that a connection begins with; undefined for another message */
export function uuidOf(message: Uint8Array): string | undefined {
  if (message[0] !== UUID || message.length !== HEAD_BYTES + 16) return undefined;
  const hex = Buffer.from(message.subarray(HEAD_BYTES)).toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

export class AudioSocketCodec implements MediaCodec {
  #uuid: string | undefined;
  /** Message kind of audio in both directions; undefined before the first. */
  #audio: number | undefined;
  #frameBytes = 0;

  /** @param message one complete message with its head */
  read(message: Buffer): WireEvent {
    const kind = message[0] ?? HANG_UP;
    const payload = message.subarray(HEAD_BYTES);
    if (kind === UUID) return this.#named(message);
    if (this.#uuid === undefined) return { type: 'rejected', problem: 'a message before the UUID', fatal: true };
    if (isAudio(kind)) return this.#heard(kind, payload);
    switch (kind) {
      case DIGIT: {
        const digit = payload.toString('latin1').toUpperCase();
        if (!/^[0-9*#A-D]$/u.test(digit)) return { type: 'rejected', problem: 'digit is not one of 0 to 9, *, #, A to D' };
        return { type: 'digit', digit };
      }
      case HANG_UP:
        return { type: 'stopped', reason: 'hang-up' };
      case ERROR:
        return { type: 'rejected', problem: `Asterisk reports error ${payload.toString('hex').slice(0, 8)}` };
      default:
        return { type: 'ignored', name: `kind ${kind}` };
    }
  }

  audio(payload: Uint8Array, to: MessageSink): void {
    for (let at = 0; at < payload.length; at += this.#frameBytes) {
      const frame = to.room(HEAD_BYTES + this.#frameBytes);
      frame[0] = this.#audio ?? 0;
      frame[1] = this.#frameBytes >> 8;
      frame[2] = this.#frameBytes & 0xff;
      frame.set(payload.subarray(at, at + this.#frameBytes), HEAD_BYTES);
      to.send('binary', HEAD_BYTES + this.#frameBytes);
    }
  }

  /** AudioSocket has no marks. */
  mark(): void {}

  /** AudioSocket cannot clear. */
  clear(): void {}

  /** The dialplan continues after AudioSocket, without an error in Asterisk's log. */
  goodbye(_reason: string, to: MessageSink): 'close' {
    to.room(HEAD_BYTES).fill(HANG_UP);
    to.send('binary', HEAD_BYTES);
    return 'close';
  }

  #named(message: Buffer): WireEvent {
    if (this.#uuid !== undefined)
      return { type: 'rejected', problem: 'second UUID on one connection; the first one stays in force' };
    const uuid = uuidOf(message);
    if (uuid === undefined) return { type: 'rejected', problem: 'the first message has no UUID of 16 bytes', fatal: true };
    this.#uuid = uuid;
    return { type: 'connected' };
  }

  /** The first audio shows the channel's rate. */
  #heard(kind: number, payload: Buffer): WireEvent {
    const fatal = this.#audio === undefined ? ({ fatal: true } as const) : {};
    const rateHz = RATES_HZ[kind];
    if (rateHz === undefined || (this.#audio ?? kind) !== kind) {
      const problem = `audio of kind 0x${kind.toString(16)}; accepted are 8, 16, 24 and 48 kHz (0x10, 0x12, 0x13, 0x16), one in a call`;
      return { type: 'rejected', problem, ...fatal };
    }
    const frameBytes = (rateHz / 1000) * FRAME_MS * 2;
    // A channel with a non-linear codec sends its raw bytes under the kind of 8 kHz linear audio.
    if (payload.length * 2 === frameBytes || payload.length % 2 !== 0 || payload.length === 0) {
      const problem = `${payload.length} bytes of audio in place of ${frameBytes}: the channel is not linear; Dial(AudioSocket/…/c(slin)) makes it so`;
      return { type: 'rejected', problem, ...fatal };
    }
    if (this.#audio !== undefined) return { type: 'audio', payload, timestampMs: undefined };
    this.#audio = kind;
    this.#frameBytes = frameBytes;
    const format = { encoding: 'pcm16', rateHz } as const;
    const streamId = this.#uuid ?? '';
    // The request for the UUID named the call.
    return { type: 'started', streamId, carrierCallId: undefined, inbound: format, outbound: format, parameters: {} };
  }
}
