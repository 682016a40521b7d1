import { indicLanguages } from '../../languages.ts';

/** Scripts, with the language that reads them by default and others that can. */
const scripts = [
  {
    pattern: /\p{Script=Devanagari}/gu,
    language: 'hi',
    also: ['mr', 'ne', 'sa', 'kok', 'mai', 'doi', 'brx', 'sat', 'sd', 'ks', 'bho'],
  },
  { pattern: /\p{Script=Bengali}/gu, language: 'bn', also: ['as', 'mni'] },
  { pattern: /\p{Script=Gurmukhi}/gu, language: 'pa', also: [] },
  { pattern: /\p{Script=Gujarati}/gu, language: 'gu', also: [] },
  { pattern: /\p{Script=Oriya}/gu, language: 'or', also: [] },
  { pattern: /\p{Script=Tamil}/gu, language: 'ta', also: [] },
  { pattern: /\p{Script=Telugu}/gu, language: 'te', also: [] },
  { pattern: /\p{Script=Kannada}/gu, language: 'kn', also: [] },
  { pattern: /\p{Script=Malayalam}/gu, language: 'ml', also: [] },
  { pattern: /\p{Script=Arabic}/gu, language: 'ur', also: ['sd', 'ks', 'ar', 'fa', 'ps', 'ug'] },
  { pattern: /\p{Script=Latin}/gu, language: 'en', also: [] },
  // World languages, in batch: the largest one of each script by default.
  { pattern: /\p{Script=Cyrillic}/gu, language: 'ru', also: ['uk', 'bg', 'be', 'sr', 'mk', 'kk', 'ky', 'tt', 'ba', 'cv'] },
  { pattern: /\p{Script=Greek}/gu, language: 'el', also: [] },
  { pattern: /\p{Script=Hebrew}/gu, language: 'he', also: [] },
  { pattern: /\p{Script=Han}/gu, language: 'zh', also: ['ja', 'yue', 'ko'] },
  { pattern: /[\p{Script=Hiragana}\p{Script=Katakana}]/gu, language: 'ja', also: [] },
  { pattern: /\p{Script=Hangul}/gu, language: 'ko', also: [] },
  { pattern: /\p{Script=Thai}/gu, language: 'th', also: [] },
  { pattern: /\p{Script=Sinhala}/gu, language: 'si', also: [] },
  { pattern: /\p{Script=Myanmar}/gu, language: 'my', also: [] },
  { pattern: /\p{Script=Ethiopic}/gu, language: 'am', also: ['ti'] },
  { pattern: /\p{Script=Georgian}/gu, language: 'ka', also: [] },
  { pattern: /\p{Script=Armenian}/gu, language: 'hy', also: [] },
] as const;

/** Languages without an espeak voice, with the language that reads them: a neighbour of the same script. */
const neighbours: Readonly<Record<string, string>> = {
  brx: 'hi',
  doi: 'hi',
  mai: 'hi',
  sa: 'hi',
  sat: 'hi',
  // Its own voice spells out most vowel signs.
  kok: 'mr',
  ks: 'ur',
  mni: 'bn',
  bho: 'hi',
};
/** Languages whose espeak voice reads Perso-Arabic: Hindi reads them in Devanagari. */
const inDevanagari = new Set(['ks', 'sd']);
/** espeak identifiers that differ from the language code. */
const identifiers: Readonly<Record<string, string>> = { en: 'en-us', zh: 'cmn', no: 'nb' };

/**
 * The espeak language for a text: the one asked for, else the voice's own, if it can read the script of most of the text; else the
 * script's default language. A language without a voice is read by a neighbour.
 * @param text  in scripts the engine can read (`inReadableScript`)
 * @param asked language code, may have a region (`en-IN`)
 * @returns espeak's identifier; the engine may lack that voice
 */
export function espeakLanguage(text: string, asked: string | undefined, home: string): string {
  const script = mainScript(text);
  const language = spokenLanguage(text, asked, home);
  if (script?.language === 'hi' && inDevanagari.has(language)) return 'hi';
  return espeakIdentifier(neighbours[language] ?? language);
}

/** espeak's identifier of a language, which it may lack. */
export function espeakIdentifier(language: string): string {
  return identifiers[language] ?? language;
}

/** The code of the language a text is read in, whether or not the engine has it. */
export function spokenLanguage(text: string, asked: string | undefined, home: string): string {
  const script = mainScript(text);
  const wanted = [asked?.toLowerCase().split(/[-_]/)[0], home].find((code) => code !== undefined && reads(script, code));
  return wanted ?? script?.language ?? asked ?? home;
}

function mainScript(text: string): (typeof scripts)[number] | undefined {
  let best: (typeof scripts)[number] | undefined;
  let most = 0;
  for (const script of scripts) {
    const count = text.match(script.pattern)?.length ?? 0;
    if (count > most) [best, most] = [script, count];
  }
  return best;
}

/** Whether a language can read a script. Any can read text without letters; any that is not Indic can read Latin. */
function reads(script: (typeof scripts)[number] | undefined, code: string): boolean {
  if (script?.language === 'en' && !indicLanguages.has(code)) return true;
  return script === undefined || script.language === code || (script.also as readonly string[]).includes(code);
}
