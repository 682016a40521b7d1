// How words sound, roughly, by their spelling: Latin letters as in English and in romanised Hindi, and Devanagari. A recogniser writes
// a name that it does not know as something that sounds alike, in either script: so sounds are compared, and not letters.
// A sound is one letter: i, u and a are front, back and open vowels, @ is a vowel that Devanagari does not write, T is th, S sh, C ch,
// J j.

/** Spellings of more letters than sounds, replaced in this order. */
const SPELLINGS: readonly (readonly [RegExp, string])[] = [
  [/^[kgp]n/u, 'n'],
  [/^wr/u, 'r'],
  [/^x/u, 's'],
  [/[tsc]ion/gu, 'San'],
  [/[tc]ia/gu, 'Sa'],
  [/igh/gu, 'i'],
  [/[ao]ught/gu, 'ut'],
  [/gh(?=t|$)/gu, ''],
  [/t?ch/gu, 'C'],
  [/sh/gu, 'S'],
  [/th/gu, 'T'],
  [/ph/gu, 'f'],
  // Aspirated sounds of Hindi are heard and written without the breath as often as with it.
  [/([bdgkjw])h/gu, '$1'],
  [/dge/gu, 'J'],
  [/mb$/u, 'm'],
  [/mp(?=[st])/gu, 'm'],
  [/ck|q/gu, 'k'],
  [/c(?=[eiy])/gu, 's'],
  [/c/gu, 'k'],
  [/x/gu, 'ks'],
  [/g(?=[ei][^v])/gu, 'J'],
  [/j/gu, 'J'],
  [/v/gu, 'w'],
  [/^y/u, 'Y'],
  [/([aeiou])y(?=[aou])/gu, '$1Y'],
  [/([^aeiou])y(?=[aou])/gu, '$1iY'],
  // A w, y or h behind a vowel belongs to it.
  [/([aeiou])[wyh]+(?=[^aeiou]|$)/gu, '$1'],
  // A final e is not spoken behind a consonant of a longer word.
  [/([aeiouy].*[^aeiouy])e(s?)$/u, '$1$2'],
  [/[eiy][aeiouy]*/gu, 'i'],
  [/[ou][aeouy]*/gu, 'u'],
  [/a[aeiouy]*/gu, 'a'],
  [/Y/gu, 'y'],
];

const DEVANAGARI: Readonly<Record<string, string>> = Object.fromEntries(
  (
    [
      ['k', 'कख'],
      ['g', 'गघ'],
      ['C', 'चछ'],
      ['J', 'जझ'],
      ['t', 'टठत'],
      ['T', 'थ'],
      ['d', 'डढदध'],
      ['n', 'ङञणनंँ'],
      ['p', 'प'],
      ['f', 'फ'],
      ['b', 'बभ'],
      ['m', 'म'],
      ['y', 'य'],
      ['r', 'रऋृ'],
      ['l', 'लळ'],
      ['w', 'व'],
      ['S', 'शष'],
      ['s', 'स'],
      ['h', 'हः'],
      ['a', 'अआा'],
      ['i', 'इईएऐिीेैऍॅ'],
      ['u', 'उऊओऔऑुूोौॉ'],
    ] as const
  ).flatMap(([sound, letters]) => Array.from(letters, (letter) => [letter, sound])),
);
/** Consonants that a dot below makes another sound. */
const DOTTED: Readonly<Record<string, string>> = { ज: 's', फ: 'f', ड: 'r', ढ: 'r' };
const [DOT, NO_VOWEL] = ['\u093c', '\u094d'];
const isVowel = (sound: string): boolean => 'iua@'.includes(sound);

/** The sounds of one word; empty for one without letters of the two scripts. */
export function soundsOf(word: string): string {
  const plain = word
    .toLowerCase()
    .normalize('NFKD')
    .replaceAll(/[\u0300-\u036f]/gu, '');
  const sounds = /\p{Script=Devanagari}/u.test(plain) ? devanagari(plain) : latin(plain.replaceAll(/[^a-z]/gu, ''));
  return sounds.replaceAll(/(.)\1+/gu, '$1');
}

function latin(word: string): string {
  return SPELLINGS.reduce((rest, [spelling, sounds]) => rest.replace(spelling, sounds), word);
}

function devanagari(word: string): string {
  const letters = Array.from(word);
  let sounds = '';
  for (const [index, letter] of letters.entries()) {
    const dotted = letters[index + 1] === DOT;
    const sound = (dotted ? DOTTED[letter] : undefined) ?? DEVANAGARI[letter];
    if (sound === undefined) continue;
    sounds += sound;
    if (isVowel(sound) || 'ंँःृ'.includes(letter)) continue;
    // A consonant has an a where no other vowel is written, but not at the end of a word.
    const next = letters[index + (dotted ? 2 : 1)];
    const takesVowel = next !== undefined && next !== NO_VOWEL && !isVowel(DEVANAGARI[next] ?? '');
    if (takesVowel && !'ृ'.includes(next)) sounds += '@';
  }
  return sounds;
}

/** Sounds that are taken for each other. */
const ALIKE = ['pb', 'td', 'tT', 'dT', 'kg', 'sS', 'CJ', 'SC', 'mn', 'wf', 'bw', 'JS', 'sT', 'fT', 'gJ', 'yi', 'yJ', 'fp'];
const COST = { alike: 0.5, vowels: 0.35, unwritten: 0.2, vowel: 0.5, weak: 0.4, other: 1 };
/** Sounds that are often not spoken. */
const WEAK = 'hr';

function replaceCost(a: string, b: string): number {
  if (a === b) return 0;
  if (isVowel(a) && isVowel(b)) return a === '@' || b === '@' ? COST.unwritten : COST.vowels;
  return ALIKE.some((pair) => pair.includes(a) && pair.includes(b)) ? COST.alike : COST.other;
}

function dropCost(sound: string): number {
  if (sound === '@') return COST.unwritten;
  if (isVowel(sound)) return COST.vowel;
  return WEAK.includes(sound) ? COST.weak : COST.other;
}

/** How differently two words sound: about the number of sounds that are other ones. */
export function soundDistance(a: string, b: string): number {
  let row = [0];
  for (const sound of b) row.push((row.at(-1) ?? 0) + dropCost(sound));
  for (const sound of a) {
    const above = row;
    row = [(above[0] ?? 0) + dropCost(sound)];
    for (const [index, other] of Array.from(b).entries()) {
      row.push(
        Math.min(
          (above[index] ?? 0) + replaceCost(sound, other),
          (above[index + 1] ?? 0) + dropCost(sound),
          (row[index] ?? 0) + dropCost(other),
        ),
      );
    }
  }
  return row.at(-1) ?? 0;
}

/** Whether two words may begin alike: the first sound is what is heard best, but for an h. */
export function beginAlike(a: string, b: string): boolean {
  const [first, other] = [a.replace(/^h/u, '')[0], b.replace(/^h/u, '')[0]];
  return first !== undefined && other !== undefined && replaceCost(first, other) < COST.other;
}
