import { pairTable } from '../../../kernel/pair-table.ts';

/** Meitei Mayek in Bengali letters; from ꯛ on consonants without a vowel, at the end of a syllable, and signs. */
const meiteiLetters = pairTable(
  `ꯀ=ক ꯁ=স ꯂ=ল ꯃ=ম ꯄ=প ꯅ=ন ꯆ=চ ꯇ=ত ꯈ=খ ꯉ=ঙ ꯊ=থ ꯋ=ব ꯌ=য় ꯍ=হ ꯎ=উ ꯏ=ই ꯐ=ফ ꯑ=অ ꯒ=গ ꯓ=ঝ ꯔ=র ꯕ=ব ꯖ=জ ꯗ=দ ꯘ=ঘ ꯙ=ধ ꯚ=ভ ꯛ=ক্ ꯜ=ল্ ꯝ=ম্
  ꯞ=প্ ꯟ=ন্ ꯠ=ৎ ꯡ=ং ꯢ=ই \uabe3=ো \uabe4=ি \uabe5=া \uabe6=ে \uabe7=ৌ \uabe8=ু \uabe9=ৈ \uabea=ং \uabec= \uabed=্ \uabeb=।`,
);

/** Bengali letters for the vowel carrier with a vowel sign. */
const carried = pairTable('া=আ ি=ই ে=এ ো=ও ৌ=ঔ ু=উ ৈ=ঐ');

const MEITEI_ZERO = 0xabf0;

/** Writes Manipuri's Meitei Mayek in Bengali script, as was usual for two centuries; other characters are kept. */
function meiteiToBengali(text: string): string {
  return text
    .replaceAll(/[\uabc0-\uabff]/g, (letter) => {
      const digit = letter.charCodeAt(0) - MEITEI_ZERO;
      return digit >= 0 && digit < 10 ? String.fromCodePoint(0x9e6 + digit) : (meiteiLetters.get(letter) ?? '');
    })
    .replaceAll(/অ([ািেোৌুৈ])/g, (_, sign: string) => carried.get(sign) ?? '');
}

const consonants = pairTable(`ᱛ=त ᱜ=ग ᱞ=ल ᱠ=क ᱡ=ज ᱢ=म ᱣ=व ᱥ=स ᱦ=ह ᱧ=ञ ᱨ=र ᱪ=च ᱫ=द ᱬ=ण ᱭ=य ᱯ=प ᱰ=ड ᱱ=न ᱲ=ड़ ᱴ=ट ᱵ=ब ᱶ=व`);

/** The independent vowel, and after a dot its sign behind a consonant. */
const vowels = pairTable('ᱚ=अ. ᱟ=आ.ा ᱤ=इ.ि ᱩ=उ.ु ᱮ=ए.े ᱳ=ओ.ो');

const aspirated = pairTable(`क=ख ग=घ च=छ ज=झ ट=ठ ड=ढ त=थ द=ध प=फ ब=भ`);

const NASAL = new Set(['ᱝ', 'ᱸ', 'ᱺ']);
const OL_CHIKI_ZERO = 0x1c50;
const VIRAMA = '्';

/**
 * Writes Santali's Ol Chiki, an alphabet, in Devanagari: a consonant takes the sign of the vowel after it, or a virama before another
 * consonant. Other characters are kept; marks of tone and length are dropped.
 */
function olChikiToDevanagari(text: string): string {
  const letters = Array.from(text);
  let written = '';
  for (let at = 0; at < letters.length; at += 1) {
    const letter = letters[at] ?? '';
    let consonant = consonants.get(letter);
    if (consonant === undefined) {
      written += other(letter);
      continue;
    }
    if (letters[at + 1] === 'ᱷ') {
      consonant = aspirated.get(consonant) ?? `${consonant}${VIRAMA}ह`;
      at += 1;
    }
    const next = letters[at + 1] ?? '';
    const vowel = vowels.get(next)?.split('.');
    if (vowel !== undefined) at += 1;
    written += consonant + (vowel?.[1] ?? (consonants.has(next) ? VIRAMA : ''));
  }
  return written;
}

function other(letter: string): string {
  const digit = letter.charCodeAt(0) - OL_CHIKI_ZERO;
  if (digit < 0 || digit >= 0x30) return letter;
  if (digit < 10) return String.fromCodePoint(0x966 + digit);
  if (NASAL.has(letter)) return 'ं';
  if (letter === '᱾' || letter === '᱿') return '।';
  return letter === 'ᱷ' ? 'ह' : (vowels.get(letter)?.split('.')[0] ?? '');
}

/**
 * Letters that an espeak voice would spell out by name, more than a second each, with the nearest letter it can read, or none. Found by
 * measuring how much longer each letter of a block makes a word (espeak-ng 1.52).
 */
const devanagari = pairTable(`ऀ=ँ ऄ=अ ऺ=े ऻ=ा ॎ=े ॏ=ौ ॑= ॒= ॓= ॔= ॕ=े ॖ=ु ॗ=ू ॱ= ॲ=ऍ ॳ=अ ॴ=आ ॵ=औ ॶ=उ ॷ=ऊ ॸ=ड ॹ=ज़ ॺ=य ॻ=ग ॼ=ज ॽ= ॾ=ड ॿ=ब`);

/** Letters of Arabic, Kashmiri and Sindhi, for the Urdu voice. */
const urdu = pairTable(
  `إ=ا ٱ=ا ٲ=ا ٳ=ا ٵ=ا ة=ہ ۀ=ہ ە=ہ ه=ہ ك=ک ڪ=ک ګ=گ ڳ=گ ى=ی ؠ=ی ۍ=ی ې=ے ێ=ے ۄ=و ۆ=و ۇ=و ۋ=و ٺ=ٹھ ٻ=ب ٽ=ٹ ٿ=تھ ڀ=بھ ڃ=نج ڄ=ج
  ڇ=چھ ڊ=ڈ ڌ=دھ ڍ=ڈھ ڏ=ڈ ڙ=ڑ ڦ=پھ ڱ=نگ ڻ=ن ـ=`,
);

/** Letters of Arabic, Urdu and Kashmiri, for the Sindhi voice. */
const sindhi = pairTable(`إ=ا ٱ=ا ٲ=ا ٳ=ا ٵ=ا ة=ه ۀ=ه ە=ه ۃ=ه ك=ڪ ى=ي ۍ=ي ؠ=ي ې=ي ێ=ي ۓ=ي ڈ=ڊ ں=ن ژ=ز ۄ=و ۆ=و ۇ=و ۋ=و ـ=`);

const bengali = 'ঀ= ঽ= ৗ=ৌ ৺= ৼ=';

/** By espeak language. */
export const letterSubstitutes: Readonly<Record<string, ReadonlyMap<string, string>>> = {
  hi: devanagari,
  mr: new Map([...devanagari, ['ॹ', 'ज']]),
  ne: devanagari,
  bn: pairTable(`${bengali} ৰ=র ৱ=ব`),
  as: pairTable(`${bengali} র=ৰ ড়=ৰ ঢ়=ৰ য়=\u09df ৄ=ৃ ৠ=ঋ ৡ=ই ঌ=ই`),
  pa: pairTable('ਁ=ਂ,ੑ=,ੵ=,ੴ=ਇੱਕ ਓਅੰਕਾਰ', ','),
  gu: pairTable('ૹ=ઝ'),
  or: pairTable('ଽ= ୕= ୱ=ଵ'),
  te: pairTable('ఁ=ం ఀ=ం ఽ= ఴ=ళ ౘ=చ ౙ=జ ౚ=ఱ'),
  kn: pairTable('ಁ=ಂ ಀ= ಽ= ೞ=ಳ ಼='),
  ml: pairTable('ഁ=ം ഽ= ഩ=ന ഺ=റ'),
  ur: urdu,
  sd: sindhi,
};

/** Marks of the Arabic script beyond the short vowels, which the engine would spell out. */
const RARE_ARABIC_MARKS = /[\u0610-\u061a\u064d\u0653-\u065f\u06d6-\u06dc\u06e1-\u06e4\u06e7\u06e8\u06ed]/g;
/** Further vowel marks that the Sindhi voice spells out. */
const SINDHI_MARKS = /[\u064c\u0652]/g;

const patterns = new Map(
  Object.entries(letterSubstitutes).map(([language, letters]) => {
    // The longest first: a letter with its dot before the letter alone.
    const keys = [...letters.keys()].sort((a, b) => b.length - a.length);
    return [language, { letters, pattern: new RegExp(keys.join('|'), 'gu') }];
  }),
);

/** Rewrites scripts that no engine can read (Meitei Mayek, Ol Chiki); other text is normalised (NFC). */
export function inReadableScript(text: string): string {
  return meiteiToBengali(olChikiToDevanagari(text.normalize('NFC')));
}

/**
 * Replaces letters that an espeak language would spell out by name.
 * @param language espeak's identifier, from `espeakLanguage`
 */
export function readable(text: string, language: string): string {
  const entry = patterns.get(language);
  if (entry === undefined) return text;
  const marked = language === 'ur' || language === 'sd' ? text.replaceAll(RARE_ARABIC_MARKS, '') : text;
  const bare = language === 'sd' ? marked.replaceAll(SINDHI_MARKS, '') : marked;
  return bare.replaceAll(entry.pattern, (letter) => entry.letters.get(letter) ?? '');
}

const SLOWEST = { baseS: 2, letterS: 0.3, otherS: 1.2 };
const FASTEST_LETTER_S = 0.015;
/** With fewer letters the length says nothing. */
const TELLING_LETTERS = 4;

/**
 * Whether speech of this length can be this text. Longer speech spelled letters out by name, shorter speech skipped most of them.
 * @param durationS at speed 1
 */
export function soundsRead(text: string, durationS: number): boolean {
  const letters = text.match(/[\p{L}\p{M}]/gu)?.length ?? 0;
  if (letters < TELLING_LETTERS) return true;
  const others = text.match(/[\p{N}\p{S}\p{P}]/gu)?.length ?? 0;
  const longest = SLOWEST.baseS + SLOWEST.letterS * letters + SLOWEST.otherS * others;
  return durationS <= longest && durationS >= FASTEST_LETTER_S * letters;
}
