import { z } from 'zod';
import { decodeAudio, encodeAudio } from '../../audio/codec.ts';
import { type AudioFormat, type Encoding, TELEPHONE_FORMAT } from '../../audio/format.ts';
import { Resampler } from '../../audio/resample.ts';
import { SpeechFailedError, SpeechProtocolError } from '../client/errors.ts';
import type { MaskSecret } from '../../kernel/mask-secret.ts';
import { notRawAudio, shownHead } from './whole-audio.ts';

type Chunk = Extract<SynthesisEvent, { type: 'chunk' }>;

/** Result of a message: audio in the requested format, the end, or nothing. */
export type Heard = { readonly audio?: Uint8Array; readonly done: boolean };

const NOTHING: Heard = { done: false };

/**
 * The protocol of one synthesis, without the socket (TTS doc, "Events"). Chunks come in pairs, a JSON message and then its audio, and
 * end with a completion; any other order is an error.
 */
export class SynthesisProtocol {
  readonly #wanted: AudioFormat;
  readonly #mask: MaskSecret;
  #expected: Chunk | undefined;
  #chunks = 0;
  #requestId: string | undefined;
  #stream: { readonly format: string; readonly recoded: RecodeStream } | undefined;

  /**
   * @param wanted format of the audio; other formats are converted
   * @param mask masks the credential in the platform's texts
   */
  constructor(wanted = TELEPHONE_FORMAT, mask: MaskSecret = (text) => text) {
    this.#wanted = wanted;
    this.#mask = mask;
  }

  /** @throws SpeechProtocolError; SpeechFailedError for a failure that the platform reports */
  text(frame: string): Heard {
    const event = readSynthesisEvent(frame);
    if (event === undefined) throw this.#broken('a text frame that is not a JSON message');
    switch (event.type) {
      case 'chunk':
        this.#chunk(event);
        return NOTHING;
      case 'completion':
        return this.#complete(event.totalChunks);
      case 'error':
        throw new SpeechFailedError(`synthesis: ${this.#mask(event.error)}`, { requestId: this.#maskedId(event.requestId) });
      case 'ignored':
        return NOTHING;
    }
  }

  /** @throws SpeechProtocolError for unannounced audio, or audio of another format */
  binary(bytes: Uint8Array): Heard {
    const chunk = this.#expected;
    if (chunk === undefined) throw this.#broken('audio without a chunk message');
    this.#expected = undefined;
    if (this.#chunks === 0) this.#checkHead(bytes);
    this.#chunks += 1;
    const encoding = chunk.format === undefined ? this.#wanted.encoding : encodingOf(chunk.format);
    if (encoding === undefined) throw this.#broken(`audio as ${chunk.format} where ${this.#wanted.encoding} was asked`);
    // G.711 has one rate; the rate of PCM must be stated.
    const rateHz = chunk.rateHz ?? (encoding === 'pcm16' ? 0 : 8_000);
    if (rateHz < 1_000 || rateHz > 192_000) throw this.#broken(`audio at ${rateHz} Hz`);
    const format = `${encoding} ${rateHz}`;
    const owed = this.#stream === undefined || this.#stream.format === format ? undefined : this.#stream.recoded.flush();
    if (this.#stream?.format !== format) this.#stream = { format, recoded: new RecodeStream({ encoding, rateHz }, this.#wanted) };
    const audio = this.#stream.recoded.push(bytes);
    return { audio: owed === undefined ? audio : Buffer.concat([owed, audio]), done: false };
  }

  #chunk(chunk: Chunk): void {
    if (this.#expected !== undefined) throw this.#broken('a chunk message without the audio of the one before');
    if (chunk.index !== undefined && chunk.index !== this.#chunks)
      throw this.#broken(`chunk ${chunk.index} where ${this.#chunks} was due`);
    if (this.#requestId !== undefined && chunk.requestId !== undefined && chunk.requestId !== this.#requestId)
      throw this.#broken('a chunk of another request');
    this.#requestId ??= chunk.requestId;
    this.#expected = chunk;
  }

  /** Rejects text or a file with a header in place of samples: a caller would hear noise. */
  #checkHead(bytes: Uint8Array): void {
    const wrong = notRawAudio(bytes);
    if (wrong === undefined) return;
    throw this.#broken(`${wrong} where audio was due, which begins ${shownHead(bytes.subarray(0, 500), this.#mask)}`);
  }

  /** Ends the synthesis, with the resampler's last samples. */
  #complete(totalChunks: number | undefined): Heard {
    if (this.#expected !== undefined) throw this.#broken('a completion where audio was due');
    if (totalChunks !== undefined && totalChunks !== this.#chunks)
      throw this.#broken(`${this.#chunks} chunks where ${totalChunks} are counted`);
    return { audio: this.#stream?.recoded.flush() ?? new Uint8Array(), done: true };
  }

  #broken(what: string): SpeechProtocolError {
    return new SpeechProtocolError(`the synthesizer sent ${this.#mask(what)}`, { requestId: this.#maskedId() });
  }

  #maskedId(requestId = this.#requestId): string | undefined {
    return requestId === undefined ? undefined : this.#mask(requestId);
  }
}

const words = z.string().nullish().catch(undefined);
const wireEvent = z.looseObject({
  type: z.string(),
  request_id: words,
  // Strict: without a valid index or count the order is unknown.
  chunk_index: z.number().int().optional(),
  format: z.string().optional(),
  sample_rate: z.number().int().positive().optional(),
  total_chunks: z.number().int().nonnegative().optional(),
  error: z
    .union([z.string(), z.looseObject({ message: z.string().optional() })])
    .nullish()
    .catch(undefined),
  message: words,
  error_message: words,
  status: words,
});

/** A JSON message of the synthesizer (TTS doc, "Events"). */
export type SynthesisEvent =
  | {
      readonly type: 'chunk';
      readonly index: number | undefined;
      readonly format: string | undefined;
      readonly rateHz: number | undefined;
      readonly requestId: string | undefined;
    }
  | { readonly type: 'completion'; readonly totalChunks: number | undefined }
  | { readonly type: 'error'; readonly error: string; readonly requestId: string | undefined }
  | { readonly type: 'ignored' };

/** @returns undefined for a frame that is not a JSON object with a type, or with an unreadable order or format */
export function readSynthesisEvent(frame: string): SynthesisEvent | undefined {
  let value: unknown;
  try {
    value = JSON.parse(frame);
  } catch {
    return undefined;
  }
  const parsed = wireEvent.safeParse(value);
  if (!parsed.success) return undefined;
  const event = parsed.data;
  const requestId = event.request_id ?? undefined;
  if (event.type === 'error' || (event.type === 'completion' && event.status === 'error')) {
    const said = typeof event.error === 'string' ? event.error : event.error?.message;
    return {
      type: 'error',
      error: (said ?? event.error_message ?? event.message ?? 'the synthesizer failed without a reason').slice(0, 500),
      requestId,
    };
  }
  if (event.type === 'chunk')
    return { type: 'chunk', index: event.chunk_index, format: event.format, rateHz: event.sample_rate, requestId };
  // A later version of the interface has `done`.
  if (event.type === 'completion' || event.type === 'done') return { type: 'completion', totalChunks: event.total_chunks };
  return { type: 'ignored' };
}

/** The encoding of a chunk's format; undefined for containers and unknown formats. */
export function encodingOf(name: string): Encoding | undefined {
  switch (name) {
    case 'mulaw':
    case 'ulaw':
      return 'mulaw';
    case 'alaw':
      return 'alaw';
    case 'pcm':
      return 'pcm16';
    default:
      return undefined;
  }
}

/**
 * Converts a synthesizer's audio to the requested format, chunk by chunk: resamples other rates and recodes other encodings. An odd
 * byte of PCM waits for the next chunk.
 */
export class RecodeStream {
  readonly #from: AudioFormat;
  readonly #to: AudioFormat;
  readonly #resampler: Resampler | undefined;
  #odd: Uint8Array = new Uint8Array();

  constructor(from: AudioFormat, to: AudioFormat) {
    this.#from = from;
    this.#to = to;
    this.#resampler = from.rateHz === to.rateHz ? undefined : new Resampler(from.rateHz, to.rateHz);
  }

  push(bytes: Uint8Array): Uint8Array {
    const whole = this.#whole(bytes);
    if (this.#from.encoding === this.#to.encoding && this.#resampler === undefined) return whole;
    const pcm = decodeAudio(this.#from.encoding, whole);
    return encodeAudio(this.#to.encoding, this.#resampler === undefined ? pcm : this.#resampler.process(pcm));
  }

  /** The resampler's last samples. */
  flush(): Uint8Array {
    return this.#resampler === undefined ? new Uint8Array() : encodeAudio(this.#to.encoding, this.#resampler.flush());
  }

  #whole(bytes: Uint8Array): Uint8Array {
    if (this.#from.encoding !== 'pcm16') return bytes;
    const joined = new Uint8Array(this.#odd.length + bytes.length);
    joined.set(this.#odd);
    joined.set(bytes, this.#odd.length);
    const whole = joined.length - (joined.length % 2);
    this.#odd = joined.slice(whole);
    return joined.subarray(0, whole);
  }
}
