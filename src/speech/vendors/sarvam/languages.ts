/** @see sarvamai 1.1.10 (npm), SpeechToTextRealtimeStreamingLanguageCode: each with the region IN */
const RECOGNISED = 'en hi bn kn ml mr or pa ta te gu as ur ne kok ks sd sa sat mni brx mai doi';
/** @see sarvamai 1.1.10 (npm), TextToSpeechLanguage */
const SPOKEN = 'en hi bn gu kn ml mr or pa ta te';

/** ISO 639 codes. */
export const RECOGNISED_LANGUAGES: ReadonlySet<string> = new Set(RECOGNISED.split(' '));
export const SPOKEN_LANGUAGES: ReadonlySet<string> = new Set(SPOKEN.split(' '));

/** Sarvam's code of a language for recognition. @param language ISO 639 code, with a region or without, or `auto` */
export function recognisedCode(language: string): string {
  return language === 'auto' ? 'auto' : `${base(language)}-IN`;
}

/** The same for synthesis, which has a code of its own for Odia. */
export function spokenCode(language: string): string {
  const code = base(language);
  return `${code === 'or' ? 'od' : code}-IN`;
}

/** The ISO 639 code of one of Sarvam's codes, `od-IN` included. */
export function isoCode(code: string): string {
  return base(code) === 'od' ? 'or' : base(code);
}

function base(code: string): string {
  return (code.split('-')[0] ?? code).toLowerCase();
}
