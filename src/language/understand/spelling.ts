import { pairTable } from '../../kernel/pair-table.ts';
import { plainText, type Found, tokenise } from './tokens.ts';
import { pieceAt } from './digits.ts';

/** A letter by its name; `weak` names are ordinary words too, and count only beside other letters. */
interface LetterName {
  readonly letter: string;
  readonly weak: boolean;
}

const CODE_WORDS =
  'alpha bravo charlie delta echo foxtrot golf hotel india juliet kilo lima mike november oscar papa quebec romeo sierra tango uniform victor whiskey xray yankee zulu'.split(
    ' ',
  );
const OTHER_CODE_WORDS = pairTable('a=alfa j=juliett w=whisky');
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
  'a i u see sea oh you why tea pea queue cue es en el gee wee जी के आई ए ई ऐ सी पी ओ आय'.split(' ').map(plainText),
);

const NAMES = new Map<string, LetterName>();
for (let index = 0; index < 26; index++) {
  const letter = String.fromCharCode(97 + index);
  const named = [CODE_WORDS, SOUNDS, HINDI].flatMap((names) => names[index]?.split('/') ?? []);
  named.unshift(letter);
  const other = OTHER_CODE_WORDS.get(letter);
  if (other !== undefined) named.push(other);
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

/** One or more signs of a spelled value. */
export interface Spelled extends Found<string> {
  /** Readings of these words as small letters and digits, the likeliest first: `oh` is `o` or `0`. */
  readonly readings: readonly string[];
  readonly weak: boolean;
}

const LONGEST_NUMBER = 12;
const AS_IN = new Set(['for', 'as', 'like', ...tokenise('फॉर फ़ॉर फार से जैसे')]);
const TIMES: ReadonlyMap<string, number> = new Map([
  ['double', 2],
  ['triple', 3],
  ...tokenise('डबल').map((word) => [word, 2] as const),
  ...tokenise('ट्रिपल').map((word) => [word, 3] as const),
]);
/** Words that sound like letters or digits. */
const ALIKE: ReadonlyMap<string, readonly string[]> = new Map([
  ['oh', ['o', '0']],
  ['o', ['o', '0']],
  ['ओ', ['o', '0']],
  ['to', ['2']],
  ['too', ['2']],
  ['for', ['4']],
  ['ate', ['8']],
  ['won', ['1']],
  ['are', ['r']],
  ['be', ['b']],
]);
/** Letters written together without a break: `ABX`, `AB12CD`. */
const RUN = /^(?:[A-Z]{2,}|(?=.*\d)(?=.*[A-Za-z])[A-Za-z\d]+)$/;

/** Words of a spelled value in their own case, with every single letter kept and `a m` left apart. */
export function spelledWords(text: string): string[] {
  const plain = plainText(text)
    .replaceAll(/\b(?:double|डबल)[\s-]+(?:you|u|यू)\b/giu, 'w')
    .replaceAll(/\bx[\s-]ray\b/giu, 'xray')
    // Abbreviations are written with dots: "B.T.S."
    .replaceAll(/(?<=\b[A-Za-z])\.(?=[A-Za-z]\b)/g, ' ');
  return plain.match(/[\p{L}\p{M}\d]+/gu) ?? [];
}

/**
 * The letters and digits that begin at `index`: `B`, `bee`, `bravo`, `B for Bombay`, `b as in boy`, `double A`, `बी`,
 * `forty two`, `AB12`. The word after `for` decides when it contradicts the letter: words are recognised better than letters.
 */
export function spelledAt(words: readonly string[], index: number): Spelled | undefined {
  const written = words[index];
  if (written === undefined) return undefined;
  const word = written.toLowerCase();
  const times = TIMES.get(word);
  if (times !== undefined) {
    if (TIMES.has(words[index + 1]?.toLowerCase() ?? '')) return undefined;
    const next = spelledAt(words, index + 1);
    if (next?.value.length !== 1) return undefined;
    const readings = next.readings.map((sign) => sign.repeat(times));
    return { readings, value: next.value.repeat(times), weak: false, from: index, to: next.to };
  }
  // "EF" are two letters, although "ef" is how one of them sounds.
  if (/^[A-Z]{2}$/.test(written) && !ALIKE.has(word)) {
    return { readings: [word], value: word, weak: false, from: index, to: index + 1 };
  }
  const alike = ALIKE.get(word);
  const named = letterNamed(word);
  if (named !== undefined || alike !== undefined) {
    const spoken = spokenWord(words, index + 1);
    if (spoken !== undefined) return { ...spoken, from: index };
  }
  if (alike !== undefined) return { readings: alike, value: alike[0] ?? '', weak: true, from: index, to: index + 1 };
  if (named !== undefined) {
    // Recognisers write letters as capitals; "I" is a capital anyway.
    const weak = named.weak && !/^[A-HJ-Z]$/.test(written);
    return { readings: [named.letter], value: named.letter, weak, from: index, to: index + 1 };
  }
  const digits = digitsNear(words, index);
  if (digits !== undefined) return { readings: [digits.value], weak: false, ...digits };
  return RUN.test(written) ? { readings: [word], value: word, weak: false, from: index, to: index + 1 } : undefined;
}

/** Digits at `index`; reads only the words around it, since this runs for every word. */
function digitsNear(words: readonly string[], index: number): Found<string> | undefined {
  const start = Math.max(0, index - 1);
  const near = words.slice(start, index + LONGEST_NUMBER).map((word) => word.toLowerCase());
  const piece = pieceAt(near, index - start);
  return piece === undefined ? undefined : { value: piece.value, from: index, to: start + piece.to };
}

/** `for Bombay`, `as in boy`, `फ़ॉर बॉम्बे`: the first letter of the word. */
function spokenWord(words: readonly string[], index: number): Omit<Spelled, 'from'> | undefined {
  const join = words[index]?.toLowerCase() ?? '';
  if (!AS_IN.has(join)) return undefined;
  const at = join === 'as' && words[index + 1]?.toLowerCase() === 'in' ? index + 2 : join === 'as' ? -1 : index + 1;
  const word = words[at]?.toLowerCase();
  if (word === undefined || word.length < 2 || /^\d/.test(word)) return undefined;
  const first = initialOf(word);
  return first === undefined ? undefined : { readings: [first], value: first, weak: false, to: at + 1 };
}

/** The Latin letter for the first sound of a Hindi word. */
const INITIALS: ReadonlyMap<string, string> = new Map(
  [
    ...pairTable('a=अआ i=इ u=उऊ e=ईएऐ o=ओऔऑ b=बभ c=च d=दडधढ f=फ g=गघ h=ह j=जझ k=कख l=ल m=म n=नण p=प r=र s=सशष t=टतथठ v=व y=य'),
  ].flatMap(([letter, signs]) => signs.split('').map((sign) => [sign, letter] as const)),
);
/** Words whose first sound is another letter in English. */
const EXCEPTIONS = pairTable(plainText('क्वीन=q एक्सरे=x ज़ेबरा=z वर्धा=w चार्ली=c ज़ू=z कैट=c'));

function initialOf(word: string): string | undefined {
  const first = word.charAt(0);
  return /[a-z]/.test(first) ? first : (EXCEPTIONS.get(word) ?? INITIALS.get(first));
}
