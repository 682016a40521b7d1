import { type AudioFormat, TELEPHONE_FORMAT } from '../../audio/format.ts';
import { SpeechFailedError, SpeechProtocolError } from '../errors.ts';
import type { MaskSecret } from '../../kernel/mask-secret.ts';
import { notRawAudio, shownHead } from './whole-audio.ts';
import { encodingOf, readSynthesisEvent, type SynthesisEvent } from './realtime-events.ts';
import { RecodeStream } from './recode-stream.ts';

type Chunk = Extract<SynthesisEvent, { type: 'chunk' }>;

/** What came of a message: audio in the format that was asked for, the end, or nothing yet. */
export type Heard = { readonly audio?: Uint8Array; readonly done: boolean };

const NOTHING: Heard = { done: false };

/**
 * One synthesis on a socket, without the socket (TTS doc, "Events"). Chunks come in strict pairs, a JSON message and then
 * its audio, and end with a completion; whatever breaks that order is an error, not sound.
 */
export class SynthesisProtocol {
  readonly #wanted: AudioFormat;
  readonly #mask: MaskSecret;
  #expected: Chunk | undefined;
  #chunks = 0;
  #requestId: string | undefined;
  #stream: { readonly format: string; readonly recoded: RecodeStream } | undefined;

  /**
   * @param wanted what the audio is brought to, whatever the platform sends
   * @param mask for what the platform says and an error repeats
   */
  constructor(wanted = TELEPHONE_FORMAT, mask: MaskSecret = (text) => text) {
    this.#wanted = wanted;
    this.#mask = mask;
  }

  /** @throws SpeechProtocolError, SpeechFailedError when the platform tells of a failure */
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

  /** @throws SpeechProtocolError for audio that was not announced, or that is no telephone audio */
  binary(bytes: Uint8Array): Heard {
    const chunk = this.#expected;
    if (chunk === undefined) throw this.#broken('audio without a chunk message');
    this.#expected = undefined;
    if (this.#chunks === 0) this.#checkHead(bytes);
    this.#chunks += 1;
    const encoding = chunk.format === undefined ? this.#wanted.encoding : encodingOf(chunk.format);
    if (encoding === undefined) throw this.#broken(`audio as ${chunk.format} where ${this.#wanted.encoding} was asked`);
    // G.711 has one rate; that of PCM is never guessed.
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

  /** Words or a file with a head in place of samples would be noise to a caller. */
  #checkHead(bytes: Uint8Array): void {
    const wrong = notRawAudio(bytes);
    if (wrong === undefined) return;
    throw this.#broken(`${wrong} where audio was due, which begins ${shownHead(bytes.subarray(0, 500), this.#mask)}`);
  }

  /** What a resampler still owes comes with the end. */
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
