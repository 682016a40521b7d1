import { createContext, useContext } from 'react';

export const LANGUAGES = { en: 'English', hi: 'हिन्दी' } as const;
export type Language = keyof typeof LANGUAGES;

/** Texts of one page in every language: the same names in each. `{name}` stands for a value. */
export type Words<Name extends string = string> = Readonly<Record<Language, Readonly<Record<Name, string>>>>;

/** Holds the catalogue's names together: a text that a language lacks does not compile. */
export function words<const Names extends Readonly<Record<string, string>>>(
  en: Names,
  hi: Readonly<Record<keyof Names & string, string>>,
): Words<keyof Names & string> {
  return { en, hi };
}

export const LanguageContext = createContext<{ readonly language: Language; readonly choose: (language: Language) => void }>({
  language: 'en',
  choose: () => undefined,
});

export function useLanguage(): Language {
  return useContext(LanguageContext).language;
}

/** How the reader writes times and numbers: as their browser does, where it is of the language that they chose. */
export function localeOf(language: Language): string {
  return navigator.languages.find((each) => each.split('-')[0] === language) ?? language;
}

/** The texts of a page in the reader's language; `say(text, {name})` fills in values. */
export function useWords<Name extends string>(catalogue: Words<Name>): Readonly<Record<Name, string>> {
  return catalogue[useLanguage()];
}

/** Fills in what `{name}` stands for. */
export function say(text: string, values: Readonly<Record<string, string | number>>): string {
  return text.replaceAll(/\{(\w+)\}/gu, (whole, name: string) => String(values[name] ?? whole));
}

/** What was chosen before, or the browser's own language. */
export function firstLanguage(): Language {
  const kept = localStorage.getItem('offhook.language') ?? navigator.language.slice(0, 2);
  return kept === 'hi' ? 'hi' : 'en';
}
