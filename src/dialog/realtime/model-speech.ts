import { decodeAudio, encodeAudio } from '../../audio/codec.ts';
import { type AudioFormat, durationMs } from '../../audio/format.ts';
import { Resampler } from '../../audio/resample.ts';
import type { HeardPart, MadeSpeech } from '../port.ts';

/** Longest speech that is kept until it is played; a model that says more is cut off. */
const MOST_MS = 5 * 60_000;
const NOT_PLACED: HeardPart = { state: 'waiting', heardMs: 0, heardText: '' };

/** One speech of a model as it arrives: pushed by the session, read by the call. */
export class ModelSpeech implements MadeSpeech {
  /** The vendor's id. */
  readonly item: string;
  text = '';
  isWhole = false;
  /** Audio that has come, in ms. */
  receivedMs = 0;
  readonly #format: AudioFormat;
  #chunks: Uint8Array[] = [];
  #isOver = false;
  #wake: () => void = () => undefined;
  #heard: () => HeardPart = () => NOT_PLACED;

  /** @param format of the vendor's audio */
  constructor(item: string, format: AudioFormat) {
    this.item = item;
    this.#format = format;
  }

  /** How much of it the caller has heard so far; nothing before it is played. */
  get heard(): HeardPart {
    return this.#heard();
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  push(audio: Uint8Array): void {
    if (this.#isOver || audio.length === 0) return;
    this.receivedMs += durationMs(this.#format, audio.length);
    this.#chunks.push(audio);
    this.#wake();
    if (this.receivedMs > MOST_MS) this.end(false);
  }

  /** @param isWhole whether all of it has come */
  end(isWhole: boolean): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.isWhole = isWhole;
    this.#wake();
  }

  placed(heard: () => HeardPart): void {
    this.#heard = heard;
  }

  async *audio(format: AudioFormat, signal: AbortSignal): AsyncIterable<Uint8Array> {
    const convert = converter(this.#format, format);
    while (!signal.aborted) {
      const chunks = this.#chunks;
      this.#chunks = [];
      for (const chunk of chunks) {
        const audio = convert(chunk);
        if (audio.length > 0) yield audio;
      }
      if (chunks.length > 0) continue;
      if (this.#isOver) return;
      await this.#more(signal);
    }
  }

  #more(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        signal.removeEventListener('abort', wake);
        resolve();
      };
      this.#wake = wake;
      signal.addEventListener('abort', wake, { once: true });
    });
  }
}

/** Converts chunks of one stream; G.711 of the same kind stays as it is. */
export function converter(from: AudioFormat, to: AudioFormat): (chunk: Uint8Array) => Uint8Array {
  if (from.encoding === to.encoding && from.rateHz === to.rateHz && from.encoding !== 'pcm16') return (chunk) => chunk;
  const resampler = from.rateHz === to.rateHz ? undefined : new Resampler(from.rateHz, to.rateHz);
  let odd: Uint8Array = new Uint8Array();
  return (chunk) => {
    // A chunk may end within a sample.
    const bytes = odd.length === 0 ? chunk : Buffer.concat([odd, chunk]);
    odd = from.encoding === 'pcm16' && bytes.length % 2 === 1 ? bytes.slice(-1) : new Uint8Array();
    const pcm = decodeAudio(from.encoding, bytes);
    return encodeAudio(to.encoding, resampler?.process(pcm) ?? pcm);
  };
}
