import { defaultPhrases } from '../config/bot-phrases.ts';

const OTHER_LETTER = /(?!\p{Script=Latin})\p{L}/u;

/**
 * What a carrier's own voice reads, and in which language. Without a matching voice the usual one is used, which reads Latin letters only: a sentence
 * in other letters becomes an apology in English, as it would be silent.
 * @param language of the bot; its built-in sentences may still be English
 * @param localeOf the carrier's name of a language, where it has a voice for it
 */
export function ownVoice<Locale extends string>(
  sentence: string,
  language: string,
  localeOf: (language: string) => Locale | undefined,
): { readonly text: string; readonly locale: Locale | undefined } {
  const english = defaultPhrases('en');
  const inEnglish = !/^en\b/u.test(language) && Object.values(english).includes(sentence);
  const locale = localeOf(inEnglish ? 'en' : language);
  if (locale !== undefined || !OTHER_LETTER.test(sentence)) return { text: sentence, locale };
  return { text: english.apology, locale: localeOf('en') };
}
