const consonants: Readonly<Record<string, string>> = {
  ᱛ: 'त',
  ᱜ: 'ग',
  ᱞ: 'ल',
  ᱠ: 'क',
  ᱡ: 'ज',
  ᱢ: 'म',
  ᱣ: 'व',
  ᱥ: 'स',
  ᱦ: 'ह',
  ᱧ: 'ञ',
  ᱨ: 'र',
  ᱪ: 'च',
  ᱫ: 'द',
  ᱬ: 'ण',
  ᱭ: 'य',
  ᱯ: 'प',
  ᱰ: 'ड',
  ᱱ: 'न',
  ᱲ: 'ड़',
  ᱴ: 'ट',
  ᱵ: 'ब',
  ᱶ: 'व',
};

/** The independent vowel, and its sign after a consonant. */
const vowels: Readonly<Record<string, readonly [alone: string, sign: string]>> = {
  ᱚ: ['अ', ''],
  ᱟ: ['आ', 'ा'],
  ᱤ: ['इ', 'ि'],
  ᱩ: ['उ', 'ु'],
  ᱮ: ['ए', 'े'],
  ᱳ: ['ओ', 'ो'],
};

const aspirated: Readonly<Record<string, string>> = {
  क: 'ख',
  ग: 'घ',
  च: 'छ',
  ज: 'झ',
  ट: 'ठ',
  ड: 'ढ',
  त: 'थ',
  द: 'ध',
  प: 'फ',
  ब: 'भ',
};

const NASAL = new Set(['ᱝ', 'ᱸ', 'ᱺ']);
const FIRST_DIGIT = 0x1c50;
const VIRAMA = '्';

/**
 * Writes Santali's Ol Chiki, an alphabet, in Devanagari: a consonant takes the sign of the vowel after it, or a virama before another
 * consonant. Other characters are kept; marks of tone and length are dropped.
 */
export function olChikiToDevanagari(text: string): string {
  const letters = Array.from(text);
  let written = '';
  for (let at = 0; at < letters.length; at += 1) {
    const letter = letters[at] ?? '';
    let consonant = consonants[letter];
    if (consonant === undefined) {
      written += other(letter);
      continue;
    }
    if (letters[at + 1] === 'ᱷ') {
      consonant = aspirated[consonant] ?? `${consonant}${VIRAMA}ह`;
      at += 1;
    }
    const next = letters[at + 1] ?? '';
    const vowel = vowels[next];
    if (vowel !== undefined) at += 1;
    written += consonant + (vowel?.[1] ?? (consonants[next] === undefined ? '' : VIRAMA));
  }
  return written;
}

function other(letter: string): string {
  const digit = letter.charCodeAt(0) - FIRST_DIGIT;
  if (digit < 0 || digit >= 0x30) return letter;
  if (digit < 10) return String.fromCodePoint(0x966 + digit);
  if (NASAL.has(letter)) return 'ं';
  if (letter === '᱾' || letter === '᱿') return '।';
  return letter === 'ᱷ' ? 'ह' : (vowels[letter]?.[0] ?? '');
}
