import { pairTable } from '../../../kernel/pair-table.ts';

/**
 * The Indian scripts that Unicode lays out in parallel: a letter has the same offset in all of them, and this folder works on offsets.
 * The first code point of each block.
 */
const blocks = {
  devanagari: 0x0900,
  bengali: 0x0980,
  gurmukhi: 0x0a00,
  gujarati: 0x0a80,
  odia: 0x0b00,
  tamil: 0x0b80,
  telugu: 0x0c00,
  kannada: 0x0c80,
  malayalam: 0x0d00,
} as const;

export type BrahmicScript = keyof typeof blocks;

export const VIRAMA = 0x4d;
export const NUKTA = 0x3c;
export const ANUSVARA = 0x02;

/** Offsets from FIRST_OWN on, and OWN_SIGN, mean something different in each block. */
const FIRST_OWN = 0x70;
const OWN_SIGN = 0x4e;

type Letters = ReadonlyMap<string, readonly number[]>;

/** A table from letters to the offsets of Devanagari letters. */
function devanagariTable(text: string): Letters {
  return new Map(Array.from(pairTable(text), ([letter, written]) => [letter, Array.from(written, offsetOf)]));
}

/** The offset of a Devanagari letter. */
export function offsetOf(letter: string): number {
  return codePoint(letter) - blocks.devanagari;
}

/** Letters outside the common layout. */
const irregular = devanagariTable('ॲ=ऍ ॻ=ग ॼ=ज ॾ=ड ॿ=ब ৎ=त् ৰ=र ৱ=व ੰ=ं ୱ=व ൺ=ण् ൻ=न् ർ=र् ൽ=ल् ൾ=ळ्');
/** The Gurmukhi sign that doubles the next consonant. */
const ADDAK = 'ੱ';

/**
 * One sign of a Brahmic script, or any other character. `own` is its spelling in its own script, where that is not the letter at the
 * offset; of a character read as several signs, the first one carries it.
 */
export type Sign =
  | { readonly script: BrahmicScript; readonly offset: number; readonly own?: string }
  | { readonly other: string };

/** Reads text as signs. Dandas and anything that is neither letter, mark nor digit count as other characters; joiners are dropped. */
export function signsOf(text: string): Sign[] {
  const out: Sign[] = [];
  const characters = Array.from(text.normalize('NFC'));
  for (const [index, character] of characters.entries()) {
    const script = scriptOf(character);
    if (script === undefined || /[\p{P}\p{S}\p{No}]/u.test(character)) {
      if (!/[\u200c\u200d]/.test(character)) out.push({ other: character });
      continue;
    }
    if (character === ADDAK) {
      const next = codePoint(characters[index + 1] ?? '') - blocks[script];
      if (isConsonant(next)) out.push({ script, offset: next, own: ADDAK }, { script, offset: VIRAMA, own: '' });
      continue;
    }
    const known = irregular.get(character);
    if (known === undefined) out.push({ script, offset: codePoint(character) - blocks[script] });
    else for (const [at, offset] of known.entries()) out.push({ script, offset, own: at === 0 ? character : '' });
  }
  return out;
}

function codePoint(character: string): number {
  return character.codePointAt(0) ?? 0;
}

function scriptOf(character: string): BrahmicScript | undefined {
  const code = codePoint(character);
  if (code === 0x0964 || code === 0x0965) return undefined;
  for (const [script, first] of Object.entries(blocks) as [BrahmicScript, number][]) {
    if (code >= first && code < first + 0x80) return script;
  }
  return undefined;
}

export function isConsonant(offset: number): boolean {
  return (offset >= 0x15 && offset <= 0x39) || (offset >= 0x58 && offset <= 0x5f);
}

/** An independent vowel. */
export function isVowel(offset: number): boolean {
  return (offset >= 0x04 && offset <= 0x14) || offset === 0x60 || offset === 0x61;
}

/** A vowel sign, written on a consonant. */
export function isVowelSign(offset: number): boolean {
  return (offset >= 0x3e && offset <= 0x4c) || offset === 0x62 || offset === 0x63;
}

/** Letters that stand in, in Devanagari, for those that a script lacks; some are dropped. */
const substitutes: Readonly<Partial<Record<BrahmicScript, Letters>> & { all: Letters }> = {
  all: devanagariTable('ऀ=ं ँ=ं ऍ=ए ऎ=ए ऑ=ओ ऒ=ओ ऩ=न ऱ=र ळ=ल ऴ=ळ ॅ=े ॆ=े ॉ=ो ॊ=ो व=ब ष=श ऋ=रि ृ=्रि'),
  tamil: devanagariTable('ख=क ग=क घ=क छ=च झ=ज ठ=ट ड=ट ढ=ट थ=त द=त ध=त फ=प ब=प भ=प ऋ=रु ृ=्रु'),
  // Bengali writes य with a dot; without one it is read as j.
  bengali: devanagariTable('य=य़'),
  telugu: devanagariTable('़='),
  // The sign at its place is another one.
  malayalam: devanagariTable('़='),
};

/** The last consonant of each row, k to p, and the row's nasal. */
const nasals = ['ङङ', 'ञञ', 'णण', 'नन', 'भम'].map((pair) => Array.from(pair, offsetOf));

/** Writes signs in a Brahmic script; other characters stay as they are. */
export function writeBrahmic(signs: readonly Sign[], script: BrahmicScript): string {
  let out = '';
  for (const [index, sign] of signs.entries()) {
    if ('other' in sign) {
      out += sign.other;
      continue;
    }
    if (sign.script === script) {
      out += sign.own ?? letter(script, sign.offset);
      continue;
    }
    const next = signs[index + 1];
    const following = next !== undefined && 'offset' in next ? next.offset : undefined;
    const before = signs[index - 1];
    const conjunct = before !== undefined && 'offset' in before && before.offset === VIRAMA;
    out += fitted(script, sign.offset, following, conjunct)
      .map((offset) => letter(script, offset))
      .join('');
  }
  return out.normalize('NFC');
}

function fitted(script: BrahmicScript, offset: number, following: number | undefined, conjunct: boolean): readonly number[] {
  // Tamil writes the nasal of the following consonant's row; its anusvara is for Sanskrit loans.
  if (script === 'tamil' && (offset === ANUSVARA || offset === 0x01)) return [nasalBefore(following), VIRAMA];
  if (script === 'bengali' && offset === 0x2f && conjunct) return [0x2f];
  const own = substitutes[script]?.get(letter('devanagari', offset));
  if (own !== undefined) return own;
  const isShared = offset < FIRST_OWN && offset !== OWN_SIGN;
  if (isShared && /\P{Cn}/u.test(letter(script, offset))) return [offset];
  const instead = substitutes.all.get(letter('devanagari', offset)) ?? [];
  return instead.flatMap((each) => (each === offset ? [] : fitted(script, each, following, conjunct)));
}

function nasalBefore(following: number | undefined): number {
  return nasals.find(([last = 0]) => following !== undefined && following >= 0x15 && following <= last)?.[1] ?? 0x2e;
}

function letter(script: BrahmicScript, offset: number): string {
  return String.fromCodePoint(blocks[script] + offset);
}
