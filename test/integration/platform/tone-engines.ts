import { rmsLevelDb } from '../../../src/audio/level.ts';
import { sine } from '../../../src/audio/tone.ts';
import type {
  RecognisedWord,
  RecognitionEngine,
  RecognitionEngineEvent,
  RecognitionOptions,
  RecognitionResult,
  RecognitionStream,
} from '../../../src/platform/engines/recognise/port.ts';
import type { SynthesisEngine, SynthesisRequest } from '../../../src/platform/engines/synth/port.ts';

/** The test language: each word is a tone. */
export const toneWords = { alpha: 400, bravo: 800, charlie: 1200 } as const;
export type ToneWord = keyof typeof toneWords;

/** Words as tones of 300 ms with 100 ms of silence after each, and 200 ms of silence before the first. */
export function sayTones(words: readonly ToneWord[], rateHz: number): Int16Array {
  const parts: Int16Array[] = [new Int16Array(rateHz / 5)];
  for (const word of words) parts.push(sine(toneWords[word], 300, rateHz), new Int16Array(rateHz / 10));
  return Int16Array.from(parts.flatMap((part) => [...part]));
}

/** A platform that cuts as a word begins leaves less of it before the cut: no recogniser takes that for a word. */
const leastWordMs = 100;

/** Softer samples are line noise, or what a filter rings with behind a word: they cross zero without end. */
const leastSample = 300;

function wordOf(run: Int16Array, rateHz: number): string | undefined {
  if (run.length < (leastWordMs * rateHz) / 1000) return undefined;
  const crossings: number[] = [];
  let sign = 0;
  for (const [index, sample] of run.entries()) {
    if (Math.abs(sample) < leastSample || Math.sign(sample) === sign) continue;
    if (sign !== 0) crossings.push(index);
    sign = Math.sign(sample);
  }
  // A cough crosses zero often enough for a word, at any moment.
  const steps = crossings.slice(1).map((at, index) => at - (crossings[index] ?? 0));
  const usual = steps.toSorted((one, other) => one - other)[Math.floor(steps.length / 2)] ?? 0;
  const regular = steps.filter((step) => Math.abs(step - usual) <= Math.max(1, usual / 3)).length;
  if (regular < 0.8 * steps.length) return undefined;
  const heardHz = (crossings.length * rateHz) / (2 * run.length);
  return Object.entries(toneWords).find(([, hz]) => Math.abs(heardHz - hz) < hz * 0.1)?.[0];
}

class ToneStream implements RecognitionStream {
  readonly #options: RecognitionOptions;
  readonly #listener: (event: RecognitionEngineEvent) => void;
  readonly #onClose: () => void;
  /** What was heard since the last commit; its first `#length` samples, the first `#looked` of them looked at. */
  #pcm = new Int16Array(8_000);
  #length = 0;
  #looked = 0;
  /** Words that have ended, and where the sound in hand began; -1 in silence. */
  #words: RecognisedWord[] = [];
  #from = -1;
  #start = 0;
  #partial = '';

  constructor(options: RecognitionOptions, listener: (event: RecognitionEngineEvent) => void, onClose: () => void) {
    this.#options = options;
    this.#listener = listener;
    this.#onClose = onClose;
  }

  push(pcm: Int16Array): void {
    if (this.#length + pcm.length > this.#pcm.length) {
      const larger = new Int16Array(2 * (this.#length + pcm.length));
      larger.set(this.#pcm.subarray(0, this.#length));
      this.#pcm = larger;
    }
    this.#pcm.set(pcm, this.#length);
    this.#length += pcm.length;
    const { text } = this.#recognise();
    if (text === this.#partial || text === '') return;
    this.#partial = text;
    this.#listener({ type: 'partial', text });
  }

  async commit(): Promise<readonly RecognitionResult[]> {
    const result = this.#recognise();
    this.#start += this.#length;
    [this.#length, this.#looked, this.#words, this.#from] = [0, 0, [], -1];
    this.#partial = '';
    return [result];
  }

  close(): void {
    this.#onClose();
  }

  #recognise(): RecognitionResult {
    const { rateHz, language } = this.#options;
    const frame = rateHz / 50;
    const at = (sample: number): number => (this.#start + sample) / rateHz;
    // A call is silent for long: what was looked at once is not looked at with every frame again.
    for (; this.#looked + frame <= this.#length; this.#looked += frame) {
      const loud = rmsLevelDb(this.#pcm.subarray(this.#looked, this.#looked + frame)) > -40;
      if (loud && this.#from === -1) this.#from = this.#looked;
      if (loud || this.#from === -1) continue;
      this.#words.push(...this.#wordTo(this.#looked));
      this.#from = -1;
    }
    const words = [...this.#words, ...(this.#from === -1 ? [] : this.#wordTo(this.#looked))];
    const text = words.map(({ word }) => word).join(' ');
    const alternatives =
      text === ''
        ? []
        : [
            { text, confidence: 0.9 },
            { text: `${text} maybe`, confidence: 0.4 },
          ];
    const [startS, endS] = [words[0]?.startS ?? at(0), words.at(-1)?.endS ?? at(this.#length)];
    const code = language === 'auto' ? 'en' : language;
    return { text, words, startS, endS, confidence: text === '' ? 0 : 0.9, language: code, alternatives };
  }

  /** The word of the sound in hand, if it is one and ends here. */
  #wordTo(end: number): readonly RecognisedWord[] {
    const { rateHz } = this.#options;
    const word = wordOf(this.#pcm.subarray(this.#from, end), rateHz);
    const [startS = 0, endS = 0] = [this.#from, end].map((sample) => (this.#start + sample) / rateHz);
    return word === undefined ? [] : [{ word, startS, endS, confidence: 0.9 }];
  }
}

/** Recognises the test language, at once and in this process. */
export class ToneRecogniser implements RecognitionEngine {
  readonly languages = ['en', 'hi'];
  openStreams = 0;
  /** Options of every stream opened. */
  readonly opened: RecognitionOptions[] = [];
  failCommits: Error | undefined;
  /** Thrown where a stream would be opened. */
  failOpens: Error | undefined;
  /** Commits wait for this. */
  gate: Promise<void> = Promise.resolve();
  /** Told of all audio that comes. */
  onAudio: (pcm: Int16Array, rateHz: number) => void = () => undefined;

  open(options: RecognitionOptions, listener: (event: RecognitionEngineEvent) => void): RecognitionStream {
    if (this.failOpens !== undefined) throw this.failOpens;
    this.openStreams += 1;
    this.opened.push(options);
    let open = true;
    const stream = new ToneStream(options, listener, () => {
      if (open) this.openStreams -= 1;
      open = false;
    });
    return {
      push: (pcm) => {
        this.onAudio(pcm, options.rateHz);
        stream.push(pcm);
      },
      close: () => stream.close(),
      commit: async () => {
        const result = await stream.commit();
        await this.gate;
        if (this.failCommits !== undefined) throw this.failCommits;
        return result;
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.openStreams = 0;
  }
}

const hums = new Map<string, Int16Array>();

/** 440 Hz of this length: gateways have the same sentences spoken at every start. */
function hum(durationMs: number, rateHz: number): Int16Array {
  const key = `${durationMs} ${rateHz}`;
  const known = hums.get(key) ?? sine(440, durationMs, rateHz);
  hums.set(key, known);
  return known;
}

/** Speaks 50 ms of 440 Hz for each character up to 60, with 100 ms of silence at either end. */
export class ToneSynthesizer implements SynthesisEngine {
  readonly voices = [
    { name: 'Rajesh', language: 'hi', gender: 'male' },
    { name: 'Nisha', language: 'en', gender: 'female' },
  ] as const;
  readonly defaultVoice = 'Rajesh';
  readonly requests: SynthesisRequest[] = [];
  readonly #rateHz: number;
  running = 0;
  /** Throws this after so many chunks. */
  failAfter: { chunks: number; error: Error } | undefined;
  /** Never yields again after so many chunks. */
  hangAfter: number | undefined;

  /** @param rateHz most voices have 22,050; 8,000 saves a test of many calls their resampling */
  constructor(rateHz = 22_050) {
    this.#rateHz = rateHz;
  }

  async *synthesize(request: SynthesisRequest, signal: AbortSignal) {
    this.requests.push(request);
    this.running += 1;
    try {
      const rateHz = this.#rateHz;
      const chunk = Math.ceil(rateHz / 10);
      const tone = hum((50 * Math.min(60, Array.from(request.text).length)) / request.speed, rateHz);
      const pcm = new Int16Array(tone.length + 2 * Math.floor(rateHz / 10));
      pcm.set(tone, Math.floor(rateHz / 10));
      for (let at = 0, index = 0; at < pcm.length; at += chunk, index += 1) {
        if (this.failAfter?.chunks === index) throw this.failAfter.error;
        signal.throwIfAborted();
        if (this.hangAfter === index)
          await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
        yield { pcm: pcm.slice(at, at + chunk), rateHz };
        await Promise.resolve();
      }
    } finally {
      this.running -= 1;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}
