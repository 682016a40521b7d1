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

/** Letters outside the common layout, as Devanagari offsets. */
const irregular = new Map<string, readonly number[]>([
  ['ॲ', [0x0d]],
  ['ॻ', [0x17]],
  ['ॼ', [0x1c]],
  ['ॾ', [0x21]],
  ['ॿ', [0x2c]],
  ['ৎ', [0x24, VIRAMA]],
  ['ৰ', [0x30]],
  ['ৱ', [0x35]],
  ['ੰ', [ANUSVARA]],
  ['ୱ', [0x35]],
  ['ൺ', [0x23, VIRAMA]],
  ['ൻ', [0x28, VIRAMA]],
  ['ർ', [0x30, VIRAMA]],
  ['ൽ', [0x32, VIRAMA]],
  ['ൾ', [0x33, VIRAMA]],
]);
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

/** Replacements for letters that a script lacks; an empty list drops the letter. */
type Substitutes = ReadonlyMap<number, readonly number[]>;
const substitutes: Readonly<Partial<Record<BrahmicScript, Substitutes>> & { all: Substitutes }> = {
  all: new Map([
    [0x00, [ANUSVARA]],
    [0x01, [ANUSVARA]],
    [0x0d, [0x0f]],
    [0x0e, [0x0f]],
    [0x11, [0x13]],
    [0x12, [0x13]],
    [0x29, [0x28]],
    [0x31, [0x30]],
    [0x33, [0x32]],
    [0x34, [0x33]],
    [0x45, [0x47]],
    [0x46, [0x47]],
    [0x49, [0x4b]],
    [0x4a, [0x4b]],
    [0x35, [0x2c]],
    [0x37, [0x36]],
    [0x0b, [0x30, 0x3f]],
    [0x43, [VIRAMA, 0x30, 0x3f]],
  ]),
  tamil: new Map([
    ...[0x16, 0x17, 0x18].map((offset): [number, number[]] => [offset, [0x15]]),
    [0x1b, [0x1a]],
    [0x1d, [0x1c]],
    ...[0x20, 0x21, 0x22].map((offset): [number, number[]] => [offset, [0x1f]]),
    ...[0x25, 0x26, 0x27].map((offset): [number, number[]] => [offset, [0x24]]),
    ...[0x2b, 0x2c, 0x2d].map((offset): [number, number[]] => [offset, [0x2a]]),
    [0x0b, [0x30, 0x41]],
    [0x43, [VIRAMA, 0x30, 0x41]],
  ]),
  // Bengali writes य with a dot; without one it is read as j.
  bengali: new Map([[0x2f, [0x2f, NUKTA]]]),
  telugu: new Map([[NUKTA, []]]),
  // The sign at its place is another one.
  malayalam: new Map([[NUKTA, []]]),
};

/** The last consonant of each row, k to p, and the row's nasal. */
const nasals: readonly (readonly [number, number])[] = [
  [0x19, 0x19],
  [0x1e, 0x1e],
  [0x23, 0x23],
  [0x28, 0x28],
  [0x2d, 0x2e],
];

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
  const own = substitutes[script]?.get(offset);
  if (own !== undefined) return own;
  const isShared = offset < FIRST_OWN && offset !== OWN_SIGN;
  if (isShared && /\P{Cn}/u.test(letter(script, offset))) return [offset];
  const instead = substitutes.all.get(offset) ?? [];
  return instead.flatMap((each) => (each === offset ? [] : fitted(script, each, following, conjunct)));
}

function nasalBefore(following: number | undefined): number {
  return nasals.find(([last]) => following !== undefined && following >= 0x15 && following <= last)?.[1] ?? 0x2e;
}

function letter(script: BrahmicScript, offset: number): string {
  return String.fromCodePoint(blocks[script] + offset);
}
