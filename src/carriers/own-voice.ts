import { defaultPhrases } from '../config/bot-phrases.ts';

const OTHER_LETTER = /(?!\p{Script=Latin})\p{L}/u;

/** The locales of a carrier's voices by language; the first of a language is its usual region. */
export type VoiceLocales = ReadonlyMap<string, readonly string[]>;

/** @param tags separated by blanks; `language=locale` where the carrier names a language in another way */
export function voiceLocales(tags: string): VoiceLocales {
  const locales = new Map<string, string[]>();
  for (const tag of tags.trim().split(/\s+/u)) {
    const [language = '', locale = tag] = tag.includes('=') ? tag.split('=') : [tag.split(/[-_]/u)[0]];
    locales.set(language, [...(locales.get(language) ?? []), locale]);
  }
  return locales;
}

/**
 * What a carrier's own voice reads, and in which locale. Without a matching voice the usual one is used, which reads Latin letters only: a sentence
 * in other letters becomes an apology in English, as it would be silent.
 * @param language of the bot; its built-in sentences may still be English
 */
export function ownVoice(
  sentence: string,
  language: string,
  locales: VoiceLocales,
): { readonly text: string; readonly locale: string | undefined } {
  const english = defaultPhrases('en');
  const inEnglish = !/^en\b/u.test(language) && Object.values(english).includes(sentence);
  const locale = localeOf(inEnglish ? 'en' : language, locales);
  if (locale !== undefined || !OTHER_LETTER.test(sentence)) return { text: sentence, locale };
  return { text: english.apology, locale: localeOf('en', locales) };
}

function localeOf(language: string, locales: VoiceLocales): string | undefined {
  const wanted = language.toLowerCase();
  const spoken = locales.get(wanted.split('-')[0] ?? '');
  return spoken?.find((locale) => locale.toLowerCase().replace('_', '-') === wanted) ?? spoken?.[0];
}
