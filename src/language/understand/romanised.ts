import { sayNumber } from './numbers.ts';
import { tokenise } from './tokens.ts';

/** Hindi numbers in Latin letters, as recognisers for Indian English write them: 0 to 31 and the tens, spellings by slash. */
const ROWS = [
  'shunya/shoonya ek/eck do/doh teen/tin char/chaar paanch/panch/paach chhah/chhe/chah/che/chhey saat/sat aath/aat/ath nau',
  'das/dus gyarah/gyaarah barah/baarah terah/teraah chaudah pandrah solah satrah atharah/athaarah unnis/unnees',
  'bees/bis ikkis/ikkees bais/baees teis/tees+ chaubis/chaubees pachchis/pachees/pachis chhabbis/chabbis sattais atthais unatis',
  'tees/tis ikatis/ikattis',
];
const TENS = '- - - - chalis/chaalis/chalees pachas/pachaas saath sattar assi/assee nabbe/nabbey'.split(' ');
const OTHERS: readonly (readonly [string, string])[] = [
  ['सौ', 'sau'],
  ['हज़ार', 'hazar/hazaar/hajar/hajaar'],
  ['लाख', 'lakh/lac/laakh/lakhs'],
  ['करोड़', 'crore/karod/karor/crores'],
  ['सवा', 'sava/sawa'],
  ['डेढ़', 'dedh/derh/ded'],
  ['ढाई', 'dhai/dhaai/adhai'],
  ['साढ़े', 'sadhe/saadhe/sade/saade'],
  ['पौने', 'paune/pone'],
  ['रुपये', 'rupaye/rupay/rupaiya'],
  ['पैसे', 'paise'],
  ['बजे', 'baje'],
  ['सुबह', 'subah'],
  ['दोपहर', 'dopahar/dopahr'],
  ['शाम', 'shaam/sham'],
  ['रात', 'raat'],
  ['कल', 'kal'],
  ['परसों', 'parson/parso'],
  ['आज', 'aaj'],
];

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
