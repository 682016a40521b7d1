import type { Clock } from '../../../kernel/clock.ts';
import type { RecognitionModel } from '../../../speech/models/model.ts';
import { ModelOpenError } from './open-models.ts';
import type { OnlineRecognizer, OnlineStream } from './sherpa.ts';

const STEP_MS = 10;
/** Longer than the chunk of any published model. */
const LONGEST_CHUNK_MS = 10_000;
/** One call of the library takes about this long, unless one chunk of one stream takes longer. */
const CALL_MS = 60;
/** Streams decoded in one call; more gain nothing (bench/recogniser/README.md). */
const MOST_TOGETHER = 8;
/** Share of the last call in the estimated cost of a chunk. */
const LEARNING = 0.1;

/** A streaming model of one thread. */
export class StreamingModel {
  readonly type = 'streaming';
  readonly recognizer: OnlineRecognizer;
  /** Rate of the audio it takes. The library converts other rates, and writes to standard error each time. */
  readonly rateHz: number;
  readonly languages: readonly string[];
  /** Audio that one call of the library decodes of each stream. */
  readonly chunkMs: number;
  readonly #clock: Clock;
  #costMs: number;

  /** Decodes two chunks of silence, to learn how long a chunk is and what it costs. @throws ModelOpenError */
  constructor(
    { name, languages }: Pick<RecognitionModel, 'name' | 'languages'>,
    recognizer: OnlineRecognizer,
    rateHz: number,
    clock: Clock,
  ) {
    this.languages = languages;
    this.recognizer = recognizer;
    this.rateHz = rateHz;
    this.#clock = clock;
    const stream = recognizer.createStream();
    const silence = new Float32Array((STEP_MS * rateHz) / 1_000);
    const untilReady = (): number => {
      for (let fedMs = 0; fedMs <= LONGEST_CHUNK_MS; fedMs += STEP_MS) {
        if (recognizer.isReady(stream)) return fedMs;
        stream.acceptWaveform({ samples: silence, sampleRate: rateHz });
      }
      throw new ModelOpenError(`the model ${name} decodes nothing within ${LONGEST_CHUNK_MS / 1_000} s of audio`);
    };
    untilReady();
    recognizer.decode(stream);
    this.chunkMs = Math.max(STEP_MS, untilReady());
    const startMs = clock.nowMs();
    recognizer.decode(stream);
    this.#costMs = clock.nowMs() - startMs;
  }

  /** How many streams are decoded in one call. */
  get mostTogether(): number {
    return Math.max(1, Math.min(MOST_TOGETHER, Math.floor(CALL_MS / Math.max(0.001, this.#costMs))));
  }

  /** Decodes a chunk of each stream; all of them are ready. */
  decode(streams: readonly OnlineStream[]): void {
    const startMs = this.#clock.nowMs();
    if (streams.length > 1 && this.recognizer.decodeStreams !== undefined) this.recognizer.decodeStreams(streams);
    else for (const stream of streams) this.recognizer.decode(stream);
    const costMs = (this.#clock.nowMs() - startMs) / streams.length;
    this.#costMs += LEARNING * (costMs - this.#costMs);
  }
}
