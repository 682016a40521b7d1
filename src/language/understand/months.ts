import type { Language } from './language.ts';
import { phraseTable } from './tokens.ts';

/** January first. */
export const MONTHS: Readonly<Record<Language, readonly string[]>> = {
  en: 'January February March April May June July August September October November December'.split(' '),
  hi: 'जनवरी फ़रवरी मार्च अप्रैल मई जून जुलाई अगस्त सितंबर अक्टूबर नवंबर दिसंबर'.split(' '),
};

const OTHERS: readonly (readonly string[])[] = [
  ['jan', 'जान्युअरी'],
  ['feb', 'फरवरी', 'फेब्रुअरी', 'फेब'],
  ['mar', 'मारच'],
  ['apr', 'एप्रिल'],
  ['मे'],
  ['jun'],
  ['jul'],
  ['aug', 'ऑगस्ट'],
  ['sep', 'sept', 'सितम्बर', 'सेप्टेंबर'],
  ['oct', 'अक्तूबर', 'ऑक्टोबर'],
  ['nov', 'नवम्बर', 'नोवेंबर'],
  ['dec', 'दिसम्बर', 'डिसेंबर'],
];

/** Month names, in full and short, to 1 to 12. */
export const MONTH_NAMES: ReadonlyMap<string, number> = phraseTable(
  OTHERS.map((others, index) => [index + 1, [MONTHS.en[index]!, MONTHS.hi[index]!, ...others]] as const),
);

export const ORDINALS = 'first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth'.split(' ');
