import { phoneWord } from './jsgf.ts';

export interface Dictionary {
  /** A dictionary file of the words and of every phone, one pronunciation a line. */
  readonly text: string;
  /** The words that have a pronunciation, spelt as they were asked for. */
  readonly words: ReadonlySet<string>;
  readonly phones: readonly string[];
}

/**
 * Takes the pronunciations of some words out of the model's whole dictionary, which takes the library half a second to
 * read. Words are found in any case; a second pronunciation is written `word(2)`.
 * @param whole the model's `cmudict-en-us.dict`
 */
export function dictionaryOf(whole: string, words: ReadonlySet<string>): Dictionary {
  const wanted = new Map([...words].map((word) => [word.toLowerCase(), word]));
  const phones = new Set<string>();
  const found = new Set<string>();
  const lines: string[] = [];
  for (const line of whole.split('\n')) {
    const [entry, ...sounds] = line.trim().split(/\s+/);
    if (entry === undefined || sounds.length === 0) continue;
    for (const phone of sounds) phones.add(phone);
    const [, name = '', variant = ''] = /^(.+?)(\(\d+\))?$/.exec(entry) ?? [];
    const word = wanted.get(name);
    if (word === undefined) continue;
    found.add(word);
    lines.push(`${word}${variant} ${sounds.join(' ')}`);
  }
  const sorted = [...phones].toSorted();
  lines.push(...sorted.map((phone) => `${phoneWord(phone)} ${phone}`), '');
  return { text: lines.join('\n'), words: found, phones: sorted };
}
