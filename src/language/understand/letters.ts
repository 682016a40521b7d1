import { plainText } from './tokens.ts';

/** A letter by its name; `weak` names are ordinary words too, and count only beside other letters. */
export interface LetterName {
  readonly letter: string;
  readonly weak: boolean;
}

const CODE_WORDS =
  'alpha bravo charlie delta echo foxtrot golf hotel india juliet kilo lima mike november oscar papa quebec romeo sierra tango uniform victor whiskey xray yankee zulu'.split(
    ' ',
  );
const OTHER_CODE_WORDS: readonly (readonly [string, string])[] = [
  ['a', 'alfa'],
  ['j', 'juliett'],
  ['w', 'whisky'],
];
/** How recognisers write spoken letters, a to z. */
const SOUNDS =
  '- bee cee/see/sea dee - eff/ef gee/jee aitch/haitch/hech - jay kay/kaye el/ell em en/enn oh pee/pea cue/queue/kew ar ess/es tee/tea you/yu vee/wee double-you ex why/wye zed/zee'.split(
    ' ',
  );
const HINDI = 'ए/ऐ बी सी डी ई एफ़/एफ जी एच/हेच आई/आय जे के एल एम एन ओ पी क्यू आर एस टी यू वी डब्ल्यू/डब्लू/डबल्यू एक्स/ऐक्स वाई/वाय ज़ेड/जेड'.split(
  ' ',
);
/** Letters and sounds that are words too: an article, a pronoun, हाँ जी, का/के. */
const WEAK = new Set(
  [
    'a',
    'i',
    'u',
    'see',
    'sea',
    'oh',
    'you',
    'why',
    'tea',
    'pea',
    'queue',
    'cue',
    'es',
    'en',
    'el',
    'gee',
    'wee',
    'जी',
    'के',
    'आई',
    'ए',
    'ई',
    'ऐ',
    'सी',
    'पी',
    'ओ',
    'आय',
  ].map(plainText),
);

const NAMES = new Map<string, LetterName>();
for (let index = 0; index < 26; index++) {
  const letter = String.fromCharCode(97 + index);
  const named = [CODE_WORDS, SOUNDS, HINDI].flatMap((names) => names[index]?.split('/') ?? []);
  named.unshift(letter);
  for (const [other, word] of OTHER_CODE_WORDS) if (other === letter) named.push(word);
  for (const name of named) {
    const word = plainText(name);
    if (word !== '-') NAMES.set(word, { letter, weak: WEAK.has(word) });
  }
}

/** The letter that a word names, `a` to `z`: the letter itself, its name, its code word, its name in Hindi. */
export function letterNamed(word: string): LetterName | undefined {
  return NAMES.get(word);
}

/** A letter's spoken name: `B`, `बी`. @param letter a to z */
export function sayLetter(language: 'en' | 'hi', letter: string): string {
  const index = letter.toLowerCase().charCodeAt(0) - 97;
  return language === 'en' ? letter.toUpperCase() : (HINDI[index]?.split('/')[0] ?? letter);
}

const INDIAN_WORDS =
  'Agra Bombay Chennai Delhi Elephant Faridabad Goa Hyderabad India Jaipur Kolkata Lucknow Mumbai Nagpur Orange Pune Queen Rajkot Surat Tiger Udaipur Varanasi Wardha Xray Yoga Zebra'.split(
    ' ',
  );
const INDIAN_WORDS_HINDI =
  'आगरा बॉम्बे चेन्नई दिल्ली एलीफ़ेंट फ़रीदाबाद गोवा हैदराबाद इंडिया जयपुर कोलकाता लखनऊ मुंबई नागपुर ऑरेंज पुणे क्वीन राजकोट सूरत टाइगर उदयपुर वाराणसी वर्धा एक्सरे योगा ज़ेबरा'.split(
    ' ',
  );

/** A letter that cannot be misheard: `B for Bombay`, `बी फ़ॉर बॉम्बे`. @param letter a to z */
export function sayLetterClearly(language: 'en' | 'hi', letter: string): string {
  const index = letter.toLowerCase().charCodeAt(0) - 97;
  return language === 'en'
    ? `${letter.toUpperCase()} for ${INDIAN_WORDS[index] ?? ''}`
    : `${sayLetter('hi', letter)} फ़ॉर ${INDIAN_WORDS_HINDI[index] ?? ''}`;
}
