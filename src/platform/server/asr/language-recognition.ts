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
import { detailText, Refusal } from '../listener/refusal.ts';

export interface RecognitionStreamOptions {
  readonly language: LanguageChoice;
  readonly rateHz: number;
  readonly boostPhrases: readonly string[];
  readonly boostWeight: number;
  /** The client's own terms: recognised like boosted phrases, without being more likely. */
  readonly listedPhrases?: readonly string[];
  readonly learningWaitMs?: number;
}

/**
 * Opens a recognition stream. A listed language without a vocabulary gets finals with empty text.
 */
export function openRecognition(
  engine: RecognitionEngine,
  options: RecognitionStreamOptions,
  listener: (event: RecognitionEngineEvent) => void,
): RecognitionStream {
  const { language, boostWeight: weight, ...rest } = options;
  if (language.type === 'auto') return engine.open({ language: 'auto', ...rest }, listener);
  const { code } = language.language;
  // ASR doc, boost_weight: bias strength for Indian-language audio, ignored for English and for auto.
  const boostWeight = code !== 'en' && indicLanguages.has(code) ? weight : undefined;
  if (engine.languages.includes(code)) return engine.open({ language: code, ...rest, boostWeight }, listener);
  return emptyStream(code, rest.rateHz);
}

/** Refuses requests while the recogniser does not answer. @throws Refusal 503 with Retry-After */
export function refuseWhileSilent({ retryAfterS }: RecognitionEngine): void {
  if (retryAfterS === undefined) return;
  throw new Refusal(503, 'The recogniser does not answer and is being restarted', {
    headers: { 'retry-after': String(retryAfterS) },
  });
}

/** The client's text for a failed engine; the engine's own message is for the log. */
export function recognitionFailure(error: unknown): string {
  return `Recognition failed: ${detailText(refusalOf(error).detail)}`;
}

function emptyStream(language: string, rateHz: number): RecognitionStream {
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
 * Splits terms at double vertical bars and line ends; a single bar is part of a term, empty terms are dropped (ASR doc, parameter
 * boost_phrases). A list is only trimmed.
 */
export function splitBoostPhrases(given: string | readonly string[]): string[] {
  const terms = typeof given === 'string' ? given.split(/\|\||\r?\n/) : given;
  return terms.map((term) => term.trim()).filter((term) => term !== '');
}

/** How a language is recognised: with a closed vocabulary, with the user's own model, or not at all. */
export type LanguageRecognition = 'closed-vocabulary' | 'own-model' | 'none';

export function recognitionOf(engine: RecognitionEngine, code: string): LanguageRecognition {
  if (engine.modelLanguages?.includes(code) === true) return 'own-model';
  return engine.languages.includes(code) ? 'closed-vocabulary' : 'none';
}

/** How `auto` is recognised: by a model that tells languages apart, or by all vocabularies. */
function recognitionOfAny(engine: RecognitionEngine): LanguageRecognition {
  return engine.modelLanguages?.includes('auto') === true ? 'own-model' : 'closed-vocabulary';
}

/** The parts of a request that may cause warnings. */
export interface WarnedRequest {
  readonly boostPhrases?: readonly string[];
  readonly boostWeight?: number;
  /** The client's own terms. */
  readonly glossary?: readonly string[];
  readonly medical?: boolean;
  readonly profanity?: boolean;
}

/** What a request asks for and will not get, as English sentences for the client. */
export function recognitionWarnings(engine: RecognitionEngine, language: LanguageChoice, asked: WarnedRequest = {}): string[] {
  const recognition = language.type === 'auto' ? recognitionOfAny(engine) : recognitionOf(engine, language.language.code);
  const phrases = new Set([...(asked.boostPhrases ?? []), ...(asked.glossary ?? [])]);
  const weightless = boostWarnings(recognition, language, asked);
  switch (recognition) {
    case 'none':
      return language.type === 'auto' ? [] : [noRecogniser(engine, language.language), ...weightless];
    case 'own-model':
      return weightless;
    case 'closed-vocabulary':
      return [...closedVocabularyWarnings(language, phrases, asked), ...weightless];
  }
}

/** The weight that counts as not given (ASR doc, boost_weight). */
const usualBoostWeight = 10;

function boostWarnings(recognition: LanguageRecognition, language: LanguageChoice, asked: WarnedRequest): string[] {
  const { boostPhrases = [], boostWeight = usualBoostWeight } = asked;
  if (boostPhrases.length === 0) return [];
  if (recognition === 'none') return ['boost_phrases has no effect in a language without a recogniser'];
  if (boostWeight === usualBoostWeight) return [];
  if (recognition === 'own-model')
    return ['boost_weight has no effect on a speech model: its words that sound like a phrase are replaced'];
  const isWeighed = language.type !== 'auto' && language.language.code !== 'en' && indicLanguages.has(language.language.code);
  return isWeighed ? [] : ['boost_weight has no effect in English, in languages outside India and with auto; boost_phrases has'];
}

/** What the client should know of how a recording was heard. */
export function heardWarnings(
  engine: RecognitionEngine,
  language: LanguageChoice,
  recognised: readonly { readonly language: string }[],
  unrecognised: readonly { readonly startS: number; readonly endS: number }[],
): string[] {
  if (engine.builtIn !== true) return [];
  const models = new Set(engine.modelLanguages);
  const isModel = language.type === 'auto' ? models.has('auto') : models.has(language.language.code);
  if (isModel || (recognised.length === 0 && unrecognised.length === 0)) return [];
  const seconds = unrecognised.reduce((sum, { startS, endS }) => sum + endS - startS, 0);
  return [
    'Heard by the built-in recogniser: a closed vocabulary for tests with synthetic voices. It does not understand people; models do (offhook models)',
    ...(seconds > 0 ? [`${seconds.toFixed(1)} s of speech are not in its vocabulary and stay unknown`] : []),
  ];
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

/** Sends warnings in the header X-Warnings as a JSON array in ASCII: the short answer has no field for them (ASR doc, resources). */
export function sendWarnings(reply: FastifyReply, warnings: readonly string[]): void {
  if (warnings.length === 0) return;
  const escaped = (letter: string): string => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`;
  void reply.header('x-warnings', JSON.stringify(warnings).replaceAll(/[^\x20-\x7e]/g, escaped));
}
