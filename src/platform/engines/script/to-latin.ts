import { ANUSVARA, type BrahmicScript, isConsonant, isVowel, isVowelSign, NUKTA, type Sign, VIRAMA } from './brahmic.ts';

/** How offsets are spelt in Latin letters. */
interface Spelling {
  /** From offset 0x15 (k) to 0x39 (h). */
  readonly consonants: readonly string[];
  /** Consonants with a dot below. */
  readonly dotted: ReadonlyMap<number, string>;
  /** By the offset of the vowel that stands alone. */
  readonly vowels: ReadonlyMap<number, string>;
  readonly signs: ReadonlyMap<number, string>;
  /** Whether vowels that Hindi writes and does not say are left out. */
  readonly spoken: boolean;
}

const alone = [0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x10, 0x11, 0x12, 0x13, 0x14, 0x60, 0x61];

function spelling(consonants: string, dotted: string, vowels: string, signs: string, spoken: boolean): Spelling {
  const pairs = (offsets: readonly number[], list: string): Map<number, string> =>
    new Map(list.split(' ').map((word, index) => [offsets[index] ?? 0, word === '_' ? '' : word]));
  return {
    consonants: consonants.split(' '),
    dotted: pairs([0x15, 0x16, 0x17, 0x1c, 0x21, 0x22, 0x2b, 0x2f], dotted),
    vowels: pairs(alone, vowels),
    signs: pairs([0x00, 0x01, ANUSVARA, 0x03, 0x3d, 0x50], signs),
    spoken,
  };
}

/** As Hindi and its neighbours are written in messages. */
export const plainLatin = spelling(
  'k kh g gh n ch chh j jh n t th d dh n t th d dh n n p ph b bh m y r r l l zh v sh sh s h',
  'q kh g z r rh f y',
  'a a aa i i u u ri li e e e ai o o o au ri li',
  'n n n h _ om',
  true,
);

/** ITRANS 5.3. */
export const itrans = spelling(
  'k kh g gh ~N ch Ch j jh ~n T Th D Dh N t th d dh n ^n p ph b bh m y r R l L zh v sh Sh s h',
  'q K G z .D .Dh f Y',
  'a a A i I u U RRi LLi e e e ai o o o au RRI LLI',
  '.N .N M H .a OM',
  false,
);

interface Syllable {
  readonly consonant: string;
  /** Empty where a virama stands. */
  vowel: string;
  /** Nobody wrote the vowel: it is the one that every consonant has. */
  readonly inherent: boolean;
  /** Nasals and breath after the vowel. */
  after: string;
  readonly script: BrahmicScript;
}

/** Scripts whose languages drop vowels that are written. */
const dropping = new Set<BrahmicScript>(['devanagari', 'gujarati', 'gurmukhi']);

/** Writes signs in Latin letters; other characters stay, dandas become full stops. */
export function writeLatin(signs: readonly Sign[], latin: Spelling): string {
  let out = '';
  let word: Syllable[] = [];
  const endWord = (): void => {
    if (latin.spoken) leaveOutUnspoken(word);
    out += word.map(({ consonant, vowel, after }) => consonant + vowel + after).join('');
    word = [];
  };
  for (let index = 0; index < signs.length; index += 1) {
    const sign = signs[index]!;
    if ('other' in sign) {
      endWord();
      out += sign.other === '।' || sign.other === '॥' ? '.' : sign.other;
      continue;
    }
    const { offset, script } = sign;
    const offsetAt = (at: number): number => {
      const other = signs[at];
      return other !== undefined && 'offset' in other ? other.offset : -1;
    };
    if (offset >= 0x66 && offset <= 0x6f) {
      endWord();
      out += String(offset - 0x66);
    } else if (isConsonant(offset)) {
      const dotted = offsetAt(index + 1) === NUKTA;
      if (dotted) index += 1;
      const consonant = (dotted ? latin.dotted.get(offset) : undefined) ?? latin.consonants[offset - 0x15] ?? '';
      const mark = offsetAt(index + 1);
      const written = mark === VIRAMA || isVowelSign(mark);
      if (written) index += 1;
      const vowel = mark === VIRAMA ? '' : (latin.vowels.get(written ? standing(mark) : 0x05) ?? 'a');
      word.push({ consonant, vowel, inherent: !written, after: '', script });
    } else if (isVowel(offset)) {
      word.push({ consonant: '', vowel: latin.vowels.get(offset) ?? 'a', inherent: false, after: '', script });
    } else {
      const text = latin.signs.get(offset) ?? '';
      const last = word.at(-1);
      if (last === undefined) out += text;
      else {
        const next = offsetAt(index + 1);
        // Before p and b a nasal is an m, and in the south at a word's end too.
        const labial = (next >= 0x2a && next <= 0x2e) || (next === -1 && !dropping.has(script));
        last.after += latin.spoken && text === 'n' && labial ? 'm' : text;
      }
    }
  }
  endWord();
  return out;
}

/** The vowel that stands alone, for its sign. */
function standing(sign: number): number {
  return sign === 0x62 || sign === 0x63 ? sign - 2 : sign - 0x38;
}

/**
 * Hindi does not say the inherent vowel at a word's end, nor between a spoken syllable and a consonant with a vowel of
 * its own: `karanaa` is `karna`. A long a at the end is written short, as people do.
 */
function leaveOutUnspoken(word: Syllable[]): void {
  const silent = (syllable: Syllable): boolean => syllable.inherent && syllable.after === '' && dropping.has(syllable.script);
  const last = word.at(-1);
  if (last === undefined) return;
  if (word.length > 1 && silent(last) && word.at(-2)!.vowel !== '') last.vowel = '';
  if (last.vowel === 'aa' && last.after === '' && dropping.has(last.script)) last.vowel = 'a';
  for (let index = word.length - 2; index > 0; index -= 1) {
    const [before, here, next] = [word[index - 1]!, word[index]!, word[index + 1]!];
    if (silent(here) && before.vowel !== '' && next.vowel !== '' && next.consonant !== '') here.vowel = '';
  }
}
