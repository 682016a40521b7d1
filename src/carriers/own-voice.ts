import { defaultPhrases } from '../config/bot-phrases.ts';

const OTHER_LETTER = /(?!\p{Script=Latin})\p{L}/u;

/**
 * What a carrier's own voice is to read, and in which of its languages. Without one the voice is the carrier's usual one, which reads Latin
 * letters only: a sentence in other letters is an apology in English then, as it would be silence.
 * @param language of the bot; its built-in sentences may be English all the same
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
