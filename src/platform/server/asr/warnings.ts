import type { FastifyReply } from 'fastify';
import type { RecognitionEngine } from '../../engines/port.ts';
import { findLanguage, type LanguageChoice } from '../../languages.ts';

/** How a language is recognised: by a closed vocabulary, by a model of the user's own, or not at all. */
export type LanguageRecognition = 'closed-vocabulary' | 'own-model' | 'none';

export function recognitionOf(engine: RecognitionEngine, code: string): LanguageRecognition {
  if (engine.modelLanguages?.includes(code) === true) return 'own-model';
  return engine.languages.includes(code) ? 'closed-vocabulary' : 'none';
}

/** @returns what a request asks for and will not get, in English sentences for whoever sent it; empty when there is nothing */
export function recognitionWarnings(engine: RecognitionEngine, language: LanguageChoice): string[] {
  if (language.type === 'auto' || recognitionOf(engine, language.language.code) !== 'none') return [];
  const { code, name } = language.language;
  const known = engine.languages.map((other) => `${findLanguage(other)?.name ?? other} (${other})`).join(', ');
  return [`No recogniser for ${name} (${code}): speech in it comes back as empty text. Recognised are ${known}`];
}

/** Puts warnings into the header X-Warnings as a JSON array in ASCII: the short answer has no room for them (ASR doc, resources). */
export function sendWarnings(reply: FastifyReply, warnings: readonly string[]): void {
  if (warnings.length === 0) return;
  const escaped = (letter: string): string => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`;
  void reply.header('x-warnings', JSON.stringify(warnings).replaceAll(/[^\x20-\x7e]/g, escaped));
}
