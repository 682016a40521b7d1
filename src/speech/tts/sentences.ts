/** Longest piece that is synthesized at once (TTS doc: under 500 characters is recommended). */
const MOST_CHARACTERS = 500;

/** Words that end in a dot in the middle of a sentence. */
const ABBREVIATIONS = new Set([
  'dr',
  'mr',
  'mrs',
  'ms',
  'prof',
  'st',
  'no',
  'vs',
  'e.g',
  'i.e',
  'etc',
  'a.m',
  'p.m',
  'sr',
  'jr',
  'डॉ',
  'श्री',
  'श्रीमती',
]);

/** Sentence marks of the scripts the platform speaks: Latin, Devanagari and its relatives, Arabic, and dashes of silence. */
const MARK = /[.!?…।॥۔؟]/u;
const CLOSING = /["'”’)\]»]/u;

/**
 * Cuts a text into sentences for synthesis; joined they are the text. A cut stands behind a sentence mark and the space
 * after it, never inside a number, a time, an abbreviation, a grapheme cluster or `$…$`; a sentence that is too long is
 * cut at a comma, else at a space.
 */
export function splitForSpeech(text: string, mostCharacters = MOST_CHARACTERS): string[] {
  return sentences(text).flatMap((sentence) => cutLong(sentence, mostCharacters));
}

function sentences(text: string): string[] {
  const characters = Array.from(text);
  const pieces: string[] = [];
  let piece = '';
  let inFormula = false;
  for (let index = 0; index < characters.length; index += 1) {
    const character = characters[index]!;
    piece += character;
    if (character === '$') inFormula = !inFormula;
    if (inFormula || !endsSentence(characters, index, piece)) continue;
    while (index + 1 < characters.length && /\s/u.test(characters[index + 1]!)) {
      index += 1;
      piece += characters[index]!;
    }
    pieces.push(piece);
    piece = '';
  }
  return piece === '' ? pieces : [...pieces, piece];
}

/** Whether the character at this index is the last of a sentence: a mark, or a quote that closes one, before a space. */
function endsSentence(characters: readonly string[], index: number, piece: string): boolean {
  const next = characters[index + 1];
  if (next !== undefined && !/\s/u.test(next)) return false;
  const withoutClosing = piece.replace(new RegExp(`${CLOSING.source}+$`, 'u'), '');
  const mark = withoutClosing.at(-1);
  if (mark === undefined || !MARK.test(mark)) return false;
  if (mark !== '.') return true;
  const word =
    /(\S+)\.$/u
      .exec(withoutClosing)?.[1]
      ?.toLowerCase()
      .replace(/^["'“‘([«]+/u, '') ?? '';
  return !ABBREVIATIONS.has(word) && !/^\p{L}$/u.test(word);
}

function cutLong(sentence: string, mostCharacters: number): string[] {
  const clusters = [...new Intl.Segmenter().segment(sentence)].map(({ segment }) => segment);
  const pieces: string[] = [];
  let from = 0;
  while (clusters.length - from > mostCharacters) {
    const window = clusters.slice(from, from + mostCharacters);
    const comma = window.findLastIndex((cluster, at) => /[,;:،]/u.test(cluster) && window[at + 1] === ' ');
    const space = window.findLastIndex((cluster) => /\s/u.test(cluster));
    const cut = comma > 0 ? comma + 2 : space > 0 ? space + 1 : mostCharacters;
    pieces.push(window.slice(0, cut).join(''));
    from += cut;
  }
  pieces.push(clusters.slice(from).join(''));
  return pieces;
}
