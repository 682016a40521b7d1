import { joinSamples } from '../../../audio/samples.ts';
import { Resampler } from '../../../audio/resample.ts';
import type { RecognitionEngine, RecognitionResult } from '../../engines/recognise/port.ts';
import type { LanguageChoice } from '../../languages.ts';
import { openRecognition } from './language-recognition.ts';
import type { DecodedAudio } from '../uploads/open-audio.ts';
import { activityFrameMs, SpeechActivity } from '../../../audio/voice-activity/voice-activity.ts';

/** Audio is converted to 16 kHz mono (ASR doc, batch transcription). */
export const recognitionRateHz = 16_000;

/** A recording can wait longer than a call until its phrases are learnt. */
const learningWaitMs = 90_000;

export interface TranscribeOptions {
  readonly engine: RecognitionEngine;
  readonly language: LanguageChoice;
  readonly boostPhrases: readonly string[];
  readonly boostWeight: number;
  readonly listedPhrases?: readonly string[];
  readonly signal: AbortSignal;
  /** Called with every segment of speech, at 16 kHz. */
  readonly onSpeech?: ((segment: SpeechSegment) => void) | undefined;
}

/**
 * In a recording the speaker cannot be asked again, so the built-in recogniser must be more certain than in a call. Measured on people and synthetic
 * voices: bench/recogniser/README.md.
 */
export const leastConfidence = 0.62;

export interface TranscribedRecording {
  /** Recognised utterances, oldest first, times in seconds of the recording. */
  readonly recognised: readonly RecognitionResult[];
  /** Speech that is not in the vocabulary, oldest first. */
  readonly unrecognised: readonly { readonly startS: number; readonly endS: number }[];
}

/** Recognises a recording. */
export async function transcribe(audio: DecodedAudio, options: TranscribeOptions): Promise<TranscribedRecording> {
  const { signal } = options;
  const recognised: RecognitionResult[] = [];
  const unrecognised: { startS: number; endS: number }[] = [];
  const places = new Places();
  const keep = (result: RecognitionResult): void => {
    const { engine } = options;
    const isModel = engine.builtIn !== true || engine.modelLanguages?.includes(result.language) === true;
    const placed = places.inRecording(result);
    if (result.text !== '' && (isModel || result.confidence >= leastConfidence)) recognised.push(placed);
    else if (result.confidence > 0) unrecognised.push({ startS: placed.startS, endS: placed.endS });
  };
  const { language, boostPhrases, boostWeight, listedPhrases = [] } = options;
  const asked = { language, rateHz: recognitionRateHz, boostPhrases, boostWeight, listedPhrases, learningWaitMs };
  const stream = openRecognition(options.engine, asked, (event) => {
    if (event.type === 'segment') keep(event.result);
  });
  const recognise = async (segment: SpeechSegment): Promise<void> => {
    signal.throwIfAborted();
    options.onSpeech?.(segment);
    places.add(segment);
    stream.push(segment.pcm);
    for (const result of await stream.commit()) keep(result);
  };
  // Closing the stream rejects its commit, so that a hanging recogniser does not outlive the request.
  const onAbort = (): void => stream.close();
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    const segmenter = new Segmenter(recognitionRateHz);
    for await (const block of resampled(audio)) {
      for (const segment of segmenter.push(block)) await recognise(segment);
      signal.throwIfAborted();
    }
    const last = segmenter.flush();
    if (last !== undefined) await recognise(last);
    return { recognised, unrecognised };
  } finally {
    signal.removeEventListener('abort', onAbort);
    stream.close();
  }
}

async function* resampled(audio: DecodedAudio): AsyncIterable<Int16Array> {
  if (audio.rateHz === recognitionRateHz) {
    yield* audio.blocks();
    return;
  }
  const resampler = new Resampler(audio.rateHz, recognitionRateHz);
  for await (const block of audio.blocks()) yield resampler.process(block);
  yield resampler.flush();
}

/** Maps times of the stream, which gets the segments without silences, to times of the recording. */
class Places {
  readonly #segments: { readonly streamS: number; readonly shiftS: number }[] = [];
  #pushedS = 0;

  add(segment: SpeechSegment): void {
    this.#segments.push({ streamS: this.#pushedS, shiftS: segment.startSample / recognitionRateHz - this.#pushedS });
    this.#pushedS += segment.pcm.length / recognitionRateHz;
  }

  inRecording(result: RecognitionResult): RecognitionResult {
    // Tolerates results that start slightly before their segment.
    const shiftS = this.#segments.findLast((segment) => segment.streamS <= result.startS + 0.05)?.shiftS ?? 0;
    return {
      ...result,
      startS: result.startS + shiftS,
      endS: result.endS + shiftS,
      words: result.words.map((word) => ({ ...word, startS: word.startS + shiftS, endS: word.endS + shiftS })),
    };
  }
}

export interface SpeechSegment {
  /** Position of the segment's first sample in the audio. */
  readonly startSample: number;
  readonly pcm: Int16Array;
}

const preRollFrames = 300 / activityFrameMs;
/** Silence that ends a segment; half of it is kept at its end. */
const endSilenceMs = 600;
const keptSilenceMs = 300;
/** A segment of `longMs` is cut at its next pause of `pauseMs`, one of `longestMs` anywhere. */
const longMs = 12_000;
const pauseMs = 160;
const longestMs = 30_000;

/** Cuts audio at its silences, so that the recogniser gets one utterance at a time; drops the silence. */
export class Segmenter {
  readonly #frameSamples: number;
  readonly #activity = new SpeechActivity();
  #pending: Int16Array<ArrayBuffer> = new Int16Array(0);
  #frames: Int16Array[] = [];
  #inSpeech = false;
  #silentFrames = 0;
  /** Samples cut into frames so far. */
  #position = 0;

  constructor(rateHz: number) {
    this.#frameSamples = Math.round((rateHz * activityFrameMs) / 1000);
  }

  /** @returns segments that ended within these samples, oldest first */
  push(pcm: Int16Array): SpeechSegment[] {
    const joined = joinSamples([this.#pending, pcm]);
    const segments: SpeechSegment[] = [];
    let at = 0;
    for (; at + this.#frameSamples <= joined.length; at += this.#frameSamples) {
      const segment = this.#frame(joined.slice(at, at + this.#frameSamples));
      if (segment !== undefined) segments.push(segment);
    }
    this.#pending = joined.slice(at);
    return segments;
  }

  /** The last segment, cut off by the end of the audio. */
  flush(): SpeechSegment | undefined {
    if (this.#inSpeech) this.#frames.push(this.#pending);
    this.#position += this.#pending.length;
    this.#pending = new Int16Array(0);
    return this.#inSpeech ? this.#take(0) : undefined;
  }

  #frame(frame: Int16Array): SpeechSegment | undefined {
    const speaking = this.#activity.frame(frame);
    this.#position += frame.length;
    this.#frames.push(frame);
    if (!this.#inSpeech) {
      this.#inSpeech = speaking;
      this.#silentFrames = 0;
      if (!speaking && this.#frames.length > preRollFrames) this.#frames.shift();
      return undefined;
    }
    this.#silentFrames = speaking ? 0 : this.#silentFrames + 1;
    const silentMs = this.#silentFrames * activityFrameMs;
    const lengthMs = this.#frames.length * activityFrameMs;
    if (silentMs >= endSilenceMs) return this.#take((endSilenceMs - keptSilenceMs) / activityFrameMs);
    if (lengthMs >= longestMs || (lengthMs >= longMs && silentMs >= pauseMs)) return this.#take(0);
    return undefined;
  }

  /** @param leave frames at the end that become the start of the next segment */
  #take(leave: number): SpeechSegment {
    const kept = this.#frames.slice(0, this.#frames.length - leave);
    const left = this.#frames.slice(this.#frames.length - leave);
    const pcm = joinSamples(kept);
    const startSample = this.#position - left.reduce((sum, frame) => sum + frame.length, 0) - pcm.length;
    this.#frames = left;
    this.#inSpeech = false;
    this.#silentFrames = 0;
    return { startSample, pcm };
  }
}
