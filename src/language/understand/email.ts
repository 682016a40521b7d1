import { pairTable } from '../../kernel/pair-table.ts';
import { sayNumber } from './numbers.ts';
import { pieceAt } from './digits.ts';
import { type Language, phraseAt, phraseTable, plainText } from './tokens.ts';
import { letterNamed, spelledAt, spelledWords } from './spelling.ts';
import { inLatin } from './romanised.ts';

export interface EmailReading {
  /** The address, once it has a domain with a dot. */
  readonly address: string | undefined;
  /** The part said so far. */
  readonly soFar: string;
  /** Whether more may follow: nothing after `gmail.com`, `.in` after `.co`. */
  readonly ends: 'whole' | 'maybe' | 'open';
}

const SIGNS = phraseTable<string>(
  [
    [
      '@',
      ['at', 'at the rate', 'at the rate of', 'at rate', 'at sign', 'ऐट', 'अट', 'ऐट द रेट', 'एट द रेट', 'ऐट दी रेट', 'एट दी रेट'],
    ],
    ['.', ['dot', 'period', 'full stop', 'डॉट', 'डाट', 'डोट']],
    ['_', ['underscore', 'under score', 'अंडरस्कोर', 'अंडर स्कोर']],
    ['-', ['dash', 'hyphen', 'minus', 'डैश', 'हाइफ़न', 'हाइफन']],
    ['+', ['plus', 'प्लस']],
  ],
  spelledWords,
);
/** Said in front of an address, and between its letters. */
const LEAD_IN = new Set(
  ['is its it my the to use email mail e-mail address id yes sure okay um uh', 'मेरा मेरी ईमेल मेल आईडी पता है एड्रेस हां']
    .join(' ')
    .split(' ')
    .map(plainText),
);
const BETWEEN = new Set(['all', 'small', 'lowercase', 'letters', 'letter', 'capital', 'word']);
/** Parts of domains in Devanagari. */
const DOMAIN_WORDS = pairTable(
  plainText(
    `जीमेल=gmail याहू=yahoo हॉटमेल=hotmail आउटलुक=outlook रेडिफमेल=rediffmail रेडिफ=rediff आईक्लाउड=icloud कॉम=com
    कोम=com काम=com इन=in को=co नेट=net ऑर्ग=org ओआरजी=org गूगल=google`,
  ),
);
const PROVIDERS = new Set('gmail yahoo hotmail outlook rediffmail icloud live aol proton'.split(' '));
const EIGHT_OR_AT = plainText('एट');
const LAST_LABELS = new Set('in uk org net edu gov io dev us au info biz'.split(' '));

/**
 * An e-mail address as it is said (`ravi dot kumar one two at gmail dot com`, `at the rate`, `रवि डॉट कुमार ऐट जीमेल डॉट
 * कॉम`), spelled (`r a v i`, `R for Raja`) or as a recogniser writes it. Hindi words are put in Latin letters, which is a
 * guess. Of several addresses the last one counts.
 */
export function readEmail(text: string): EmailReading {
  // Anchored at word beginnings: else a long word is searched from each of its letters.
  const written = [...text.matchAll(/(?<![\w.%+-])[\w.%+-]+@[\w-]+(?:\.[\w-]+)*\.[A-Za-z]{2,}/g)].at(-1)?.[0];
  if (written !== undefined) return ofAddress(written.toLowerCase());
  const words = spelledWords(withSigns(text));
  const at = atSign(words);
  if (at === undefined) {
    const local = joined(words.slice(startOf(words, words.length)), false);
    return { address: undefined, soFar: local, ends: 'open' };
  }
  const local = joined(words.slice(startOf(words, at.from), at.from), false).replace(/^[.+-]+|[.+-]+$/g, '');
  const domain = joined(words.slice(at.to), true);
  const soFar = `${local}@${domain}`;
  const whole = local !== '' && /^[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,}$/.test(domain);
  return whole ? ofAddress(soFar) : { address: undefined, soFar, ends: 'open' };
}

function ofAddress(address: string): EmailReading {
  const labels = address.slice(address.indexOf('@') + 1).split('.');
  const [last = '', before = ''] = labels.toReversed();
  const ends =
    LAST_LABELS.has(last) || (PROVIDERS.has(before) && last === 'com')
      ? 'whole'
      : last === 'co' || last.length === 2
        ? 'open'
        : 'maybe';
  return { address, soFar: address, ends };
}

function withSigns(text: string): string {
  return text
    .replaceAll('@', ' at ')
    .replaceAll(/(?<=[\p{L}\p{M}\d])\.(?=[\p{L}\d])/gu, ' dot ')
    .replaceAll('_', ' underscore ')
    .replaceAll(/(?<=[\p{L}\d])\s*[-–]\s*(?=[\p{L}\d])/gu, (dash) => (dash.length > 1 ? dash : ' dash '));
}

function lower(words: readonly string[]): string[] {
  return words.map((word) => word.toLowerCase());
}

/** The last `at`. एट also means eight, so it counts only before a provider or a dotted word. */
function atSign(words: readonly string[]): { from: number; to: number } | undefined {
  const plain = lower(words);
  for (let index = words.length - 1; index >= 0; index--) {
    const sign = phraseAt(plain, index, SIGNS);
    if (sign?.value === '@') return sign;
    const next = DOMAIN_WORDS.get(plain[index + 1] ?? '') ?? plain[index + 1] ?? '';
    if (plain[index] === EIGHT_OR_AT && (PROVIDERS.has(next) || isDot(plain[index + 2]))) return { from: index, to: index + 1 };
  }
  return undefined;
}

function isDot(word: string | undefined): boolean {
  return word !== undefined && SIGNS.get(word) === '.';
}

/** Start of the local part: after the last lead-in word. */
function startOf(words: readonly string[], end: number): number {
  const plain = lower(words);
  const leadIn = plain.slice(0, end).findLastIndex((word) => LEAD_IN.has(word));
  if (leadIn >= 0) return leadIn + 1;
  // A polite जी at the start is not the letter G.
  const second = end > 1 ? plain[1] : undefined;
  const polite = plain[0] === 'जी' && second !== undefined && letterNamed(second) === undefined;
  return polite && spelledAt(words, 0)?.to === 1 ? 1 : 0;
}

function joined(words: readonly string[], domain: boolean): string {
  const plain = lower(words);
  let text = '';
  for (let index = 0; index < words.length;) {
    const sign = phraseAt(plain, index, SIGNS);
    const piece = sign ?? pieceOf(words, plain, index, domain);
    text += piece.value;
    index = piece.to;
  }
  return text;
}

function pieceOf(
  words: readonly string[],
  plain: readonly string[],
  index: number,
  domain: boolean,
): { value: string; to: number } {
  const word = plain[index] ?? '';
  const known = domain ? DOMAIN_WORDS.get(word) : undefined;
  if (known !== undefined) return { value: known, to: index + 1 };
  const spelled = spelledAt(words, index);
  // A letter's name counts as a letter beside another letter; else it is a word ("see", "jay").
  const certain = /^[a-z]$/.test(word) || (spelled !== undefined && spelled.to > index + 1) || isSpelledOut(plain, index);
  if (spelled !== undefined && certain) return { value: spelled.value, to: spelled.to };
  const digits = pieceAt(plain, index);
  if (digits !== undefined) return digits;
  if (BETWEEN.has(word)) return { value: '', to: index + 1 };
  return { value: /^[a-z0-9]+$/.test(word) ? word : inLatin(word), to: index + 1 };
}

function isSpelledOut(plain: readonly string[], index: number): boolean {
  const named = (word: string | undefined): boolean => word !== undefined && letterNamed(word) !== undefined;
  if (!named(plain[index])) return false;
  // बी is always a letter; "bee" could be a name.
  return !/^[a-z]/.test(plain[index] ?? '') || named(plain[index - 1]) || named(plain[index + 1]);
}

const SIGN_NAMES: Readonly<Record<Language, ReadonlyMap<string, string>>> = {
  en: pairTable('@=at .=dot _=underscore -=dash +=plus'),
  hi: pairTable('@=ऐट .=डॉट _=अंडरस्कोर -=डैश +=प्लस'),
};
/** Words with another meaning when an address is read out. */
const TAKEN = new Set(
  'at dot to use period underscore dash hyphen minus plus is its it my the email mail address id yes sure okay um uh all small lowercase letters letter capital word double triple treble quadruple under full'.split(
    ' ',
  ),
);

/**
 * An address as it is said: `ravi dot kumar one two at gmail dot com`. Digits one by one; words that would be heard as
 * something else (`one`, `dot`) letter by letter.
 */
export function sayEmail(language: Language, address: string): string {
  const pieces = address.toLowerCase().match(/[a-z]+|\d|[^a-z\d\s]/g) ?? [];
  return pieces
    .flatMap((piece) => {
      const sign = SIGN_NAMES[language].get(piece);
      if (sign !== undefined) return [sign];
      if (/^\d$/.test(piece)) return [sayNumber(language, Number(piece))];
      return clear(piece) ? [piece] : piece.split('');
    })
    .join(' ');
}

function clear(word: string): boolean {
  return word.length > 1 && !TAKEN.has(word) && letterNamed(word) === undefined && pieceAt([word], 0) === undefined;
}
