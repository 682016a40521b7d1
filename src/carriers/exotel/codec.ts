import { bytesPerSample, type WireFormat } from '../../audio/format.ts';
import { JsonCodec, sendBase64 } from '../json-codec.ts';
import type { FieldPath, JsonDialect } from '../json-dialect.ts';
import type { MediaCodec, MessageSink, WireEvent } from '../media-codec.ts';
import type { CarrierCapabilities } from '../port.ts';

/** Rates for the query parameter `sample-rate` of a media address. */
export const RATES_HZ = [8_000, 16_000, 24_000] as const;
/** After audio of any other length the carrier waits 20 ms, an audible gap. */
export const CHUNK_UNIT_BYTES = 320;

export interface ExotelWire {
  /** Rate requested by `sample-rate`. A start with another rate is followed, and logged. */
  readonly rateHz: number;
  /** Bytes of one message of audio, a multiple of `CHUNK_UNIT_BYTES`; rounded up to whole frames. */
  readonly chunkBytes: number;
}

/** A field in both of the carrier's spellings. */
const both = (...names: readonly string[]): FieldPath[] => [names, names.map(camelCase)];
/** A field of the start message, which some messages have at their root. */
const ofStart = (...names: readonly string[]): FieldPath[] => [...both('start', ...names), ...both(...names)];

/**
 * AgentStream's messages (developer.exotel.com/docs/agentstream/websocket-protocol). The documents use snake_case and numbers as text; the carrier's
 * own samples (github.com/exotel/Agent-Stream) also use camelCase, `Event` and `closed`, and say that names vary by applet. All are accepted.
 */
function dialectAt(rateHz: number): JsonDialect {
  return {
    eventKey: 'event',
    otherEventKey: 'Event',
    events: {
      connected: 'connected',
      start: 'start',
      media: 'audio',
      dtmf: 'digit',
      mark: 'mark',
      stop: 'stop',
      closed: 'stop',
    },
    start: {
      streamId: ofStart('stream_sid'),
      callId: ofStart('call_sid'),
      parameters: ofStart('custom_parameters'),
      call: { from: ofStart('from'), to: ofStart('to'), direction: ofStart('direction') },
      encoding: ofStart('media_format', 'encoding'),
      rateHz: ofStart('media_format', 'sample_rate'),
      channels: ofStart('media_format', 'channels'),
      // AgentStream is linear; the older Voicebot extension and ExoML may be mu-law. Linear audio has many names (`audio/x-raw`, `raw`, `base64`,
      // none), so any other name means linear.
      encodings: {
        'audio/x-mulaw': 'mulaw',
        'audio/mulaw': 'mulaw',
        'audio/pcmu': 'mulaw',
        'x-mulaw': 'mulaw',
        mulaw: 'mulaw',
        ulaw: 'mulaw',
        pcmu: 'mulaw',
      },
      otherEncoding: 'pcm16',
      ratesHz: RATES_HZ,
      format: { encoding: 'pcm16', rateHz },
    },
    audio: {
      payload: ['media', 'payload'],
      timestampMs: ['media', 'timestamp'],
      // Only an older guide documents tracks.
      track: ['media', 'track'],
      callerTracks: ['inbound', 'inbound_track'],
    },
    digit: ['dtmf', 'digit'],
    markName: ['mark', 'name'],
    stopReason: ['stop', 'reason'],
    // `ExotelCodec` writes the messages itself, as they are numbered.
    send: { audio: () => ['', ''], mark: () => '', clear: () => '' },
  };
}

/** The media protocol of one socket. Replies use the casing of the start message. */
export class ExotelCodec implements MediaCodec {
  readonly #json: JsonCodec;
  readonly #wire: ExotelWire;
  #isCamel = false;
  #streamId = '';
  #bytesPerMs = 1;
  /** Counts all our messages, and those with audio. */
  #sequence = 0;
  #chunk = 0;
  #sentMs = 0;

  constructor(wire: ExotelWire) {
    this.#wire = wire;
    this.#json = new JsonCodec(dialectAt(wire.rateHz));
  }

  read(message: Buffer, isBinary: boolean): WireEvent {
    const event = this.#json.read(message, isBinary);
    if (event.type !== 'started') return event;
    const { inbound: format, streamId } = event;
    this.#streamId = streamId;
    this.#isCamel = !message.includes('"stream_sid"');
    this.#bytesPerMs = bytesPerMs(format);
    const { rateHz } = this.#wire;
    const mismatch =
      format.rateHz === rateHz
        ? undefined
        : `start has ${format.rateHz} Hz, and exotel.sampleRateHz is ${rateHz}; the media address asks for it by ?sample-rate=`;
    return { ...event, capabilities: framesOf(format, this.#wire.chunkBytes), mismatch };
  }

  /** All fields are text. Some streams end early without the timestamp and the sequence number (Agent-Stream, `_shared/media.py`). */
  audio(payload: Uint8Array, to: MessageSink): void {
    this.#chunk += 1;
    const timestamp = Math.round(this.#sentMs);
    this.#sentMs += payload.length / this.#bytesPerMs;
    const head = this.#head('media').slice(0, -1);
    // The carrier's own camelCase sample puts the sequence number inside.
    const inner = this.#isCamel ? `"sequenceNumber":"${this.#sequence}",` : '';
    const before = Buffer.from(`${head},"media":{"chunk":"${this.#chunk}","timestamp":"${timestamp}",${inner}"payload":"`);
    sendBase64(before, payload, AFTER, to);
  }

  mark(name: string, to: MessageSink): void {
    to.sendText(`${this.#head('mark').slice(0, -1)},"mark":${JSON.stringify({ name })}}`);
  }

  clear(to: MessageSink): void {
    to.sendText(this.#head('clear'));
  }

  /** A message without a body. */
  #head(event: 'media' | 'mark' | 'clear'): string {
    this.#sequence += 1;
    const sequence = String(this.#sequence);
    return this.#isCamel
      ? JSON.stringify({ event, sequenceNumber: sequence, streamSid: this.#streamId })
      : JSON.stringify({ event, sequence_number: sequence, stream_sid: this.#streamId });
  }
}

const AFTER = Buffer.from('"}}');

/** Frames in multiples of the unit, and messages of the configured length. */
function framesOf(format: WireFormat, chunkBytes: number): Partial<CarrierCapabilities> {
  const perMs = bytesPerMs(format);
  const frameMs = (20 * perMs) % CHUNK_UNIT_BYTES === 0 ? 20 : 40;
  return { frameMs, messageMs: Math.ceil(chunkBytes / (frameMs * perMs)) * frameMs };
}

function bytesPerMs({ encoding, rateHz }: WireFormat): number {
  return (bytesPerSample(encoding) * rateHz) / 1000;
}

function camelCase(name: string): string {
  return name.replaceAll(/_([a-z])/gu, (_, letter: string) => letter.toUpperCase());
}
