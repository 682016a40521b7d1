import { OffhookError } from '../../../kernel/errors.ts';

/** Recognises many streams at once, each a realtime session or a file; the port of every recognition engine. */
export interface RecognitionEngine {
  /** Languages that are recognised; `auto` tries all vocabularies and takes the best result. */
  readonly languages: readonly string[];
  /** Languages without a model are heard by the built-in recogniser: a closed vocabulary, learnt from synthetic voices. */
  readonly builtIn?: boolean;
  /** Those of `languages` with a model of the user's; the others have a closed vocabulary. */
  readonly modelLanguages?: readonly string[];
  /** While it does not answer: when to come again. Streams that are opened meanwhile fail. Absent or undefined while it answers. */
  readonly retryAfterS?: number | undefined;
  /** The vocabulary that is being learnt, or was; undefined where `teach` was not called. */
  readonly vocabulary?: VocabularyProgress | undefined;
  /**
   * Makes phrases recognised in every stream, in place of those taught before. Returns at once: they are learnt in the background, and
   * each is recognised once it is learnt. Absent where any word is recognised.
   * @param phrases by language; languages without a closed vocabulary are left out
   */
  teach?(phrases: Readonly<Record<string, readonly string[]>>, onProgress?: (progress: VocabularyProgress) => void): void;
  /** @throws UnknownLanguageError for a language that is neither in `languages` nor `auto` */
  open(options: RecognitionOptions, listener: (event: RecognitionEngineEvent) => void): RecognitionStream;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface VocabularyProgress {
  /** Phrases to learn: those that the vocabulary has, and those that no voice can speak, are not counted. */
  readonly of: number;
  readonly learnt: number;
  /** Phrases that could not be learnt, or were too many. */
  readonly failed: number;
  /** By the pace so far; undefined before the first phrase and after the last one. */
  readonly leftMs: number | undefined;
}

export interface RecognitionOptions {
  readonly language: string;
  readonly rateHz: number;
  /** Phrases made more likely. The built-in recogniser learns those outside its vocabulary. */
  readonly boostPhrases: readonly string[];
  /** Phrases that can be recognised without being made more likely. */
  readonly listedPhrases?: readonly string[];
  /** Longest wait for phrases that are being learnt, of a commit that is not understood without them: 8 s when absent. */
  readonly learningWaitMs?: number;
  /** Strength of the boost: 10 when absent, 0 for none. */
  readonly boostWeight?: number | undefined;
}

export type RecognitionEngineEvent =
  | { readonly type: 'partial'; readonly text: string }
  /** An utterance the engine ended itself: after a long silence, or at its longest length. */
  | { readonly type: 'segment'; readonly result: RecognitionResult };

export interface RecognitionStream {
  /** Any number of samples at the stream's rate; copied. */
  push(pcm: Int16Array): void;
  /**
   * Recognises the audio since the last commit or segment.
   * @returns its utterances in order, at least one; text '' for one that was not recognised
   * @throws RecognitionUnavailableError when the engine's worker died or the stream is closed
   */
  commit(): Promise<readonly RecognitionResult[]>;
  close(): void;
}

/** The recognised utterances; the last one when none was, so that every commit has an answer. */
export function answersOf(utterances: readonly RecognitionResult[]): readonly RecognitionResult[] {
  const understood = utterances.filter(({ text }) => text !== '');
  return understood.length > 0 ? understood : utterances.slice(-1);
}

/**
 * Times are seconds since the stream was opened; confidences are 0 to 1. Text '' with a confidence is speech that is not in the vocabulary,
 * without one it is no speech.
 */
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

/** The recogniser's thread ended, or the stream is closed. */
export class RecognitionUnavailableError extends OffhookError {
  readonly code = 'OFFHOOK_RECOGNITION_UNAVAILABLE';
  readonly retryable = true;
}

/** There is no vocabulary for this language. */
export class UnknownLanguageError extends OffhookError {
  readonly code = 'OFFHOOK_RECOGNITION_LANGUAGE';
  readonly retryable = false;
}
