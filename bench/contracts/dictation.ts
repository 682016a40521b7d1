// What callers dictate, and in what pieces: enumerated and drawn without the code that reads it.
import type { AnswerContract } from '../../src/language/index.ts';
import { BELOW_HUNDRED } from '../../test/unit/language/spoken/english-rows.ts';
import { NUMBERS } from '../../test/unit/language/spoken/hindi-rows.ts';

export type SpokenLanguage = 'en' | 'hi';

/** Words said without a pause; people breathe and think between groups. */
export type Group = readonly string[];

export interface Dictated {
  readonly kind: string;
  readonly contract: AnswerContract;
  readonly value: string;
  readonly groups: readonly Group[];
  /** How the value is given the second time: sign by sign where that is how people are asked. */
  readonly again: readonly Group[];
}

/** A share of the values, in hundredths of all. What people dictate most is numbers. */
export const MIX = { digits: 25, phone: 25, code: 16, date: 10, money: 9, email: 8, time: 4, name: 3 } as const;
export type Kind = keyof typeof MIX;

export class Draw {
  readonly #random: () => number;

  constructor(random: () => number) {
    this.#random = random;
  }

  unit(): number {
    return this.#random();
  }

  below(most: number): number {
    return Math.floor(this.#random() * most);
  }

  between(least: number, most: number): number {
    return least + this.below(most - least + 1);
  }

  chance(share: number): boolean {
    return this.#random() < share;
  }

  pick<Item>(items: readonly Item[]): Item {
    return items[this.below(items.length)]!;
  }

  digits(length: number): string {
    return Array.from({ length }, () => this.below(10)).join('');
  }
}

const LETTERS_HINDI = 'ए बी सी डी ई एफ़ जी एच आई जे के एल एम एन ओ पी क्यू आर एस टी यू वी डब्ल्यू एक्स वाई ज़ेड'.split(' ');
const MONTHS = {
  en: 'January February March April May June July August September October November December'.split(' '),
  hi: 'जनवरी फ़रवरी मार्च अप्रैल मई जून जुलाई अगस्त सितंबर अक्टूबर नवंबर दिसंबर'.split(' '),
} as const;
const ORDINALS =
  'first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth twenty-first twenty-second twenty-third twenty-fourth twenty-fifth twenty-sixth twenty-seventh twenty-eighth'
    .split(' ')
    .map((word) => word.replace('-', ' '));
const FIRST = 'anita arjun deepa farhan gita harish imran kavita lata mohan nisha prakash ravi sunita varun'.split(' ');
const LAST = 'sharma verma iyer khan das gupta menon reddy singh patel'.split(' ');
const NAMES_HINDI = 'अनीता अर्जुन दीपा गीता हरीश कविता लता मोहन निशा प्रकाश रवि सुनीता वरुण'.split(' ');
const LAST_HINDI = 'शर्मा वर्मा अय्यर ख़ान दास गुप्ता मेनन रेड्डी सिंह पटेल'.split(' ');

export function spokenDigit(language: SpokenLanguage, digit: string): string {
  return (language === 'hi' ? NUMBERS : BELOW_HUNDRED)[Number(digit)]!;
}

export function spokenLetter(language: SpokenLanguage, letter: string): string {
  return language === 'hi' ? LETTERS_HINDI[letter.toLowerCase().charCodeAt(0) - 97]! : letter.toUpperCase();
}

function number(language: SpokenLanguage, value: number): string[] {
  return (language === 'hi' ? NUMBERS : BELOW_HUNDRED)[value]!.split(' ');
}

/** Digits in groups of these sizes, the rest in the last one's; doubles now and then as people say them. */
function digitGroups(draw: Draw, language: SpokenLanguage, digits: string, sizes: readonly number[]): Group[] {
  const groups: Group[] = [];
  let from = 0;
  for (let place = 0; from < digits.length; place++) {
    const size = sizes[Math.min(place, sizes.length - 1)]!;
    groups.push(digitWords(draw, language, digits.slice(from, from + size)));
    from += size;
  }
  return groups;
}

function digitWords(draw: Draw, language: SpokenLanguage, digits: string): string[] {
  const runs = draw.chance(0.5) ? digits.match(/(\d)\1|\d/g)! : digits.split('');
  const double = language === 'hi' ? 'डबल' : 'double';
  return runs.flatMap((run) => [...(run.length === 2 ? [double] : []), spokenDigit(language, run[0]!)]);
}

/** One by one, as people are asked to. */
function slowly(language: SpokenLanguage, digits: string): Group[] {
  return (digits.match(/\d{1,3}/g) ?? []).map((group) => group.split('').map((digit) => spokenDigit(language, digit)));
}

function ledIn(draw: Draw, language: SpokenLanguage, groups: readonly Group[], english: string, hindi: string): Group[] {
  if (!draw.chance(0.3)) return [...groups];
  const words = (language === 'hi' ? hindi : english).split(' ');
  return draw.chance(0.2) ? [words, ...groups] : [[...words, ...groups[0]!], ...groups.slice(1)];
}

export function dictate(draw: Draw, language: SpokenLanguage, kind: Kind): Dictated {
  switch (kind) {
    case 'digits': {
      const value = draw.digits(draw.pick([4, 6, 8, 9, 12]));
      const groups = digitGroups(draw, language, value, [draw.pick([2, 3, 4])]);
      const contract: AnswerContract = { kind: 'digits', length: value.length };
      return { kind, contract, value, groups: ledIn(draw, language, groups, 'it is', 'नंबर है'), again: slowly(language, value) };
    }
    case 'phone': {
      const digits = `${draw.between(6, 9)}${draw.digits(9)}`;
      const groups = digitGroups(draw, language, digits, draw.pick([[5], [3, 3, 4], [4, 3], [2], [10]]));
      const plus = language === 'hi' ? ['प्लस', 'नौ', 'एक'] : ['plus', 'nine', 'one'];
      const coded = draw.chance(0.15) ? [plus, ...groups] : groups;
      const said = ledIn(draw, language, coded, 'my number is', 'मेरा नंबर है');
      return { kind, contract: { kind, region: 'IN' }, value: `+91${digits}`, groups: said, again: slowly(language, digits) };
    }
    case 'code': {
      const [letters, digits] = [String.fromCharCode(65 + draw.below(26), 65 + draw.below(26)), draw.digits(4)];
      const spelled = letters.split('').map((letter) => spokenLetter(language, letter));
      const groups = [spelled, ...digitGroups(draw, language, digits, [draw.pick([2, 4])])];
      const said = ledIn(draw, language, groups, 'the code is', 'कोड है');
      return {
        kind,
        contract: { kind, pattern: 'AA9999' },
        value: `${letters}${digits}`,
        groups: said,
        again: [spelled, ...slowly(language, digits)],
      };
    }
    case 'date':
      return date(draw, language);
    case 'money':
      return money(draw, language);
    case 'email':
      return email(draw, language);
    case 'time':
      return time(draw, language);
    case 'name': {
      const [firsts, lasts] = language === 'hi' ? [NAMES_HINDI, LAST_HINDI] : [FIRST, LAST];
      const words = [draw.pick(firsts), ...(draw.chance(0.1) ? [draw.pick(firsts)] : []), draw.pick(lasts)];
      const value = words.map((word) => word[0]!.toUpperCase() + word.slice(1)).join(' ');
      const groups = split(
        draw,
        words.map((word) => [word]),
        0.4,
      );
      const said = ledIn(draw, language, groups, 'my name is', 'मेरा नाम');
      return { kind, contract: { kind, least: 2 }, value, groups: said, again: [words] };
    }
  }
}

/** Puts neighbouring groups together where no pause is made. */
function split(draw: Draw, groups: readonly Group[], pausing: number): Group[] {
  const joined: string[][] = [];
  for (const group of groups) {
    if (joined.length === 0 || draw.chance(pausing)) joined.push([...group]);
    else joined.at(-1)!.push(...group);
  }
  return joined;
}

function date(draw: Draw, language: SpokenLanguage): Dictated {
  const [day, month] = [draw.between(1, 28), draw.below(12)];
  const birth = draw.chance(0.6);
  const year = birth ? draw.between(1935, 2019) : 2026;
  const value = `${year}-${String(month + 1).padStart(2, '0')}-${String(day).padStart(2, '0')}`;
  const said =
    language === 'hi'
      ? [number('hi', day), [MONTHS.hi[month]!]]
      : draw.chance(0.5)
        ? [
            ['the', ...ORDINALS[day - 1]!.split(' ')],
            ['of', MONTHS.en[month]!],
          ]
        : [[MONTHS.en[month]!], ORDINALS[day - 1]!.split(' ')];
  const groups = split(draw, birth || draw.chance(0.15) ? [...said, yearWords(language, year)] : said, 0.4);
  // Bookings lie ahead of the first of January, so the year need not be said.
  const contract: AnswerContract = birth ? { kind: 'date', year: true, tense: 'past' } : { kind: 'date', tense: 'future' };
  return { kind: 'date', contract, value, groups, again: [groups.flat()] };
}

function yearWords(language: SpokenLanguage, year: number): string[] {
  const rest = year % 100;
  if (language === 'hi') return [...(year < 2000 ? ['उन्नीस', 'सौ'] : ['दो', 'हज़ार']), ...(rest === 0 ? [] : number('hi', rest))];
  if (year >= 2000 && year < 2010) return ['two', 'thousand', ...(rest === 0 ? [] : number('en', rest))];
  return [
    ...number('en', Math.floor(year / 100)),
    ...(rest === 0 ? ['hundred'] : rest < 10 ? ['oh', ...number('en', rest)] : number('en', rest)),
  ];
}

function money(draw: Draw, language: SpokenLanguage): Dictated {
  const [lakh, thousand, hundred, rest] = [
    draw.chance(0.3) ? draw.between(1, 99) : 0,
    draw.between(1, 99),
    draw.below(10),
    draw.below(100),
  ];
  const paise = draw.chance(0.2) ? draw.between(10, 99) : 0;
  const value = `${lakh * 100_000 + thousand * 1000 + hundred * 100 + rest}.${String(paise).padStart(2, '0')}`;
  const names = language === 'hi' ? ['लाख', 'हज़ार', 'सौ', 'रुपये', 'पैसे'] : ['lakh', 'thousand', 'hundred', 'rupees', 'paise'];
  const part = (count: number, name: string): Group[] => (count === 0 ? [] : [[...number(language, count), name]]);
  const unit = paise > 0 || draw.chance(0.9) ? [names[3]!] : [];
  const small = [...part(hundred, names[2]!).flat(), ...(rest > 0 ? number(language, rest) : []), ...unit];
  const whole = split(draw, [...part(lakh, names[0]!), ...part(thousand, names[1]!), ...(small.length > 0 ? [small] : [])], 0.4);
  const and = language === 'hi' ? [] : ['and'];
  const minor = paise === 0 ? [] : [[...and, ...number(language, paise), names[4]!]];
  const groups = draw.chance(0.3) ? [...whole, ...minor] : [...whole.slice(0, -1), [...whole.at(-1)!, ...minor.flat()]];
  return { kind: 'money', contract: { kind: 'money', currency: 'INR' }, value, groups, again: [groups.flat()] };
}

function email(draw: Draw, language: SpokenLanguage): Dictated {
  const [first, last, digits] = [draw.pick(FIRST), draw.pick(LAST), draw.digits(2)];
  const host = draw.pick(['gmail.com', 'gmail.com', 'yahoo.com', 'outlook.com', 'yahoo.co.in', 'example.org']);
  const [dot, at] = language === 'hi' ? ['डॉट', draw.pick(['ऐट', 'ऐट द रेट'])] : ['dot', draw.pick(['at', 'at the rate'])];
  const domain = host.split('.').flatMap((label, place) => (place === 0 ? [label] : [dot, label]));
  const numbers = digits.split('').map((digit) => spokenDigit(language, digit));
  const signs = (word: string): string[] => word.split('').map((letter) => spokenLetter(language, letter));
  const groups = split(draw, [[first], [dot, last], numbers, [...at.split(' '), ...domain.slice(0, 1)], domain.slice(1)], 0.35);
  const again = [signs(first), [dot, ...signs(last)], numbers, [...at.split(' '), ...domain]];
  return { kind: 'email', contract: { kind: 'email' }, value: `${first}.${last}${digits}@${host}`, groups, again };
}

/** Seven in ten say the part of the day; the others are asked within opening hours. */
function time(draw: Draw, language: SpokenLanguage): Dictated {
  const [hour, quarter] = [draw.between(8, 18), draw.below(4)];
  const twelve = ((hour + 11) % 12) + 1;
  const following = (twelve % 12) + 1;
  const value = `${String(hour).padStart(2, '0')}:${String(quarter * 15).padStart(2, '0')}`;
  const name = (of: number): string => (language === 'hi' ? NUMBERS : BELOW_HUNDRED)[of]!;
  const half = twelve === 1 ? 'डेढ़' : twelve === 2 ? 'ढाई' : `साढ़े ${name(twelve)}`;
  const words =
    language === 'hi'
      ? [name(twelve), `सवा ${name(twelve)}`, half, `पौने ${name(following)}`].map((each) => `${each} बजे`)
      : [`${name(twelve)} o'clock`, `quarter past ${name(twelve)}`, `half past ${name(twelve)}`, `quarter to ${name(following)}`];
  const said = words[quarter]!.split(' ');
  if (draw.chance(0.3)) {
    return { kind: 'time', contract: { kind: 'time', from: '08:00', to: '19:00' }, value, groups: [said], again: [said] };
  }
  const parts = language === 'hi' ? ['सुबह', 'दोपहर', 'शाम'] : ['in the morning', 'in the afternoon', 'in the evening'];
  const part = parts[hour < 12 ? 0 : hour < (language === 'hi' ? 16 : 18) ? 1 : 2]!.split(' ');
  const groups = split(draw, language === 'hi' ? [part, said] : [said, part], 0.1);
  return { kind: 'time', contract: { kind: 'time' }, value, groups, again: [groups.flat()] };
}
