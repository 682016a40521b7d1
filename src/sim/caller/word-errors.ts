const ONES =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'.split(
    ' ',
  );
const TENS = 'twenty thirty forty fifty sixty seventy eighty ninety'.split(' ');
/** Keys of a telephone, as they are said. */
const KEYS: Readonly<Record<string, string>> = { '*': ' star ', '#': ' pound ' };

/** The words of an English text as they are said: without capitals and punctuation, and with numbers up to 99 in words. */
export function wordsOf(text: string): readonly string[] {
  return text
    .toLowerCase()
    .replaceAll(/[*#]/gu, (key) => KEYS[key] ?? key)
    .replaceAll('\u2019', "'")
    .replaceAll(/\b\d{1,2}\b/gu, (digits) => numberWords(Number(digits)))
    .replaceAll(/[^\p{L}\p{M}\p{N}']+/gu, ' ')
    .trim()
    .split(' ')
    .filter((word) => word !== '');
}

function numberWords(number: number): string {
  const ones = ONES[number];
  if (ones !== undefined) return ones;
  const rest = number % 10;
  return `${TENS[Math.floor(number / 10) - 2]}${rest === 0 ? '' : ` ${ONES[rest]}`}`;
}

/** Words to be inserted, deleted or replaced until `heard` is `said`. */
export function wordErrors(said: readonly string[], heard: readonly string[]): number {
  let row = Array.from({ length: heard.length + 1 }, (_, index) => index);
  for (const [index, word] of said.entries()) {
    const above = row;
    row = [index + 1];
    for (const [at, other] of heard.entries()) {
      const replaced = (above[at] ?? 0) + (word === other ? 0 : 1);
      row.push(Math.min(replaced, (above[at + 1] ?? 0) + 1, (row[at] ?? 0) + 1));
    }
  }
  return row.at(-1) ?? 0;
}

/** Words wrong over many texts. A text without words counts nothing. */
export class WordErrorCount {
  words = 0;
  errors = 0;

  add(said: string, heard: string): void {
    const words = wordsOf(said);
    if (words.length === 0) return;
    this.words += words.length;
    this.errors += wordErrors(words, wordsOf(heard));
  }

  /** Share of the words in percent; 0 of none. */
  get percent(): number {
    return this.words === 0 ? 0 : (100 * this.errors) / this.words;
  }
}
