import { sleep } from '../../src/kernel/waiting.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import type {
  RecognitionEngine,
  RecognitionEngineEvent,
  RecognitionOptions,
  RecognitionResult,
  RecognitionStream,
} from '../../src/platform/engines/recognise/port.ts';
import type { SynthesisEngine, SynthesisRequest } from '../../src/platform/engines/synth/port.ts';
import { botSpeech, type SpokenWord } from './bot-voice.ts';
import { WatermarkReader } from './watermark.ts';

/** What is said in a marked sound, by the mark's number; words may be none. */
export type Truth = readonly (readonly SpokenWord[])[];

const RATE_HZ = 8000;
/** From a word's last sample to its partial, and from a commit to its final: what streaming recognisers take. */
const PARTIAL_AFTER_MS = 200;
const FINAL_AFTER_MS = 120;
/** From a request to the first audio. */
const FIRST_AUDIO_MS = 60;
const CHUNK_SAMPLES = 800;

/** Recognises marked sounds by their marks: what was said is known, and what is measured is what is done with it. */
export class TimedRecogniser implements RecognitionEngine {
  readonly languages = ['en'];
  readonly #truth: Truth;

  constructor(truth: Truth) {
    this.#truth = truth;
  }

  open(_options: RecognitionOptions, listener: (event: RecognitionEngineEvent) => void): RecognitionStream {
    return new TimedStream(this.#truth, listener);
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}

class TimedStream implements RecognitionStream {
  readonly #listener: (event: RecognitionEngineEvent) => void;
  readonly #reader: WatermarkReader;
  /** Words of the running segment, on the stream's clock. */
  #words: SpokenWord[] = [];
  #partial = '';
  #committedMs = 0;

  constructor(truth: Truth, listener: (event: RecognitionEngineEvent) => void) {
    this.#listener = listener;
    this.#reader = new WatermarkReader((id, atSample) => {
      const startMs = (atSample * 1000) / RATE_HZ;
      for (const { word, fromMs, toMs } of truth[id] ?? [])
        this.#words.push({ word, fromMs: startMs + fromMs, toMs: startMs + toMs });
    });
  }

  get #nowMs(): number {
    return (this.#reader.samples * 1000) / RATE_HZ;
  }

  push(pcm: Int16Array): void {
    this.#reader.push(pcm);
    const text = textOf(this.#words.filter(({ toMs }) => toMs + PARTIAL_AFTER_MS <= this.#nowMs));
    if (text === this.#partial) return;
    this.#partial = text;
    this.#listener({ type: 'partial', text });
  }

  async commit(): Promise<readonly RecognitionResult[]> {
    const untilMs = this.#nowMs;
    const words = this.#words.filter(({ toMs }) => toMs <= untilMs);
    this.#words = this.#words.filter(({ toMs }) => toMs > untilMs);
    this.#partial = '';
    const result: RecognitionResult = {
      text: textOf(words),
      words: words.map(({ word, fromMs, toMs }) => ({ word, startS: fromMs / 1000, endS: toMs / 1000, confidence: 0.9 })),
      startS: (words[0]?.fromMs ?? this.#committedMs) / 1000,
      endS: (words.at(-1)?.toMs ?? untilMs) / 1000,
      confidence: words.length === 0 ? 0 : 0.9,
      language: 'en',
      alternatives: [],
    };
    this.#committedMs = untilMs;
    await sleep(systemClock, FINAL_AFTER_MS);
    return [result];
  }

  close(): void {
    this.#words = [];
  }
}

function textOf(words: readonly SpokenWord[]): string {
  return words.map(({ word }) => word).join(' ');
}

/** Speaks with the formant voice, as fast as an engine that is far ahead of real time. */
export class FormantSynthesizer implements SynthesisEngine {
  readonly voices = [{ name: 'Nisha', language: 'en', gender: 'female' }] as const;
  readonly defaultVoice = 'Nisha';

  async *synthesize({ text }: SynthesisRequest, signal: AbortSignal) {
    await sleep(systemClock, FIRST_AUDIO_MS, signal);
    const { pcm } = botSpeech(text);
    for (let at = 0; at < pcm.length; at += CHUNK_SAMPLES) {
      signal.throwIfAborted();
      yield { pcm: pcm.slice(at, at + CHUNK_SAMPLES), rateHz: RATE_HZ };
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}
