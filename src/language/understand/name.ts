import { letterNamed, spelledAt, spelledWords } from './spelling.ts';
import { phraseTable, phraseAt, plainText, tokenise } from './tokens.ts';

/** Phrases around a name. */
const AROUND = phraseTable<true>(
  [
    [
      true,
      `my name is, name is, the name is, my full name is, my first name is, my last name is, my, um, uh, er, i am, im,
      this is, it is, its, call me, you can call me, speaking, here, yes, sure, okay, first name is, last name is,
      surname is, first name, last name, surname, full name is, name, and, mr, mrs, ms, sir, madam, मेरा नाम, मेरा पूरा नाम,
      नाम, नाम है, है, हूँ, मैं, बोल रहा हूँ, बोल रही हूँ, बोल रहा, बोल रही, जी, हाँ, श्री, श्रीमती, और, mera naam,
      mera naam hai, hai, ji, main, bol raha hoon, bol rahi hoon`.split(/,\s+/u),
    ],
  ],
  (phrase) => plainText(phrase).split(' '),
);
/** Words that show that an answer is not a name. */
const NO_NAME = new Set(
  tokenise('what why who how not dont want wait sorry hello help repeat क्या क्यों कौन कैसे नहीं मुझे चाहिए रुकिए हैलो'),
);
/** Longest spelled name, in words; `J for Jaipur` has three. */
const MOST_SPELLED_WORDS = 90;
const SPELLED = new Set(['spelled', 'spelt', 'spelling', 'thats']);

/**
 * A name in an answer, without the words around it (`my name is …`, `… बोल रही हूँ`). Spelled letters become a word, which replaces the word before
 * when they spell it (`Ravi, R A V I`). Latin words get a capital.
 * @returns the words of the name; empty for another answer
 */
export function readName(text: string): string[] {
  const shown = text.normalize('NFC').match(/[\p{L}\p{M}][\p{L}\p{M}'’-]*|\d+/gu) ?? [];
  const plain = shown.map((word) => plainText(word).toLowerCase());
  if (plain.some((word) => NO_NAME.has(word) || /^\d/.test(word))) return [];
  const names: string[] = [];
  for (let index = 0; index < shown.length;) {
    const spelled = spelledOut(shown, index);
    if (spelled !== undefined) {
      const before = names.at(-1);
      const again = before !== undefined && before.charAt(0).toLowerCase() === spelled.word[0] && index > 0 && !isInitial(before);
      names.splice(again ? -1 : names.length, again ? 1 : 0, titled(spelled.word));
      index = spelled.to;
      continue;
    }
    const around = phraseAt(plain, index, AROUND);
    if (around !== undefined) index = around.to;
    else {
      const word = shown[index];
      if (word !== undefined && !SPELLED.has(plain[index] ?? '')) names.push(titled(word));
      index += 1;
    }
  }
  return names;
}

/** At least three letters in a row, said one by one; two are initials. */
function spelledOut(shown: readonly string[], index: number): { word: string; to: number } | undefined {
  const first = plainText(shown[index] ?? '').toLowerCase();
  if (letterNamed(first) === undefined && first !== 'double') return undefined;
  // Limited to the length of a spelled name, since this runs for every letter of the answer.
  const near = shown.slice(index, index + MOST_SPELLED_WORDS);
  const words = spelledWords(near.join(' '));
  if (words.length !== near.length) return undefined;
  let word = '';
  let at = 0;
  let letters = 0;
  for (let found = spelledAt(words, at); found !== undefined; found = spelledAt(words, at)) {
    // Only clear letters: "Jay" and "Bee" are names, "J for Jaipur" is a letter.
    const sign = words[at] ?? '';
    const named = letterNamed(sign) !== undefined && !/^[A-Za-z]/.test(sign);
    const single = named || /^[A-Za-z]$/.test(sign) || found.to > at + 1;
    if (!single || !/^[a-z]+$/.test(found.value)) break;
    word += found.value;
    letters += 1;
    at = found.to;
  }
  return letters > 2 ? { word, to: index + at } : undefined;
}

function isInitial(name: string): boolean {
  return name.length === 1;
}

/** Capitalises a word in one case; mixed case (`McKay`) stays. */
function titled(word: string): string {
  if (!/^[a-z]/i.test(word) || (word !== word.toLowerCase() && word !== word.toUpperCase())) return word;
  return word.toLowerCase().replaceAll(/(?<=^|[-'’])[a-z]/g, (letter) => letter.toUpperCase());
}
