import { resample } from '../../../audio/resample.ts';
import { floatSamples } from '../../../audio/samples.ts';
import type { Clock } from '../../../kernel/clock.ts';
import type { RecognitionModel } from '../../../speech/models/model.ts';
import { type Heard, readHeard } from './heard.ts';
import type { OfflineRecognizer } from './sherpa.ts';

/** The library converts other rates, and writes to standard error each time. */
const RATE_HZ = 16_000;
/** Share of the last segment in the estimated cost. */
const LEARNING = 0.3;

/** Longest segment of a model without a limit of its own: Whisper takes 30 s. */
const LONGEST_S = 28;

/** Shorter segments are followed by silence up to this length: models fail with less than some frames. */
const SHORTEST_S = 0.5;

/** What is decoded in one piece, for a session. */
export interface SegmentJob {
  readonly pcm: Int16Array;
  readonly rateHz: number;
  /** `auto`, or one of the model's. */
  readonly language: string;
  readonly hints: readonly string[];
}

export interface SegmentModelOptions {
  /** Chooses the language of the next segment; absent for models that were opened for one, or detect it. */
  readonly chooseLanguage?: (language: string) => void;
  /** A hint in the letters of the model; absent where it takes no hints. */
  readonly asWritten?: (hint: string) => string;
  /** The longest segment that the model decodes. */
  readonly longestS?: number;
}

/** A model that decodes whole segments, in one thread. */
export class SegmentModel {
  readonly type = 'segments';
  readonly languages: readonly string[];
  readonly longestS: number;
  readonly #recognizer: OfflineRecognizer;
  readonly #options: SegmentModelOptions;
  readonly #clock: Clock;
  #costPerS = 0;

  /** Decodes a second of silence, so that a model that cannot decode is found now. */
  constructor(
    { languages }: Pick<RecognitionModel, 'languages'>,
    recognizer: OfflineRecognizer,
    clock: Clock,
    options: SegmentModelOptions,
  ) {
    this.languages = languages;
    this.longestS = options.longestS ?? LONGEST_S;
    this.#recognizer = recognizer;
    this.#options = options;
    this.#clock = clock;
    const startMs = clock.nowMs();
    const stream = recognizer.createStream();
    stream.acceptWaveform({ samples: new Float32Array(RATE_HZ), sampleRate: RATE_HZ });
    recognizer.decode(stream);
    recognizer.getResult(stream);
    this.#costPerS = (clock.nowMs() - startMs) / 1_000;
  }

  /** Estimated decoding time of a segment of this length. */
  costMs(seconds: number): number {
    return 1_000 * seconds * this.#costPerS;
  }

  /** One at a time: the language is a setting of the model. @throws what the library throws */
  async decode({ pcm, rateHz, language, hints }: SegmentJob): Promise<Heard> {
    const { chooseLanguage, asWritten } = this.#options;
    chooseLanguage?.(language);
    const phrases = asWritten === undefined ? '' : hotwords(hints.map(asWritten));
    const stream = phrases === '' ? this.#recognizer.createStream() : this.#recognizer.createStream(phrases);
    const samples = atLeast(floatSamples(resample(pcm, rateHz, RATE_HZ)), SHORTEST_S * RATE_HZ);
    stream.acceptWaveform({ samples, sampleRate: RATE_HZ });
    const startMs = this.#clock.nowMs();
    const result =
      this.#recognizer.decodeAsync === undefined ? this.#decodeNow(stream) : await this.#recognizer.decodeAsync(stream);
    const costPerS = (this.#clock.nowMs() - startMs) / 1_000 / (pcm.length / rateHz);
    this.#costPerS += LEARNING * (costPerS - this.#costPerS);
    return readHeard(result);
  }

  #decodeNow(stream: ReturnType<OfflineRecognizer['createStream']>): unknown {
    this.#recognizer.decode(stream);
    return this.#recognizer.getResult(stream);
  }
}

function atLeast(samples: Float32Array, count: number): Float32Array {
  if (samples.length >= count) return samples;
  const padded = new Float32Array(count);
  padded.set(samples);
  return padded;
}

/** Hints as the library takes them: phrases separated by slashes, without what it reads as a score. */
function hotwords(hints: readonly string[]): string {
  return hints
    .map((hint) => hint.replaceAll(/[/:#@\s]+/gu, ' ').trim())
    .filter((hint) => hint !== '')
    .join('/');
}
