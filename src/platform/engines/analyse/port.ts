export type AnalysisPart = 'intent' | 'sentiment' | 'summary' | 'keyterms' | 'normalizedText';

export interface AnalysisRequest {
  /** The finished transcript, one entry an utterance, oldest first. Redacted terms are four asterisks. */
  readonly utterances: readonly string[];
  /** ISO 639 code. */
  readonly language: string;
  /** What is wanted; nothing else is worked out. */
  readonly parts: ReadonlySet<AnalysisPart>;
  /** The only labels an intent may have; empty leaves the analyser its own. */
  readonly intentChoices: readonly string[];
  readonly summaryMaxWords: number;
  /** The caller's own names, spelt as they shall be. */
  readonly glossary: readonly string[];
}

/** Holds exactly the parts that were wanted. */
export interface Analysis {
  readonly intent?: string;
  readonly sentiment?: string;
  readonly summary?: string;
  readonly keyterms?: readonly string[];
  readonly normalizedText?: string;
}

/** Understands a transcript in one pass, whichever engine is behind it. */
export interface Analyser {
  /** @throws the signal's reason */
  analyse(request: AnalysisRequest, signal: AbortSignal): Promise<Analysis>;
}
