import { OffhookError } from '../../../kernel/errors.ts';

/** A recogniser of many streams at once; each stream is one realtime session or one file. */
export interface RecognitionEngine {
  /** Languages that are recognised; `auto` runs all vocabularies and takes the best. */
  readonly languages: readonly string[];
  /** Those of `languages` that a model of the user's hears; the others have a closed vocabulary. */
  readonly modelLanguages?: readonly string[];
  /** @throws UnknownLanguageError for a language that is neither in `languages` nor `auto` */
  open(options: RecognitionOptions, listener: (event: RecognitionEngineEvent) => void): RecognitionStream;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface RecognitionOptions {
  readonly language: string;
  readonly rateHz: number;
  /** Shift what is likely; the built-in recogniser learns how those outside its vocabulary sound. */
  readonly boostPhrases: readonly string[];
  /** Can be heard as boosted ones can, and are no likelier than others. */
  readonly listedPhrases?: readonly string[];
  /** How long a commit waits for phrases that are being learnt: 3 s when absent. */
  readonly learningWaitMs?: number;
  /** How strongly they shift it: 10 when absent, 0 for not at all. */
  readonly boostWeight?: number | undefined;
}

export type RecognitionEngineEvent =
  | { readonly type: 'partial'; readonly text: string }
  /** The engine's own endpoint, after long silence or at the cap on one utterance. */
  | { readonly type: 'segment'; readonly result: RecognitionResult };

export interface RecognitionStream {
  /** Any number of samples at the declared rate; copied. */
  push(pcm: Int16Array): void;
  /**
   * Finalises what was pushed since the last commit or segment.
   * @returns its utterances in order, at least one; text '' for one that was not understood
   * @throws RecognitionUnavailableError when the engine's worker died or the stream is closed
   */
  commit(): Promise<readonly RecognitionResult[]>;
  close(): void;
}

/** The utterances that were understood; where none was, the last one, so that something answers the commit. */
export function answersOf(utterances: readonly RecognitionResult[]): readonly RecognitionResult[] {
  const understood = utterances.filter(({ text }) => text !== '');
  return understood.length > 0 ? understood : utterances.slice(-1);
}

/** Times are seconds since the stream was opened; confidences are 0 to 1. */
export interface RecognitionResult {
  readonly text: string;
  readonly words: readonly RecognisedWord[];
  readonly startS: number;
  readonly endS: number;
  readonly confidence: number;
  readonly language: string;
  readonly alternatives: readonly { readonly text: string; readonly confidence: number }[];
}

export interface RecognisedWord {
  readonly word: string;
  readonly startS: number;
  readonly endS: number;
  readonly confidence: number;
}

/** The recogniser's worker died, or the stream is closed. */
export class RecognitionUnavailableError extends OffhookError {
  readonly code = 'OFFHOOK_RECOGNITION_UNAVAILABLE';
  readonly retryable = true;
}

/** There is no vocabulary for this language. */
export class UnknownLanguageError extends OffhookError {
  readonly code = 'OFFHOOK_RECOGNITION_LANGUAGE';
  readonly retryable = false;
}
