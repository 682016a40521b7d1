import type { RecognitionEngine, RecognitionEngineEvent, RecognitionResult, RecognitionStream } from '../../engines/port.ts';
import { indicLanguages } from '../../indic-languages.ts';
import type { LanguageChoice } from '../../languages.ts';
import { refusalOf } from '../http-app.ts';
import { detailText } from '../refusal.ts';

export interface HearingOptions {
  readonly language: LanguageChoice;
  readonly rateHz: number;
  readonly boostPhrases: readonly string[];
  readonly boostWeight: number;
  /** The caller's own names, which can be heard as boosted ones can and are no likelier than others. */
  readonly listedPhrases?: readonly string[];
  readonly learningWaitMs?: number;
}

/**
 * Opens a recognition stream. A language that is on the platform's list but has no vocabulary behind it is heard as
 * nothing: finals come, with empty text.
 */
export function openHearing(
  engine: RecognitionEngine,
  options: HearingOptions,
  listener: (event: RecognitionEngineEvent) => void,
): RecognitionStream {
  const { language, boostWeight: weight, ...rest } = options;
  if (language.type === 'auto') return engine.open({ language: 'auto', ...rest }, listener);
  const { code } = language.language;
  // ASR doc, boost_weight: bias strength for Indian-language audio, ignored for English and for auto.
  const boostWeight = code !== 'en' && indicLanguages.has(code) ? weight : undefined;
  if (engine.languages.includes(code)) return engine.open({ language: code, ...rest, boostWeight }, listener);
  return deafStream(code, rest.rateHz);
}

/** What a client is told when the engine fails: none of the engine's own words, which belong in the log. */
export function recognitionFailure(error: unknown): string {
  return `Recognition failed: ${detailText(refusalOf(error).detail)}`;
}

function deafStream(language: string, rateHz: number): RecognitionStream {
  let samples = 0;
  let committed = 0;
  return {
    push(pcm) {
      samples += pcm.length;
    },
    commit() {
      const result: RecognitionResult = {
        text: '',
        words: [],
        startS: committed / rateHz,
        endS: samples / rateHz,
        confidence: 0,
        language,
        alternatives: [],
      };
      committed = samples;
      return Promise.resolve([result]);
    },
    close: () => undefined,
  };
}

/**
 * Splits terms at double vertical bars and at line ends; a single bar belongs to its term, blanks are dropped (ASR doc,
 * parameter boost_phrases). A list is taken as it is.
 */
export function splitBoostPhrases(given: string | readonly string[]): string[] {
  const terms = typeof given === 'string' ? given.split(/\|\||\r?\n/) : given;
  return terms.map((term) => term.trim()).filter((term) => term !== '');
}
