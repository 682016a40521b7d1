import { pairTable } from '../../kernel/pair-table.ts';
import { sayNumber } from './numbers.ts';
import { tokenise } from './tokens.ts';

/** Consonants, independent vowels and vowel signs of Devanagari as names are written in Latin letters. */
const CONSONANTS: ReadonlyMap<string, string> = pairs(
  'क k ख kh ग g घ gh ङ n च ch छ chh ज j झ jh ञ n ट t ठ th ड d ढ dh ण n त t थ th द d ध dh न n प p फ f ब b भ bh म m य y र r ल l व v श sh ष sh स s ह h ळ l',
);
const VOWELS: ReadonlyMap<string, string> = pairs('अ a आ a इ i ई i उ u ऊ u ऋ ri ए e ऐ ai ओ o औ au ऑ o ऍ e');
const SIGNS: ReadonlyMap<string, string> = pairs('ा a ि i ी i ु u ू u ृ ri े e ै ai ो o ौ au ॉ o ॅ e');
const VIRAMA = '\u094D';
const NASAL = new Set(['\u0902', '\u0901']);

/**
 * A Hindi word in Latin letters as names mostly are (`रवि` is `ravi`, `शर्मा` is `sharma`): a guess where spellings differ,
 * so it has to be read back.
 */
export function inLatin(word: string): string {
  let latin = '';
  const signs = word.normalize('NFD').replaceAll('\u093C', '').normalize('NFC').split('');
  for (const [index, sign] of signs.entries()) {
    const consonant = CONSONANTS.get(sign);
    if (consonant === undefined) {
      latin += VOWELS.get(sign) ?? SIGNS.get(sign) ?? (NASAL.has(sign) ? 'n' : /[a-z0-9]/i.test(sign) ? sign : '');
      continue;
    }
    latin += consonant;
    const next = signs[index + 1];
    if (next === undefined || next === VIRAMA || SIGNS.has(next)) continue;
    if (!silent(signs, index)) latin += 'a';
  }
  return latin;
}

/** Whether the inherent vowel is silent: before a consonant with a vowel sign, after a full syllable. कमला is kamla. */
function silent(signs: readonly string[], index: number): boolean {
  const [next = '', after] = signs.slice(index + 1, index + 3);
  return index > 0 && CONSONANTS.has(next) && after !== undefined && SIGNS.has(after) && signs[index - 1] !== VIRAMA;
}

function pairs(text: string): ReadonlyMap<string, string> {
  return new Map([...text.matchAll(/(\S+) (\S+)/g)].map(([, sign = '', latin = '']) => [sign, latin] as const));
}

/** Hindi numbers in Latin letters, as recognisers for Indian English write them: 0 to 31 and the tens, spellings by slash. */
const ROWS = [
  'shunya/shoonya ek/eck do/doh teen/tin char/chaar paanch/panch/paach chhah/chhe/chah/che/chhey saat/sat aath/aat/ath nau',
  'das/dus gyarah/gyaarah barah/baarah terah/teraah chaudah pandrah solah satrah atharah/athaarah unnis/unnees',
  'bees/bis ikkis/ikkees bais/baees teis/tees+ chaubis/chaubees pachchis/pachees/pachis chhabbis/chabbis sattais atthais unatis',
  'tees/tis ikatis/ikattis',
];
const TENS = '- - - - chalis/chaalis/chalees pachas/pachaas saath sattar assi/assee nabbe/nabbey'.split(' ');
const OTHERS = pairTable(
  `सौ=sau हज़ार=hazar/hazaar/hajar/hajaar लाख=lakh/lac/laakh/lakhs करोड़=crore/karod/karor/crores सवा=sava/sawa डेढ़=dedh/derh/ded ढाई=dhai/dhaai/adhai साढ़े=sadhe/saadhe/sade/saade
  पौने=paune/pone रुपये=rupaye/rupay/rupaiya पैसे=paise बजे=baje सुबह=subah दोपहर=dopahar/dopahr शाम=shaam/sham रात=raat कल=kal परसों=parson/parso आज=aaj`,
);

/** Spellings that are also English words, or other Hindi ones: numbers only beside another number. */
const DOUBTFUL = new Set(['do', 'doh', 'tin', 'char', 'sat', 'saath', 'das', 'bees', 'bis', 'tis', 'eck', 'che']);

const TABLE = new Map<string, string>();
for (const [spoken, spellings] of [
  ...ROWS.flatMap((row) => row.split(' ')).map((words, value) => [sayNumber('hi', value), words] as const),
  ...TENS.map((words, tens) => [sayNumber('hi', tens * 10), words] as const),
  ...OTHERS,
]) {
  // A plus marks a spelling of another word.
  const [token = spoken] = tokenise(spoken);
  for (const word of spellings.split('/')) if (!word.endsWith('+') && word !== '-') TABLE.set(word, token);
}

/**
 * Converts romanised Hindi words for numbers, money and days (`ek lakh`) to Devanagari, which all tables use. Doubtful words (`do`,
 * `char`) are converted only beside a certain word or a figure.
 */
export function withDevanagari(tokens: readonly string[]): string[] {
  const certain = (word: string | undefined): boolean =>
    word !== undefined && (/^\d+$/.test(word) || (TABLE.has(word) && !DOUBTFUL.has(word)));
  const known = tokens.map(certain);
  // Certainty spreads to neighbours: "nau do char" is 924.
  for (const order of [[...tokens.keys()], [...tokens.keys()].reverse()]) {
    for (const index of order) {
      if (!DOUBTFUL.has(tokens[index] ?? '')) continue;
      known[index] ||= known[index - 1] === true || known[index + 1] === true;
    }
  }
  return tokens.map((word, index) => (known[index] === true ? (TABLE.get(word) ?? word) : word));
}
