export type AnalysisPart = 'intent' | 'sentiment' | 'summary' | 'keyterms' | 'normalizedText';

export interface AnalysisRequest {
  /** The finished transcript, one entry per utterance, oldest first. Redacted terms are four asterisks. */
  readonly utterances: readonly string[];
  /** ISO 639 code. */
  readonly language: string;
  /** The parts to work out. */
  readonly parts: ReadonlySet<AnalysisPart>;
  /** The only labels an intent may have; empty: the analyser's own labels. */
  readonly intentChoices: readonly string[];
  readonly summaryMaxWords: number;
  /** The client's own terms, in their right spelling. */
  readonly glossary: readonly string[];
}

/** Exactly the parts asked for. */
export interface Analysis {
  readonly intent?: string;
  readonly sentiment?: string;
  readonly summary?: string;
  readonly keyterms?: string[];
  readonly normalizedText?: string;
}

/** Analyses a transcript; the port of every analysis engine. */
export interface Analyser {
  /** @throws the signal's reason */
  analyse(request: AnalysisRequest, signal: AbortSignal): Promise<Analysis>;
}
