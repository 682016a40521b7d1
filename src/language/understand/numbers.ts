import { type Language, type Found, tokenise } from './tokens.ts';

/** One row for ten numbers; the spelling that is spoken first, other common ones after a slash. */
const ROWS = [
  'शून्य/ज़ीरो एक दो तीन चार पाँच/पांच छह/छः/छे/छ सात आठ नौ',
  'दस ग्यारह बारह तेरह चौदह पंद्रह/पन्द्रह सोलह सत्रह अठारह/अट्ठारह उन्नीस',
  'बीस इक्कीस बाईस/बाइस तेईस/तेइस चौबीस पच्चीस छब्बीस सत्ताईस/सत्ताइस अट्ठाईस/अट्ठाइस/अठाईस उनतीस/उन्तीस',
  'तीस इकतीस/इकत्तीस बत्तीस तैंतीस/तेंतीस चौंतीस पैंतीस छत्तीस सैंतीस अड़तीस उनतालीस/उन्तालीस',
  'चालीस इकतालीस बयालीस/बयालिस तैंतालीस/तेंतालीस चौवालीस/चवालीस पैंतालीस छियालीस/छयालीस सैंतालीस अड़तालीस उनचास/उनंचास',
  'पचास इक्यावन बावन तिरपन/तिरेपन चौवन/चउवन पचपन छप्पन सत्तावन अट्ठावन/अठावन उनसठ',
  'साठ इकसठ बासठ तिरसठ/तिरेसठ चौंसठ/चौसठ पैंसठ छियासठ सड़सठ अड़सठ उनहत्तर/उनहतर',
  'सत्तर इकहत्तर/इकत्तर बहत्तर तिहत्तर चौहत्तर पचहत्तर छिहत्तर सतहत्तर अठहत्तर उन्यासी/उनासी',
  'अस्सी इक्यासी बयासी तिरासी चौरासी पचासी छियासी सत्तासी/सतासी अट्ठासी/अठासी नवासी',
  'नब्बे इक्यानवे/इक्यानबे बानवे/बानबे तिरानवे/तिरानबे चौरानवे/चौरानबे पचानवे/पंचानवे/पचानबे छियानवे/छियानबे सत्तानवे/सत्तानबे अट्ठानवे/अट्ठानबे निन्यानवे/निन्यानबे',
];

/** Hindi has a word of its own for each number below a hundred: index is the value, spellings as above. */
export const HINDI_NUMBERS: readonly (readonly string[])[] = ROWS.flatMap((row) =>
  row.split(' ').map((spellings) => spellings.split('/')),
);

const ENGLISH_SMALL = [
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen',
  'eighteen nineteen',
]
  .join(' ')
  .split(' ');
const ENGLISH_TENS = ['', '', 'twenty', 'thirty', 'forty', 'fifty', 'sixty', 'seventy', 'eighty', 'ninety'];

const ENGLISH_VALUES: ReadonlyMap<string, number> = new Map([
  ...ENGLISH_SMALL.map((word, value) => [word, value] as const),
  ...ENGLISH_TENS.map((word, tens) => [word, tens * 10] as const).slice(2),
  ['fourty', 40],
]);

const HINDI_VALUES: ReadonlyMap<string, number> = spelled(HINDI_NUMBERS);

/**
 * English number words as Hindi speakers say and recognisers write them; one word for each number below twenty, other
 * spellings after a slash. Tens take their unit with them, as in English (`ट्वेंटी फ़ाइव`).
 */
const LOAN_SMALL = spelled(
  [
    'ज़ीरो/ज़ेरो वन टू/टु थ्री/थ्रि फ़ोर/फ़ॉर फ़ाइव/फ़ाईव सिक्स सेवन/सेवेन एट/ऐट/एइट नाइन/नाईन टेन इलेवन/इलेवेन ट्वेल्व/ट्वेल्व',
    'थर्टीन फ़ोर्टीन फ़िफ़्टीन सिक्सटीन/सिक्स्टीन सेवनटीन/सेवेंटीन एटीन नाइनटीन/नाइंटीन',
  ]
    .join(' ')
    .split(' ')
    .map((word) => word.split('/')),
);
const LOAN_TENS = spelled(
  ['- - ट्वेंटी/ट्वेन्टी/ट्वंटी थर्टी फ़ोर्टी/फ़ॉर्टी फ़िफ़्टी/फ़िफ्टी', 'सिक्सटी/सिक्स्टी सेवंटी/सेवेंटी/सेवन्टी एटी/ऐटी नाइंटी/नाइनटी/नाइन्टी']
    .join(' ')
    .split(' ')
    .map((word) => word.split('/')),
);

function spelled(rows: readonly (readonly string[])[]): ReadonlyMap<string, number> {
  return new Map(rows.flatMap((words, value) => words.map((word) => [tokenise(word).join(' '), value] as const)));
}

/**
 * Reads a number from 0 to 99 that begins at `index`: figures of one or two digits, or words of either language.
 * English tens take their unit with them (`twenty five`).
 */
export function numberAt(tokens: readonly string[], index: number): Found<number> | undefined {
  const word = tokens[index];
  if (word === undefined) return undefined;
  if (/^\d{1,2}$/.test(word)) return { value: Number(word), from: index, to: index + 1 };
  const whole = HINDI_VALUES.get(word) ?? LOAN_SMALL.get(word);
  if (whole !== undefined) return { value: whole, from: index, to: index + 1 };
  const loanTens = LOAN_TENS.get(word);
  if (loanTens !== undefined) {
    const unit = LOAN_SMALL.get(tokens[index + 1] ?? '') ?? 0;
    const takes = unit >= 1 && unit <= 9;
    return { value: loanTens * 10 + (takes ? unit : 0), from: index, to: index + (takes ? 2 : 1) };
  }
  const english = ENGLISH_VALUES.get(word);
  if (english === undefined) return undefined;
  const unit = english >= 20 ? ENGLISH_VALUES.get(tokens[index + 1] ?? '') : undefined;
  if (unit !== undefined && unit >= 1 && unit <= 9) return { value: english + unit, from: index, to: index + 2 };
  return { value: english, from: index, to: index + 1 };
}

/**
 * A number as it is said.
 * @param value a whole number, 0 to 99
 * @throws RangeError for anything else
 */
export function sayNumber(language: Language, value: number): string {
  if (!Number.isInteger(value) || value < 0 || value > 99) throw new RangeError(`sayNumber takes 0 to 99, not ${value}`);
  if (language === 'hi') return HINDI_NUMBERS[value]?.[0] ?? '';
  if (value < 20) return ENGLISH_SMALL[value] ?? '';
  const tens = ENGLISH_TENS[Math.floor(value / 10)] ?? '';
  return value % 10 === 0 ? tens : `${tens} ${ENGLISH_SMALL[value % 10] ?? ''}`;
}
