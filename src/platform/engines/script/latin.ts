import { pairTable } from '../../../kernel/pair-table.ts';
import {
  ANUSVARA,
  type BrahmicScript,
  isConsonant,
  isVowel,
  isVowelSign,
  NUKTA,
  offsetOf,
  type Sign,
  VIRAMA,
} from './brahmic.ts';

/** Latin spellings of consonants, longest first, as Devanagari writes English words. */
const consonants = [
  ...pairTable(
    `tch=च chh=छ sch=स्क ch=च ck=क kh=ख gh=घ jh=झ th=थ dh=ध ph=फ bh=भ sh=श wh=व qu=क्व x=क्स b=ब c=क d=ड f=फ g=ग h=ह j=ज k=क l=ल m=म n=न p=प q=क r=र s=स t=ट v=व w=व y=य z=ज`,
  ),
];
/** Latin spellings of vowels, with the independent vowel. */
const vowels = [...pairTable('aa=आ ai=ए ay=ए au=औ aw=ओ ea=ई ee=ई ei=ए ey=ई ie=ई oa=ओ oo=ऊ ou=औ ow=औ oy=ओ a=आ e=ए i=इ o=ओ u=उ')];

/** A word of Latin letters as signs of an Indian script, by its spelling, not its sound. */
export function readLatin(word: string, script: BrahmicScript): Sign[] {
  const text = spelt(word);
  const out: number[] = [];
  let open = false;
  for (let at = 0; at < text.length;) {
    const rest = text.slice(at);
    const consonant = consonants.find(([letters]) => rest.startsWith(letters));
    // y at the end or before a consonant is a vowel.
    const yVowel = /^y(?![aeiou])/.test(rest);
    if (consonant !== undefined && !yVowel) {
      if (open) out.push(VIRAMA);
      out.push(...Array.from(consonant[1], offsetOf));
      open = true;
      at += consonant[0].length;
      continue;
    }
    const [letters, sound] = yVowel ? ['y', 'ई'] : (vowels.find(([each]) => rest.startsWith(each)) ?? ['', '']);
    if (letters === '') {
      at += 1;
      continue;
    }
    const vowel = offsetOf(sound);
    if (open) out.push(vowel + 0x38);
    else out.push(at === 0 && letters === 'a' ? 0x05 : vowel);
    open = false;
    at += letters.length;
  }
  // Southern scripts mark a final consonant with a virama.
  if (open && ['tamil', 'telugu', 'kannada', 'malayalam'].includes(script)) out.push(VIRAMA);
  return out.map((offset) => ({ script: 'devanagari', offset }));
}

function spelt(word: string): string {
  return word
    .toLowerCase()
    .normalize('NFKD')
    .replaceAll(/[^a-z]/g, '')
    .replaceAll(/c(?=[eiy])/g, 's')
    .replaceAll(/([b-df-hj-np-tv-z])\1/g, '$1')
    .replace(/(?<=[aeiou][a-z]*[b-df-hj-np-tv-z])e$/, '')
    .replaceAll(/tion\b/g, 'shan');
}

/** A romanisation: Latin spellings of the offsets. */
interface Spelling {
  /** From offset 0x15 (k) to 0x39 (h). */
  readonly consonants: readonly string[];
  /** Consonants with a dot below. */
  readonly dotted: ReadonlyMap<number, string>;
  /** By the offset of the independent vowel. */
  readonly vowels: ReadonlyMap<number, string>;
  readonly signs: ReadonlyMap<number, string>;
  /** Whether vowels that Hindi writes but does not speak are left out. */
  readonly spoken: boolean;
}

const INDEPENDENT_VOWELS = [
  0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x10, 0x11, 0x12, 0x13, 0x14, 0x60, 0x61,
];

function spelling(consonants: string, dotted: string, vowels: string, signs: string, spoken: boolean): Spelling {
  const pairs = (offsets: readonly number[], list: string): Map<number, string> =>
    new Map(list.split(' ').map((word, index) => [offsets[index] ?? 0, word === '_' ? '' : word]));
  return {
    consonants: consonants.split(' '),
    dotted: pairs([0x15, 0x16, 0x17, 0x1c, 0x21, 0x22, 0x2b, 0x2f], dotted),
    vowels: pairs(INDEPENDENT_VOWELS, vowels),
    signs: pairs([0x00, 0x01, ANUSVARA, 0x03, 0x3d, 0x50], signs),
    spoken,
  };
}

/** The informal romanisation of Hindi and its neighbours, as in text messages. */
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
  /** Empty before a virama. */
  vowel: string;
  /** The unwritten vowel that every consonant has. */
  readonly inherent: boolean;
  /** Nasals and visarga after the vowel. */
  after: string;
  readonly script: BrahmicScript;
}

/** Scripts whose languages drop inherent vowels in speech. */
const dropping = new Set<BrahmicScript>(['devanagari', 'gujarati', 'gurmukhi']);

/** Writes signs in Latin letters; dandas become full stops, other characters are kept. */
export function writeLatin(signs: readonly Sign[], latin: Spelling): string {
  let out = '';
  let word: Syllable[] = [];
  const endWord = (): void => {
    if (latin.spoken) deleteSchwas(word);
    out += word.map(({ consonant, vowel, after }) => consonant + vowel + after).join('');
    word = [];
  };
  for (let index = 0; index < signs.length; index += 1) {
    const sign = signs[index];
    if (sign === undefined) break;
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
      const vowel = mark === VIRAMA ? '' : (latin.vowels.get(written ? independentVowel(mark) : 0x05) ?? 'a');
      word.push({ consonant, vowel, inherent: !written, after: '', script });
    } else if (isVowel(offset)) {
      word.push({ consonant: '', vowel: latin.vowels.get(offset) ?? 'a', inherent: false, after: '', script });
    } else {
      const text = latin.signs.get(offset) ?? '';
      const last = word.at(-1);
      if (last === undefined) out += text;
      else {
        const next = offsetAt(index + 1);
        // A nasal is m before p and b; in southern languages also at the end of a word.
        const labial = (next >= 0x2a && next <= 0x2e) || (next === -1 && !dropping.has(script));
        last.after += latin.spoken && text === 'n' && labial ? 'm' : text;
      }
    }
  }
  endWord();
  return out;
}

/** The independent vowel of a vowel sign. */
function independentVowel(sign: number): number {
  return sign === 0x62 || sign === 0x63 ? sign - 2 : sign - 0x38;
}

/**
 * Schwa deletion: Hindi drops the inherent vowel at the end of a word, and between a spoken syllable and a consonant with a vowel of its
 * own: `karanaa` is `karna`. A long a at the end is written short, as people do.
 */
function deleteSchwas(word: Syllable[]): void {
  const silent = (syllable: Syllable): boolean => syllable.inherent && syllable.after === '' && dropping.has(syllable.script);
  const last = word.at(-1);
  if (last === undefined) return;
  if (silent(last) && (word.at(-2)?.vowel ?? '') !== '') last.vowel = '';
  if (last.vowel === 'aa' && last.after === '' && dropping.has(last.script)) last.vowel = 'a';
  for (let index = word.length - 2; index > 0; index -= 1) {
    const [before, here, next] = word.slice(index - 1, index + 2);
    if (before === undefined || here === undefined || next === undefined) continue;
    if (silent(here) && before.vowel !== '' && next.vowel !== '' && next.consonant !== '') here.vowel = '';
  }
}
