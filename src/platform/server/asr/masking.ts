import { literalPattern } from '../../../kernel/literal-pattern.ts';

/** A span of a text, in UTF-16 units. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** Finds the parts of a text to hide, and gives their replacements. */
export interface Mask {
  /** Spans of NFC text to hide; they may overlap and come in any order. */
  spans(text: string): Span[];
  cover(hidden: string): string;
}

/**
 * Masks the pieces of one text, such as words or segments. A hidden span may cross pieces; its part in each is covered.
 * @returns the pieces in NFC, masked
 */
export function maskPieces(pieces: readonly string[], mask: Mask): string[] {
  const normal = pieces.map((piece) => piece.normalize('NFC'));
  const spans = merged(mask.spans(normal.join(' ')));
  let at = 0;
  return normal.map((piece) => {
    const begin = at;
    at += piece.length + 1;
    let shown = '';
    let done = 0;
    for (const { from, to } of spans) {
      const [start, end] = [Math.max(0, from - begin), Math.min(piece.length, to - begin)];
      if (start >= end) continue;
      shown += piece.slice(done, start) + mask.cover(piece.slice(start, end));
      done = end;
    }
    return shown + piece.slice(done);
  });
}

function merged(spans: readonly Span[]): Span[] {
  const out: { from: number; to: number }[] = [];
  for (const { from, to } of [...spans].sort((a, b) => a.from - b.from)) {
    const last = out.at(-1);
    if (last !== undefined && from < last.to) last.to = Math.max(last.to, to);
    else out.push({ from, to });
  }
  return out;
}

/** Letters, digits, and the marks and joiners that belong to a letter in the Indian scripts. */
const inWord = String.raw`[\p{L}\p{M}\p{N}_\u200c\u200d]`;
/** Signs that writers often omit: the nukta below a letter, and joiners. */
const optionalSigns = String.raw`\u093c\u09bc\u0a3c\u0abc\u0b3c\u200b-\u200d`;

interface WordPatternOptions {
  /** Whether a word may contain blanks and hyphens, as when a recogniser splits it. */
  readonly split: boolean;
}

/**
 * A pattern for a whole word or phrase in NFC text. Case is ignored; blanks match any blanks and punctuation.
 * @returns undefined for a phrase without words
 */
function wordPattern(phrase: string, { split }: WordPatternOptions): RegExp | undefined {
  const words = phrase
    .normalize('NFC')
    .replaceAll(new RegExp(`[${optionalSigns}]`, 'gu'), '')
    .split(/[\s\p{Pd}]+/u)
    .filter((word) => word !== '');
  const first = words[0];
  const last = words.at(-1);
  if (first === undefined || last === undefined) return undefined;
  const between = split ? String.raw`[\s\p{Pd}${optionalSigns}]*` : `[${optionalSigns}]*`;
  const gap = split ? String.raw`[\s\p{P}${optionalSigns}]*` : String.raw`[\s\p{P}${optionalSigns}]+`;
  const body = words.map((word) => Array.from(word, literalPattern).join(between)).join(gap);
  const isWord = new RegExp(inWord, 'u');
  const before = isWord.test(Array.from(first)[0] ?? '') ? `(?<!${inWord})` : '';
  const after = isWord.test(Array.from(last).at(-1) ?? '') ? `[${optionalSigns}]*(?!${inWord})` : '';
  return new RegExp(`${before}${body}${after}`, 'giu');
}

/** All matches of the patterns, overlapping ones included. */
function allSpans(text: string, patterns: readonly RegExp[]): Span[] {
  const spans: Span[] = [];
  for (const pattern of patterns) {
    pattern.lastIndex = 0;
    for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
      spans.push({ from: match.index, to: match.index + match[0].length });
      // The next match may overlap this one.
      pattern.lastIndex = match.index + 1;
    }
  }
  return spans;
}

/**
 * Replaces the client's terms with four asterisks: whole words, case ignored, also when the recogniser split a word (ASR doc, parameter
 * hash_keywords).
 */
export function hashKeywords(keywords: readonly string[]): Mask {
  const terms = keywords.flatMap((keyword) => {
    const pattern = wordPattern(keyword, { split: true });
    return pattern === undefined ? [] : [{ pattern, letters: lettersOf(keyword) }];
  });
  return {
    spans: (text) => {
      // A cheap test first: most of a thousand terms do not occur, and a pattern costs much more.
      const said = lettersOf(text);
      const likely = terms.filter(({ letters }) => said.includes(letters));
      return allSpans(
        text,
        likely.map(({ pattern }) => pattern),
      );
    },
    cover: () => '****',
  };
}

/** The letters of a text in one case, without characters that a match may skip. */
function lettersOf(text: string): string {
  const letters = text.normalize('NFC').replaceAll(/[\s\p{P}\p{M}\u200b-\u200d]/gu, '');
  // Three conversions unify all letters that differ in case only (ß and ẞ, σ and ς).
  return letters.toLowerCase().toUpperCase().toLowerCase();
}

/** Profane words with their usual endings, without mild ones and those with a harmless second meaning. */
const english = `fuck fucks fucked fucker fuckers fucking motherfucker motherfuckers motherfucking shit shits shitty shitting
  bullshit asshole assholes arsehole arseholes dickhead dickheads bitch bitches bastard bastards cunt cunts whore whores slut
  sluts wanker wankers`;
const hindi = `चूतिया चूतिये चुतिया चूतियापा मादरचोद बहनचोद बहेनचोद भेनचोद भोसड़ी भोसड़ीके भोसड़ीवाले हरामी हरामज़ादा हरामज़ादे
  हरामज़ादी कमीना कमीने कमीनी रंडी गांडू गाण्डू गांड लौड़ा लौड़े चोदू`;
const hindiInLatin = `chutiya chutiye chutiyapa madarchod maderchod behenchod bhenchod bahenchod bhosdi bhosdike harami haramzada
  haramzade haramzadi kamina kamine randi gandu lauda laude`;

const patterns = `${english} ${hindi} ${hindiInLatin}`.split(/\s+/).flatMap((word) => wordPattern(word, { split: false }) ?? []);
const letters = new Intl.Segmenter();

/** Masks profane words of English and Hindi, an asterisk for each letter (ASR doc, parameter profanity). */
export const profanity: Mask = {
  spans: (text) => allSpans(text, patterns),
  cover: (hidden) => '*'.repeat([...letters.segment(hidden)].length),
};
