import type { BrahmicScript, Sign } from './brahmic.ts';
import { VIRAMA } from './brahmic.ts';

/** Latin spellings of consonants, longest first, as Devanagari writes English words. */
const consonants: readonly (readonly [string, readonly number[]])[] = [
  ['tch', [0x1a]],
  ['chh', [0x1b]],
  ['sch', [0x38, VIRAMA, 0x15]],
  ['ch', [0x1a]],
  ['ck', [0x15]],
  ['kh', [0x16]],
  ['gh', [0x18]],
  ['jh', [0x1d]],
  ['th', [0x25]],
  ['dh', [0x27]],
  ['ph', [0x2b]],
  ['bh', [0x2d]],
  ['sh', [0x36]],
  ['wh', [0x35]],
  ['qu', [0x15, VIRAMA, 0x35]],
  ['x', [0x15, VIRAMA, 0x38]],
  ['b', [0x2c]],
  ['c', [0x15]],
  ['d', [0x21]],
  ['f', [0x2b]],
  ['g', [0x17]],
  ['h', [0x39]],
  ['j', [0x1c]],
  ['k', [0x15]],
  ['l', [0x32]],
  ['m', [0x2e]],
  ['n', [0x28]],
  ['p', [0x2a]],
  ['q', [0x15]],
  ['r', [0x30]],
  ['s', [0x38]],
  ['t', [0x1f]],
  ['v', [0x35]],
  ['w', [0x35]],
  ['y', [0x2f]],
  ['z', [0x1c]],
];
/** Latin spellings of vowels, with the independent vowel. */
const vowels: readonly (readonly [string, number])[] = [
  ['aa', 0x06],
  ['ai', 0x0f],
  ['ay', 0x0f],
  ['au', 0x14],
  ['aw', 0x13],
  ['ea', 0x08],
  ['ee', 0x08],
  ['ei', 0x0f],
  ['ey', 0x08],
  ['ie', 0x08],
  ['oa', 0x13],
  ['oo', 0x0a],
  ['ou', 0x14],
  ['ow', 0x14],
  ['oy', 0x13],
  ['a', 0x06],
  ['e', 0x0f],
  ['i', 0x07],
  ['o', 0x13],
  ['u', 0x09],
];

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
      out.push(...consonant[1]);
      open = true;
      at += consonant[0].length;
      continue;
    }
    const [letters, vowel] = yVowel ? (['y', 0x08] as const) : (vowels.find(([each]) => rest.startsWith(each)) ?? ['', 0]);
    if (letters === '') {
      at += 1;
      continue;
    }
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
