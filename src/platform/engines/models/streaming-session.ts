import { floatSamples } from '../../../audio/samples.ts';
import { Resampler } from '../../../audio/resample.ts';
import type { Clock } from '../../../kernel/clock.ts';
import type { RecognitionResult } from '../recognise/port.ts';
import type { SessionOutputs } from '../recognise/worker-protocol.ts';
import type { ThreadSession } from './decoding-turns.ts';
import { NOTHING_HEARD, readHeard, resultOf, Timeline } from './heard.ts';
import { withHints } from './hints.ts';
import type { OnlineStream } from './sherpa.ts';
import type { StreamingModel } from './streaming-model.ts';
import { VoiceQueue } from './voice-queue.ts';

/** Longest delay of a model's word after its end: this much silence is decoded after a voice. */
const EMISSION_MS = 300;
const STEP_MS = 10;
/** An utterance is cut at a pause when it is long, and anywhere at its longest, so that memory stays bounded. */
const LONG_S = 20;
const LONGEST_S = 30;
/** Steps of one `prepare`: a few seconds of silence, or about a chunk of voice. */
const STEPS = 8;

export interface SessionOptions {
  readonly language: string;
  readonly rateHz: number;
  readonly hints: readonly string[];
  readonly clock: Clock;
  readonly outputs: SessionOutputs;
  /** Called when there is something to do. */
  readonly wake: (session: ThreadSession) => void;
}

/**
 * One stream of audio through a streaming model. Only audio near a voice is decoded. After a voice, as much silence is decoded as the model needs for
 * its last word, while the caller pauses, so that a later commit finds nothing left to decode.
 */
export class StreamingSession implements ThreadSession {
  readonly model: StreamingModel;
  readonly #options: SessionOptions;
  readonly #queue: VoiceQueue;
  readonly #commits: ((results: readonly RecognitionResult[]) => void)[] = [];
  #stream: OnlineStream | undefined;
  #toModelRate: Resampler | undefined;
  #timeline = new Timeline();
  /** State of the library's stream: seconds given to it, seconds up to the end of the last voice, and chunks decoded. */
  #givenS = 0;
  #voiceEndS = 0;
  #chunks = 0;
  /** The position in our stream up to which samples were given to the library's. */
  #at = 0;
  /** Why silence is given until the last word is out. */
  #flushing: 'pause' | 'commit' | 'longest' | undefined;
  /** In samples of our stream: where the turn began, where it ends, and where its last voice ended. */
  #turnStart = 0;
  #turnEnd = 0;
  #spokenEnd = 0;
  #text = '';
  #closed = false;

  constructor(model: StreamingModel, options: SessionOptions) {
    this.model = model;
    this.#options = options;
    this.#queue = new VoiceQueue(options.rateHz);
  }

  push(pcm: Int16Array): void {
    this.#queue.push(pcm, this.#options.clock.nowMs());
    this.#options.wake(this);
  }

  commit(): Promise<readonly RecognitionResult[]> {
    this.#queue.commit();
    this.#options.wake(this);
    return new Promise((resolve) => {
      this.#commits.push(resolve);
    });
  }

  close(): void {
    this.#closed = true;
    this.#queue.close();
    this.#stream = undefined;
  }

  fail(error: unknown): void {
    this.#options.outputs.fail(error);
    this.close();
  }

  /** The library's stream while a chunk of it can be decoded. */
  get ready(): OnlineStream | undefined {
    const stream = this.#stream;
    return stream !== undefined && this.model.recognizer.isReady(stream) ? stream : undefined;
  }

  get isCommitted(): boolean {
    return this.#flushing === 'commit' || this.#queue.isCommitted;
  }

  get dueMs(): number {
    return this.#queue.dueMs;
  }

  prepare(): boolean {
    if (this.#closed) return false;
    for (let step = 0; step < STEPS; step += 1) {
      if (this.ready !== undefined) return true;
      if (this.#flushing !== undefined) {
        if (!this.#flush()) return true;
        continue;
      }
      const next = this.#queue.next();
      if (next === undefined) return false;
      if (next.type === 'voice') this.#give(next.pcm, next.from, next.voiceEnd, next.closes);
      if (next.type === 'commit') {
        this.#turnEnd = next.at;
        this.#flushing = 'commit';
      }
    }
    return true;
  }

  decoded(): void {
    this.#chunks += 1;
    if (this.#stream === undefined || this.isCommitted) return;
    const { text } = readHeard(this.model.recognizer.getResult(this.#stream));
    if (text !== this.#text && text !== '') this.#options.outputs.emit({ type: 'partial', text });
    this.#text = text;
  }

  #give(pcm: Int16Array, from: number, voiceEnd: number, closes: boolean): void {
    const { rateHz } = this.#options;
    const stream = (this.#stream ??= this.#newStream());
    if (this.#givenS === 0 || from !== this.#at) this.#timeline.add(this.#givenS, from / rateHz);
    this.#accept(stream, this.#toModelRate?.process(pcm) ?? pcm);
    this.#at = from + pcm.length;
    this.#voiceEndS = this.#givenS - Math.max(0, this.#at - voiceEnd) / rateHz;
    this.#spokenEnd = voiceEnd;
    this.#turnEnd = this.#at;
    if (this.#givenS >= LONGEST_S) this.#flushing = 'longest';
    else if (closes) this.#flushing = 'pause';
  }

  #accept(stream: OnlineStream, pcm: Int16Array): void {
    const sampleRate = this.model.rateHz;
    stream.acceptWaveform({ samples: floatSamples(pcm), sampleRate });
    this.#givenS += pcm.length / sampleRate;
  }

  /** Gives silence until a chunk is ready. @returns false for that; true when nothing is left to flush */
  #flush(): boolean {
    const stream = this.#stream;
    const decodedMs = this.#chunks * this.model.chunkMs;
    if (stream !== undefined && decodedMs < this.#voiceEndS * 1_000 + EMISSION_MS) {
      const silence = new Int16Array((STEP_MS * this.model.rateHz) / 1_000);
      while (!this.model.recognizer.isReady(stream)) this.#accept(stream, silence);
      return false;
    }
    const why = this.#flushing;
    this.#flushing = undefined;
    if (why === 'commit') this.#commits.shift()?.([this.#endTurn()]);
    else if (why === 'longest' || this.#givenS >= LONG_S) {
      this.#options.outputs.emit({ type: 'segment', result: this.#endTurn() });
    }
    return true;
  }

  #endTurn(): RecognitionResult {
    const { rateHz, language, hints } = this.#options;
    const heard = this.#stream === undefined ? NOTHING_HEARD : readHeard(this.model.recognizer.getResult(this.#stream));
    const result = resultOf(heard, {
      startS: this.#turnStart / rateHz,
      endS: (heard.text === '' ? this.#turnEnd : this.#spokenEnd) / rateHz,
      timeline: this.#timeline,
      language,
      languages: this.model.languages,
    });
    this.#stream = undefined;
    this.#timeline = new Timeline();
    [this.#givenS, this.#voiceEndS, this.#chunks] = [0, 0, 0];
    this.#turnStart = this.#turnEnd;
    this.#text = '';
    return withHints(result, hints);
  }

  #newStream(): OnlineStream {
    const { language, rateHz } = this.#options;
    this.#toModelRate = rateHz === this.model.rateHz ? undefined : new Resampler(rateHz, this.model.rateHz);
    const stream = this.model.recognizer.createStream();
    // Multilingual models that detect the language take it as an option; others do not look at it.
    if (language !== 'auto') stream.setOption?.('language', language);
    return stream;
  }
}
