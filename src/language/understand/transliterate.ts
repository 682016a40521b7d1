/** Consonants, independent vowels and vowel signs of Devanagari as names are written in Latin letters. */
const CONSONANTS: ReadonlyMap<string, string> = pairs(
  'क k ख kh ग g घ gh ङ n च ch छ chh ज j झ jh ञ n ट t ठ th ड d ढ dh ण n त t थ th द d ध dh न n प p फ f ब b भ bh म m य y र r ल l व v श sh ष sh स s ह h ळ l',
);
const VOWELS: ReadonlyMap<string, string> = pairs('अ a आ a इ i ई i उ u ऊ u ऋ ri ए e ऐ ai ओ o औ au ऑ o ऍ e');
const SIGNS: ReadonlyMap<string, string> = pairs('ा a ि i ी i ु u ू u ृ ri े e ै ai ो o ौ au ॉ o ॅ e');
const VIRAMA = '\u094D';
const NASAL = new Set(['\u0902', '\u0901']);

/**
 * A Hindi word in Latin letters as names mostly are (`रवि` is `ravi`, `शर्मा` is `sharma`): a guess where spellings differ,
 * so it has to be read back.
 */
export function inLatin(word: string): string {
  let latin = '';
  const signs = word.normalize('NFD').replaceAll('\u093C', '').normalize('NFC').split('');
  for (const [index, sign] of signs.entries()) {
    const consonant = CONSONANTS.get(sign);
    if (consonant === undefined) {
      latin += VOWELS.get(sign) ?? SIGNS.get(sign) ?? (NASAL.has(sign) ? 'n' : /[a-z0-9]/i.test(sign) ? sign : '');
      continue;
    }
    latin += consonant;
    const next = signs[index + 1];
    if (next === undefined || next === VIRAMA || SIGNS.has(next)) continue;
    if (!silent(signs, index)) latin += 'a';
  }
  return latin;
}

/** Whether the inherent vowel is silent: before a consonant with a vowel sign, after a full syllable. कमला is kamla. */
function silent(signs: readonly string[], index: number): boolean {
  const [next = '', after] = signs.slice(index + 1, index + 3);
  return index > 0 && CONSONANTS.has(next) && after !== undefined && SIGNS.has(after) && signs[index - 1] !== VIRAMA;
}

function pairs(text: string): ReadonlyMap<string, string> {
  return new Map([...text.matchAll(/(\S+) (\S+)/g)].map(([, sign = '', latin = '']) => [sign, latin] as const));
}
