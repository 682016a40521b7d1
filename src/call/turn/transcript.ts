/** Recognised words of one turn: finals in `seg` order, the running partial apart (ASR doc, "Events"). */
export interface TurnWords {
  readonly finals: ReadonlyMap<number, string>;
  readonly partial: { readonly seg: number; readonly text: string } | undefined;
  /** The highest `seg` seen in this turn, −1 before any. */
  readonly lastSeg: number;
}

/** Most text of one turn: some ten minutes of speech. Of more the last words count. */
const MOST_CHARACTERS = 10_000;
const MOST_SEGMENTS = 500;

export const NO_WORDS: TurnWords = { finals: new Map(), partial: undefined, lastSeg: -1 };

export function addPartial(words: TurnWords, seg: number, text: string): TurnWords {
  if (words.finals.has(seg)) return words;
  return { ...words, partial: { seg, text }, lastSeg: Math.max(words.lastSeg, seg) };
}

/** Adds a final, or replaces one (`final_refined`). Drops empty ones before it: some recognisers send one for every second of silence. */
export function addFinal(words: TurnWords, seg: number, text: string): TurnWords {
  const finals = bounded(new Map([...words.finals].filter(([, said]) => said.trim() !== '')).set(seg, text));
  const partial = words.partial !== undefined && words.partial.seg <= seg ? undefined : words.partial;
  return { finals, partial, lastSeg: Math.max(words.lastSeg, seg) };
}

/** Drops the oldest finals of a turn that has too many words. */
function bounded(finals: Map<number, string>): Map<number, string> {
  let characters = 0;
  for (const text of finals.values()) characters += text.length;
  for (const [seg, text] of finals) {
    if (characters <= MOST_CHARACTERS && finals.size <= MOST_SEGMENTS) break;
    characters -= text.length;
    finals.delete(seg);
  }
  return finals;
}

/** A turn's words followed by those that came since. */
export function joinWords(before: TurnWords, since: TurnWords): TurnWords {
  const finals = bounded(new Map([...before.finals, ...since.finals]));
  const partial = since.partial ?? before.partial;
  return {
    finals,
    partial: partial !== undefined && finals.has(partial.seg) ? undefined : partial,
    lastSeg: Math.max(before.lastSeg, since.lastSeg),
  };
}

/** The joined finals; empty finals add nothing. */
export function finalText(words: TurnWords): string {
  // Called on every tick of every call, most of which have no finals.
  if (words.finals.size === 0) return '';
  return [...words.finals.entries()]
    .sort(([a], [b]) => a - b)
    .map(([, text]) => text.trim())
    .filter((text) => text !== '')
    .join(' ');
}

/** The finals followed by the partial: the best guess while the final is outstanding. */
export function provisionalText(words: TurnWords): string {
  const partial = words.partial?.text.trim() ?? '';
  if (words.finals.size === 0) return partial;
  return [finalText(words), partial].filter((text) => text !== '').join(' ');
}

export function hasWords(words: TurnWords): boolean {
  return provisionalText(words) !== '';
}

/** Whether two transcripts differ only in case, punctuation or spacing. */
export function sameWords(a: string, b: string): boolean {
  return plainWords(a) === plainWords(b);
}

/** Lower-case words with single spaces, without punctuation. */
export function plainWords(text: string): string {
  return text
    .toLowerCase()
    .replace(/[\p{P}\p{S}\s]+/gu, ' ')
    .trim();
}
