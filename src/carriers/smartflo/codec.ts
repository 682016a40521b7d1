import { JsonCodec, sendBase64 } from '../json-codec.ts';
import type { JsonDialect } from '../json-dialect.ts';
import type { MediaCodec, MessageSink, WireEvent } from '../media-codec.ts';
import type { CarrierCapabilities } from '../port.ts';
import { twilioDialect } from '../twilio/dialect.ts';

export const smartfloCapabilities: CarrierCapabilities = {
  clear: 'native',
  marks: 'native',
  // Undocumented; either way is handled, as mark names hold the generation.
  marksReturnOnClear: 'unknown',
  pacing: 'burst',
  // 160 bytes of mu-law: any other length leaves gaps.
  frameMs: 20,
  // Keys are sent as tones in our audio; there is no other way.
  dtmfOut: 'inband',
};

/**
 * The bidirectional audio streaming of Tata Tele Smartflo, Acefone and Astradial (docs.smartflo.tatatelebusiness.com and docs.acefone.in,
 * "Bi-Directional Audio Streaming Integration Document"; docs.astradial.com/integrations/audio-streaming): Twilio's messages without a
 * protocol version and without tracks.
 */
const dialect: JsonDialect = {
  ...twilioDialect,
  start: {
    ...twilioDialect.start,
    callId: [['start', 'callSid'], ['callSid']],
    // Astradial has the numbers at the root.
    call: {
      from: [['start', 'from'], ['from']],
      to: [['start', 'to'], ['to']],
      direction: [['start', 'direction'], ['direction']],
    },
    // The documents have mu-law; Acefone can be set to linear samples (`slin16`), whose wire name is undocumented.
    encodings: {
      'audio/x-mulaw': 'mulaw',
      mulaw: 'mulaw',
      ulaw: 'mulaw',
      pcmu: 'mulaw',
      'audio/x-l16': 'pcm16',
      'audio/l16': 'pcm16',
      slin16: 'pcm16',
      slin: 'pcm16',
      pcm: 'pcm16',
    },
    ratesHz: [8_000, 16_000],
  },
  audio: { ...twilioDialect.audio, otherTracks: [] },
  // `SmartfloCodec` numbers its messages itself.
  send: { ...twilioDialect.send, audio: () => ['', ''] },
};

const AFTER = Buffer.from('"}}');

/** The media protocol of one socket. */
export class SmartfloCodec implements MediaCodec {
  readonly #json = new JsonCodec(dialect);
  readonly #hasEnd: boolean;
  #chunk = 0;

  /** @param hasEnd whether a message of ours ends the call */
  constructor(hasEnd: boolean) {
    this.#hasEnd = hasEnd;
  }

  read(message: Buffer, isBinary: boolean): WireEvent {
    return this.#json.read(message, isBinary);
  }

  audio(payload: Uint8Array, to: MessageSink): void {
    this.#chunk += 1;
    const head = JSON.stringify({ event: 'media', streamSid: this.#json.named.streamId }).slice(0, -1);
    sendBase64(Buffer.from(`${head},"media":{"chunk":${this.#chunk},"payload":"`), payload, AFTER, to);
  }

  mark(name: string, to: MessageSink): void {
    this.#json.mark(name, to);
  }

  clear(to: MessageSink): void {
    this.#json.clear(to);
  }

  /** Ends the call (pipecat-acefone 0.1.3, `auto_hang_up`). The effect of closing the socket without it is undocumented. */
  goodbye(_reason: string, to: MessageSink): 'close' {
    const { streamId: streamSid, callId } = this.#json.named;
    if (this.#hasEnd && streamSid !== '') to.sendText(JSON.stringify({ event: 'end', streamSid, call_sid: callId }));
    return 'close';
  }
}
