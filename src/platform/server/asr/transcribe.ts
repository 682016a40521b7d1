import { Resampler } from '../../../audio/resample.ts';
import type { RecognitionEngine, RecognitionResult } from '../../engines/port.ts';
import type { LanguageChoice } from '../../languages.ts';
import { openHearing } from './hearing.ts';
import { Segmenter, type SpeechSegment } from './segmenter.ts';
import type { DecodedAudio } from './wav-stream.ts';

/** Audio is converted to 16 kHz mono (ASR doc, batch transcription). */
export const recognitionRateHz = 16_000;

/** Nobody is on the line: a recording waits until its phrases are learnt. */
const learningWaitMs = 90_000;

export interface TranscribeOptions {
  readonly engine: RecognitionEngine;
  readonly language: LanguageChoice;
  readonly boostPhrases: readonly string[];
  readonly boostWeight: number;
  readonly listedPhrases?: readonly string[];
  readonly signal: AbortSignal;
  /** Is given every stretch of speech too, at 16 kHz. */
  readonly hearSpeech?: ((segment: SpeechSegment) => void) | undefined;
}

/** Recognises a whole recording. @returns what was understood, oldest first, times in seconds of the recording */
export async function transcribe(audio: DecodedAudio, options: TranscribeOptions): Promise<RecognitionResult[]> {
  const { signal } = options;
  const heard: RecognitionResult[] = [];
  const places = new Places();
  const keep = (result: RecognitionResult): void => {
    if (result.text !== '') heard.push(places.inRecording(result));
  };
  const { language, boostPhrases, boostWeight, listedPhrases = [] } = options;
  const asked = { language, rateHz: recognitionRateHz, boostPhrases, boostWeight, listedPhrases, learningWaitMs };
  const stream = openHearing(options.engine, asked, (event) => {
    if (event.type === 'segment') keep(event.result);
  });
  const recognise = async (segment: SpeechSegment): Promise<void> => {
    signal.throwIfAborted();
    options.hearSpeech?.(segment);
    places.add(segment);
    stream.push(segment.pcm);
    for (const result of await stream.commit()) keep(result);
  };
  // A recogniser that hangs must not outlive the request: closing the stream rejects its commit.
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
    return heard;
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

/** The stream hears the segments only, without the silences between: this tells where each stood in the recording. */
class Places {
  readonly #segments: { readonly streamS: number; readonly shiftS: number }[] = [];
  #pushedS = 0;

  add(segment: SpeechSegment): void {
    this.#segments.push({ streamS: this.#pushedS, shiftS: segment.startSample / recognitionRateHz - this.#pushedS });
    this.#pushedS += segment.pcm.length / recognitionRateHz;
  }

  inRecording(result: RecognitionResult): RecognitionResult {
    // A result that seems to begin a hair before its segment belongs to it all the same.
    const shiftS = this.#segments.findLast((segment) => segment.streamS <= result.startS + 0.05)?.shiftS ?? 0;
    return {
      ...result,
      startS: result.startS + shiftS,
      endS: result.endS + shiftS,
      words: result.words.map((word) => ({ ...word, startS: word.startS + shiftS, endS: word.endS + shiftS })),
    };
  }
}
