/** Languages with understanding and speech of days, times, digits and yes/no. */
export const LANGUAGES = ['en', 'hi'] as const;

export type Language = (typeof LANGUAGES)[number];

/** The language for a code such as `hi-IN`; English for all others. */
export function languageOf(code: string): Language {
  return code.split('-')[0]?.toLowerCase() === 'hi' ? 'hi' : 'en';
}
