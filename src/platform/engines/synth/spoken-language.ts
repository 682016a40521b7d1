/** Scripts by their Unicode property, and the language that reads them when nobody says which. */
const scripts = [
  { pattern: /\p{Script=Devanagari}/gu, language: 'hi', also: ['mr', 'ne', 'sa', 'kok', 'mai', 'doi', 'brx', 'sat', 'sd', 'ks'] },
  { pattern: /\p{Script=Bengali}/gu, language: 'bn', also: ['as', 'mni'] },
  { pattern: /\p{Script=Gurmukhi}/gu, language: 'pa', also: [] },
  { pattern: /\p{Script=Gujarati}/gu, language: 'gu', also: [] },
  { pattern: /\p{Script=Oriya}/gu, language: 'or', also: [] },
  { pattern: /\p{Script=Tamil}/gu, language: 'ta', also: [] },
  { pattern: /\p{Script=Telugu}/gu, language: 'te', also: [] },
  { pattern: /\p{Script=Kannada}/gu, language: 'kn', also: [] },
  { pattern: /\p{Script=Malayalam}/gu, language: 'ml', also: [] },
  { pattern: /\p{Script=Arabic}/gu, language: 'ur', also: ['sd', 'ks'] },
  { pattern: /\p{Script=Ol_Chiki}/gu, language: 'sat', also: [] },
  { pattern: /\p{Script=Meetei_Mayek}/gu, language: 'mni', also: [] },
  { pattern: /\p{Script=Latin}/gu, language: 'en', also: [] },
] as const;

/** Languages without an espeak voice, read by a neighbour that shares their script. */
const neighbours: Readonly<Record<string, string>> = {
  brx: 'hi',
  doi: 'hi',
  mai: 'hi',
  sa: 'hi',
  sat: 'hi',
  ks: 'ur',
  mni: 'bn',
};
/** The same, where the text is in Devanagari and the language's own espeak voice reads Perso-Arabic. */
const inDevanagari = new Set(['ks', 'sd']);

/**
 * Which espeak language reads this text: the one asked for, else the voice's home, wherever they can read the script that
 * most of the text is in; else the script's main language. Codes may carry a region (`en-IN`).
 * @returns undefined when no engine has letters for the script (Ol Chiki, Meetei Mayek: it would spell or be silent)
 */
export function espeakLanguage(text: string, asked: string | undefined, home: string): string | undefined {
  const script = mainScript(text);
  if (script?.language === 'sat' || script?.language === 'mni') return undefined;
  const wanted = [asked?.toLowerCase().split(/[-_]/)[0], home].find((code) => code !== undefined && reads(script, code));
  const language = wanted ?? script?.language ?? asked ?? home;
  if (script?.language === 'hi' && inDevanagari.has(language)) return 'hi';
  const engine = neighbours[language] ?? language;
  return engine === 'en' ? 'en-us' : engine;
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

/** Text without letters (digits, signs) is read by whoever is asked. */
function reads(script: (typeof scripts)[number] | undefined, code: string): boolean {
  return script === undefined || script.language === code || (script.also as readonly string[]).includes(code);
}
