import type { FastifyReply } from 'fastify';
import type {
  RecognitionEngine,
  RecognitionEngineEvent,
  RecognitionResult,
  RecognitionStream,
} from '../../engines/recognise/port.ts';
import { canBeLearnt, MOST_LEARNT_PHRASES } from '../../engines/recognise/phrase-learner.ts';
import { findLanguage, type Language, type LanguageChoice, indicLanguages } from '../../languages.ts';
import { refusalOf } from '../listener/http-app.ts';
import { detailText } from '../listener/refusal.ts';

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

/** How a language is recognised: by a closed vocabulary, by a model of the user's own, or not at all. */
export type LanguageRecognition = 'closed-vocabulary' | 'own-model' | 'none';

export function recognitionOf(engine: RecognitionEngine, code: string): LanguageRecognition {
  if (engine.modelLanguages?.includes(code) === true) return 'own-model';
  return engine.languages.includes(code) ? 'closed-vocabulary' : 'none';
}

/** What of a request bears on the warnings. */
export interface WarnedRequest {
  readonly boostPhrases?: readonly string[];
  /** The caller's own names. */
  readonly glossary?: readonly string[];
  readonly medical?: boolean;
  readonly profanity?: boolean;
}

/** @returns what a request asks for and will not get, in English sentences for whoever sent it; empty when there is nothing */
export function recognitionWarnings(engine: RecognitionEngine, language: LanguageChoice, asked: WarnedRequest = {}): string[] {
  const recognition = language.type === 'auto' ? 'closed-vocabulary' : recognitionOf(engine, language.language.code);
  const phrases = new Set([...(asked.boostPhrases ?? []), ...(asked.glossary ?? [])]);
  switch (recognition) {
    case 'none':
      return language.type === 'auto' ? [] : [noRecogniser(engine, language.language)];
    case 'own-model':
      return (asked.boostPhrases ?? []).length > 0 ? ['boost_phrases has no effect on a recognition model of your own'] : [];
    case 'closed-vocabulary':
      return closedVocabularyWarnings(language, phrases, asked);
  }
}

function noRecogniser(engine: RecognitionEngine, { code, name }: Language): string {
  const known = engine.languages.map((other) => `${findLanguage(other)?.name ?? other} (${other})`).join(', ');
  return `No recogniser for ${name} (${code}): speech in it comes back as empty text. Recognised are ${known}`;
}

function closedVocabularyWarnings(language: LanguageChoice, phrases: ReadonlySet<string>, asked: WarnedRequest): string[] {
  const code = language.type === 'auto' ? 'hi' : language.language.code;
  const learnable = [...phrases].filter((phrase) => canBeLearnt(code, phrase)).length;
  return [
    ...(learnable < phrases.size
      ? [
          `${phrases.size - learnable} of ${phrases.size} phrases to listen for cannot be spoken in this language or have over 60 letters, and cannot be heard`,
        ]
      : []),
    ...(phrases.size > MOST_LEARNT_PHRASES
      ? [`Only the first ${MOST_LEARNT_PHRASES} of ${phrases.size} phrases to listen for are learnt`]
      : []),
    ...(asked.medical === true
      ? ['medical corrects spellings only: the closed vocabulary has no medical terms. Name those to listen for in boost_phrases']
      : []),
    ...(asked.profanity === true ? ['profanity has nothing to mask: the closed vocabulary has no profane words'] : []),
  ];
}

/** Puts warnings into the header X-Warnings as a JSON array in ASCII: the short answer has no room for them (ASR doc, resources). */
export function sendWarnings(reply: FastifyReply, warnings: readonly string[]): void {
  if (warnings.length === 0) return;
  const escaped = (letter: string): string => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`;
  void reply.header('x-warnings', JSON.stringify(warnings).replaceAll(/[^\x20-\x7e]/g, escaped));
}
