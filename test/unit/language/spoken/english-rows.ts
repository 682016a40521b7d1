import { draws, row, type Row, someDays, spokenDigits as digitsOf, withDoubles as doublesOf, yesNo } from './row.ts';

const UNITS = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine'];
export const BELOW_HUNDRED = [
  ...UNITS,
  ...'ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'.split(' '),
];
for (const tens of ['twenty', 'thirty', 'forty', 'fifty', 'sixty', 'seventy', 'eighty', 'ninety']) {
  BELOW_HUNDRED.push(tens);
  for (const unit of UNITS.slice(1)) BELOW_HUNDRED.push(`${tens} ${unit}`);
}

const ORDINALS =
  'first,second,third,fourth,fifth,sixth,seventh,eighth,ninth,tenth,eleventh,twelfth,thirteenth,fourteenth,fifteenth,sixteenth,seventeenth,eighteenth,nineteenth,twentieth,twenty first,twenty second,twenty third,twenty fourth,twenty fifth,twenty sixth,twenty seventh,twenty eighth,twenty ninth,thirtieth,thirty first'.split(
    ',',
  );
const MONTHS = 'January,February,March,April,May,June,July,August,September,October,November,December'.split(',');

/** The words of a number for each of its parts, largest first. */
function inWords(parts: readonly (readonly [number, string])[]): string {
  return parts
    .filter(([count]) => count > 0)
    .map(([count, name]) => `${count < 100 ? BELOW_HUNDRED[count]! : hundreds(count)}${name === '' ? '' : ` ${name}`}`)
    .join(' ');
}

function hundreds(value: number): string {
  const rest = value % 100;
  return `${UNITS[Math.floor(value / 100)]!} hundred${rest === 0 ? '' : ` ${BELOW_HUNDRED[rest]!}`}`;
}

/** All of 0 to 999, and bigger ones at every size, by lakh and crore and by thousand and million. */
function* integers(): Generator<Row> {
  for (let value = 0; value < 1000; value++) {
    yield row('integer', value < 100 ? BELOW_HUNDRED[value]! : hundreds(value), String(value), true);
  }
  for (let value = 101; value < 1000; value += 37) {
    yield row('integer', `${UNITS[Math.floor(value / 100)]!} hundred and ${BELOW_HUNDRED[value % 100]!}`, String(value));
  }
  const random = draws(11);
  const below = (most: number): number => Math.floor(random.next().value * most);
  for (let n = 0; n < 150; n++) {
    const [crore, lakh, thousand, rest] = [n % 3 === 0 ? below(100) : 0, n % 2 === 0 ? below(100) : 0, below(100), below(1000)];
    const value = crore * 10_000_000 + lakh * 100_000 + thousand * 1000 + rest;
    if (value < 1000) continue;
    const words = [
      [crore, 'crore'],
      [lakh, 'lakh'],
      [thousand, 'thousand'],
      [rest, ''],
    ] as const;
    yield row('integer', inWords(words), String(value), true);
  }
  for (let n = 0; n < 60; n++) {
    const [million, thousand, rest] = [1 + below(999), 1 + below(999), below(1000)];
    yield row(
      'integer',
      inWords([
        [million, 'million'],
        [thousand, 'thousand'],
        [rest, ''],
      ]),
      String(million * 1e6 + thousand * 1e3 + rest),
    );
  }
  yield row('integer', 'two and a half lakh', '250000');
  yield row('integer', 'one point five crore', '15000000');
  yield row('integer', '3.25 lakh', '325000');
  yield row('integer', 'half a million', '500000');
  yield row('integer', 'twenty five hundred', '2500');
  yield row('integer', '1,25,000', '125000');
  yield row('integer', '1,250,000', '1250000');
  yield row('integer', '2 lakh 50 thousand', '250000');
}

const spokenDigits = (digits: string): string => digitsOf(digits, UNITS);
const withDoubles = (digits: string): string => doublesOf(digits, UNITS, ['double', 'triple']);

function* digitStrings(): Generator<Row> {
  const random = draws(23);
  const below = (most: number): number => Math.floor(random.next().value * most);
  for (let n = 0; n < 120; n++) {
    const digits = Array.from({ length: 4 + (n % 9) }, () => below(n % 2 === 0 ? 10 : 3)).join('');
    yield row('digits', spokenDigits(digits), digits, true);
    if (/(\d)\1/.test(digits)) yield row('digits', withDoubles(digits), digits);
    if (n % 4 === 0) yield row('digits', spokenDigits(digits).replaceAll('zero', 'oh'), digits);
  }
  for (let n = 0; n < 60; n++) {
    const pairs = [10 + below(90), 10 + below(90), 10 + below(90)];
    yield row('digits', pairs.map((pair) => BELOW_HUNDRED[pair]!).join(' '), pairs.join(''));
  }
}

function* phones(): Generator<Row> {
  const random = draws(31);
  for (let n = 0; n < 60; n++) {
    const tail = String(Math.floor(random.next().value * 1e9)).padStart(9, '0');
    const digits = `${6 + (n % 4)}${tail}`;
    const [left, right] = [digits.slice(0, 5), digits.slice(5)];
    yield row('phone', `${spokenDigits(left)}, ${spokenDigits(right)}`, `+91${digits}`, true);
    yield row('phone', `my number is plus nine one ${withDoubles(digits)}`, `+91${digits}`);
    yield row('phone', `${left}-${right}`, `+91${digits}`);
  }
}

function* money(): Generator<Row> {
  const random = draws(43);
  for (let n = 0; n < 130; n++) {
    const lakh = n % 3 === 0 ? Math.floor(random.next().value * 100) : 0;
    const thousand = Math.floor(random.next().value * 100);
    const rest = 2 + Math.floor(random.next().value * 998);
    const paise = n % 2 === 0 ? 2 + Math.floor(random.next().value * 98) : 0;
    const rupees = lakh * 100_000 + thousand * 1000 + rest;
    const value = `${rupees}.${String(paise).padStart(2, '0')}`;
    const words = inWords([
      [lakh, 'lakh'],
      [thousand, 'thousand'],
      [rest, ''],
    ]);
    const small = paise === 0 ? '' : ` and ${BELOW_HUNDRED[paise]!} paise`;
    yield row('money', `${words} rupees${small}`, value, true);
    yield row('money', paise === 0 ? `rupees ${words} only` : `₹${rupees}.${String(paise).padStart(2, '0')}`, value);
    const dollars =
      inWords([
        [n, ''],
        [0, ''],
      ]) || 'zero';
    if (n > 1)
      yield row(
        'dollars',
        `${dollars} dollars${paise === 0 ? '' : ` and ${BELOW_HUNDRED[paise]!} cents`}`,
        `${n}.${value.slice(-2)}`,
        true,
      );
  }
}

function yearInWords(year: number): string {
  if (year >= 2000 && year < 2010) return `two thousand${year === 2000 ? '' : ` ${UNITS[year - 2000]!}`}`;
  const rest = year % 100;
  const century = BELOW_HUNDRED[Math.floor(year / 100)]!;
  return rest === 0 ? `${century} hundred` : rest < 10 ? `${century} oh ${UNITS[rest]!}` : `${century} ${BELOW_HUNDRED[rest]!}`;
}

function* dates(): Generator<Row> {
  for (const { day, month, year, value } of someDays()) {
    const name = MONTHS[month - 1]!;
    yield row('date', `the ${ORDINALS[day - 1]!} of ${name} ${yearInWords(year)}`, value, true);
    if (day % 3 === 0) yield row('date', `${name} ${day}, ${year}`, value);
    if (day % 5 === 0) yield row('date', `${day} ${name.slice(0, 3)} ${year}`, value);
    if (day > 12) yield row('date', `${day}/${month}/${year}`, value);
  }
}

function* times(): Generator<Row> {
  const names = BELOW_HUNDRED;
  for (let hour = 0; hour < 24; hour++) {
    const twelve = ((hour + 11) % 12) + 1;
    const following = (twelve % 12) + 1;
    const value = (minute: number): string => `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`;
    const part = (minute: number): string => {
      const at = hour * 60 + minute;
      return at < 720 ? 'in the morning' : at < 1080 ? 'in the afternoon' : at < 1320 ? 'in the evening' : 'at night';
    };
    yield row('time', `${names[twelve]!} o'clock ${part(0)}`, value(0), true);
    yield row('time', `quarter past ${names[twelve]!} ${part(15)}`, value(15), true);
    yield row('time', `half past ${names[twelve]!} ${part(30)}`, value(30), true);
    yield row('time', `quarter to ${names[following]!} ${part(45)}`, value(45), true);
    yield row('time', `${names[twelve]!} ${names[20 + (hour % 9)]!} ${part(20)}`, value(20 + (hour % 9)), true);
    yield row('time', `${twelve}:05 ${hour < 12 ? 'am' : 'pm'}`, value(5));
  }
}

function* codes(): Generator<Row> {
  const words =
    'alpha bravo charlie delta echo foxtrot golf hotel india juliet kilo lima mike november oscar papa quebec romeo sierra tango uniform victor whiskey x-ray yankee zulu'.split(
      ' ',
    );
  const names =
    'apple boy cat dog egg fish goat hat ink jug king lion man nest orange pen queen rat sun tree umbrella van water xylophone yak zebra'.split(
      ' ',
    );
  for (let n = 0; n < 52; n++) {
    const [first, second] = [n % 26, (n * 7 + 3) % 26];
    const digits = String((n * 7919) % 10_000).padStart(4, '0');
    const letters = String.fromCharCode(65 + first, 65 + second);
    const value = `${letters}${digits}`;
    yield row('code', `${letters[0]!} ${letters[1]!} ${spokenDigits(digits)}`, value, true);
    yield row('code', `${words[first]!} ${words[second]!} ${withDoubles(digits)}`, value);
    yield row(
      'code',
      `${letters[0]!.toLowerCase()} for ${names[first]!}, ${letters[1]!.toLowerCase()} as in ${names[second]!}, ${digits}`,
      value,
    );
    if (n % 4 === 0) yield row('code', `it is ${letters} ${digits}`, value);
  }
}

const FIRST = 'anita arjun deepa farhan gita harish imran kavita lata mohan nisha prakash ravi sunita varun'.split(' ');
const LAST = 'sharma verma iyer khan das gupta menon reddy singh patel'.split(' ');

function* emails(): Generator<Row> {
  const hosts = ['gmail.com', 'yahoo.co.in', 'example.org', 'outlook.com'];
  for (const [index, first] of FIRST.entries()) {
    for (const [place, last] of LAST.entries()) {
      if ((index + place) % 2 === 1) continue;
      const host = hosts[(index + place) % 4]!;
      const digits = String((index * 13 + place) % 100);
      const spokenHost = host.replaceAll('.', ' dot ');
      yield row('email', `${first} dot ${last} at ${spokenHost}`, `${first}.${last}@${host}`, true);
      yield row(
        'email',
        `it's ${first} underscore ${last} ${spokenDigits(digits)} at the rate ${spokenHost}`,
        `${first}_${last}${digits}@${host}`,
      );
    }
  }
}

function* names(): Generator<Row> {
  const title = (word: string): string => word[0]!.toUpperCase() + word.slice(1);
  for (const first of FIRST) {
    for (const last of LAST.slice(0, 4)) {
      const value = `${title(first)} ${title(last)}`;
      yield row('name', value, value, true);
      yield row('name', `my name is ${first} ${last}`, value);
    }
  }
  yield row('name', 'R A V I', 'Ravi');
  yield row('name', 'Ravi, R for Raja A V I, Kumar', 'Ravi Kumar');
}

const YES = "yes,yeah,yep,sure,correct,right,okay,of course,exactly,no problem,that's right,go ahead";
const NO = "no,nope,nah,not really,wrong,incorrect,never,that's not right,no thank you,not quite";

export function englishRows(): Row[] {
  const generators = [integers, digitStrings, phones, money, dates, times, codes, emails, names, () => yesNo(YES, NO)];
  return generators.flatMap((generate) => [...generate()]);
}
