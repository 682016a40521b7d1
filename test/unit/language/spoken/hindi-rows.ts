import { draws, row, type Row, someDays, spokenDigits as digitsOf, withDoubles as doublesOf, yesNo } from './row.ts';

/** Every number below a hundred has a name of its own. */
export const NUMBERS = `शून्य
एक दो तीन चार पाँच छह सात आठ नौ दस ग्यारह बारह तेरह चौदह पंद्रह सोलह सत्रह अठारह उन्नीस बीस
इक्कीस बाईस तेईस चौबीस पच्चीस छब्बीस सत्ताईस अट्ठाईस उनतीस तीस इकतीस बत्तीस तैंतीस चौंतीस पैंतीस छत्तीस सैंतीस अड़तीस उनतालीस चालीस
इकतालीस बयालीस तैंतालीस चौवालीस पैंतालीस छियालीस सैंतालीस अड़तालीस उनचास पचास इक्यावन बावन तिरपन चौवन पचपन छप्पन सत्तावन अट्ठावन उनसठ साठ
इकसठ बासठ तिरसठ चौंसठ पैंसठ छियासठ सड़सठ अड़सठ उनहत्तर सत्तर इकहत्तर बहत्तर तिहत्तर चौहत्तर पचहत्तर छिहत्तर सतहत्तर अठहत्तर उन्यासी अस्सी
इक्यासी बयासी तिरासी चौरासी पचासी छियासी सत्तासी अट्ठासी नवासी नब्बे इक्यानवे बानवे तिरानवे चौरानवे पचानवे छियानवे सत्तानवे अट्ठानवे निन्यानवे`.split(
  /\s+/,
);
/** Other spellings that are common in writing. */
const VARIANTS = `0=ज़ीरो 0=जीरो 5=पांच 6=छः 6=छे 15=पन्द्रह 18=अट्ठारह 22=बाइस 23=तेइस 27=सत्ताइस 28=अठाईस 29=उन्तीस
31=इकत्तीस 38=अडतीस 39=उन्तालीस 44=चवालीस 58=अठावन 64=चौसठ 79=उनासी 87=सतासी 88=अठासी 91=इक्यानबे 95=पंचानवे 99=निन्यानबे`
  .split(/\s/)
  .map((pair) => pair.split('=') as [string, string]);
const ENGLISH_DIGITS = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine'];
const LOAN_DIGITS = ['ज़ीरो', 'वन', 'टू', 'थ्री', 'फ़ोर', 'फाइव', 'सिक्स', 'सेवन', 'एट', 'नाइन'];
const ROMAN_DIGITS = ['shunya', 'ek', 'do', 'teen', 'chaar', 'paanch', 'chhah', 'saat', 'aath', 'nau'];
const MONTHS = 'जनवरी फ़रवरी मार्च अप्रैल मई जून जुलाई अगस्त सितंबर अक्टूबर नवंबर दिसंबर'.split(' ');

function inWords(parts: readonly (readonly [number, string])[]): string {
  return parts
    .filter(([count]) => count > 0)
    .map(([count, name]) => `${NUMBERS[count]!}${name === '' ? '' : ` ${name}`}`)
    .join(' ');
}

/** Crores, lakhs, thousands, hundreds and the rest of a number, each below a hundred. */
function placesOf(value: number): (readonly [number, string])[] {
  return [
    [Math.floor(value / 10_000_000), 'करोड़'],
    [Math.floor(value / 100_000) % 100, 'लाख'],
    [Math.floor(value / 1000) % 100, 'हज़ार'],
    [Math.floor(value / 100) % 10, 'सौ'],
    [value % 100, ''],
  ];
}

function devanagari(text: string): string {
  return text.replaceAll(/\d/g, (digit) => String.fromCharCode(0x0966 + Number(digit)));
}

function* integers(): Generator<Row> {
  for (let value = 0; value < 100; value++) yield row('integer', NUMBERS[value]!, String(value), true);
  for (const [value, text] of VARIANTS) yield row('integer', text, value);
  for (let value = 100; value < 1000; value += 2) yield row('integer', inWords(placesOf(value)), String(value), true);
  const random = draws(7);
  for (let n = 0; n < 220; n++) {
    const value = Math.floor(10 ** (3 + random.next().value * 6));
    yield row('integer', inWords(placesOf(value)), String(value), true);
  }
  const scales = [
    ['सौ', 100],
    ['हज़ार', 1000],
    ['लाख', 100_000],
    ['करोड़', 10_000_000],
  ] as const;
  for (const [name, scale] of scales) {
    yield row('integer', `डेढ़ ${name}`, String(1.5 * scale));
    yield row('integer', `ढाई ${name}`, String(2.5 * scale));
    yield row('integer', `सवा ${name}`, String(1.25 * scale));
    for (let count = 2; count < 10; count++) {
      yield row('integer', `सवा ${NUMBERS[count]!} ${name}`, String((count + 0.25) * scale));
      if (count > 2) yield row('integer', `साढ़े ${NUMBERS[count]!} ${name}`, String((count + 0.5) * scale));
      yield row('integer', `पौने ${NUMBERS[count]!} ${name}`, String((count - 0.25) * scale));
    }
  }
  for (const value of [12, 450, 6789, 125_000, 9_900_000]) yield row('integer', devanagari(String(value)), String(value));
  yield row('integer', '१,२५,०००', '125000');
  yield row('integer', 'साढे तीन हजार', '3500');
  yield row('integer', '2 लाख 50 हज़ार', '250000');
}

const spokenDigits = (digits: string, names: readonly string[] = NUMBERS): string => digitsOf(digits, names);
const withDoubles = (digits: string): string => doublesOf(digits, NUMBERS, ['डबल', 'ट्रिपल']);

function* digitStrings(): Generator<Row> {
  const random = draws(29);
  const below = (most: number): number => Math.floor(random.next().value * most);
  for (let n = 0; n < 80; n++) {
    const digits = Array.from({ length: 4 + (n % 9) }, () => below(n % 2 === 0 ? 10 : 3)).join('');
    yield row('digits', spokenDigits(digits), digits, true);
    yield row('digits', spokenDigits(digits, LOAN_DIGITS), digits);
    if (n % 2 === 0) yield row('digits', devanagari(digits), digits);
    if (n % 3 === 0) yield row('digits', spokenDigits(digits, ENGLISH_DIGITS), digits);
    if (n % 4 === 0) {
      const mixed = digits.split('').map((digit, place) => (place % 2 === 0 ? NUMBERS : ENGLISH_DIGITS)[Number(digit)]!);
      yield row('digits', mixed.join(' '), digits);
    }
    if (/(\d)\1/.test(digits)) yield row('digits', withDoubles(digits), digits);
    if (n % 3 === 1 && /[1356789]/.test(digits)) yield row('digits', spokenDigits(`1${digits}`, ROMAN_DIGITS), `1${digits}`);
  }
  for (let n = 0; n < 40; n++) {
    const pairs = [10 + below(90), 10 + below(90), 10 + below(90)];
    yield row('digits', pairs.map((pair) => NUMBERS[pair]!).join(' '), pairs.join(''));
  }
}

function* phones(): Generator<Row> {
  const random = draws(37);
  for (let n = 0; n < 50; n++) {
    const digits = `${6 + (n % 4)}${String(Math.floor(random.next().value * 1e9)).padStart(9, '0')}`;
    const [left, right] = [digits.slice(0, 5), digits.slice(5)];
    yield row('phone', `${spokenDigits(left)}, ${spokenDigits(right)}`, `+91${digits}`, true);
    yield row('phone', `मेरा नंबर है ${withDoubles(digits)}`, `+91${digits}`);
    yield row('phone', `प्लस नौ एक ${devanagari(left)} ${devanagari(right)}`, `+91${digits}`);
  }
}

function* money(): Generator<Row> {
  yield row('money', 'एक लाख पच्चीस हज़ार रुपये', '125000.00', true);
  yield row('money', 'डेढ़ सौ रुपये', '150.00');
  yield row('money', 'ढाई हज़ार रुपए', '2500.00');
  yield row('money', 'साढ़े तीन लाख रुपये', '350000.00');
  yield row('money', '₹1,25,000', '125000.00');
  yield row('money', '₹१,२५,०००', '125000.00');
  yield row('money', 'पचास पैसे', '0.50', true);
  yield row('money', 'ढाई रुपये', '2.50');
  const random = draws(41);
  for (let n = 0; n < 110; n++) {
    const rupees = 2 + Math.floor(10 ** (random.next().value * 8));
    const paise = n % 2 === 0 ? 2 + Math.floor(random.next().value * 98) : 0;
    const value = `${rupees}.${String(paise).padStart(2, '0')}`;
    const words = inWords(placesOf(rupees));
    const small = paise === 0 ? '' : ` ${NUMBERS[paise]!} पैसे`;
    yield row('money', `${words} रुपये${small}`, value, true);
    yield row('money', paise === 0 ? `${words} रुपए` : `${words} रुपया और ${NUMBERS[paise]!} पैसा`, value);
  }
}

function yearInWords(year: number): string {
  const rest = year % 100;
  const end = rest === 0 ? '' : ` ${NUMBERS[rest]!}`;
  return year < 2000 ? `उन्नीस सौ${end}` : `दो हज़ार${end}`;
}

function* dates(): Generator<Row> {
  for (const { day, month, year, value } of someDays()) {
    const name = MONTHS[month - 1]!;
    yield row('date', `${NUMBERS[day]!} ${name} ${yearInWords(year)}`, value, true);
    if (day % 3 === 0) yield row('date', `${devanagari(String(day))} ${name} ${devanagari(String(year))}`, value);
    // The day comes first in figures.
    if (day % 5 === 0) yield row('date', `${day}/${month}/${year}`, value);
  }
}

function* times(): Generator<Row> {
  for (let hour = 0; hour < 24; hour++) {
    const twelve = ((hour + 11) % 12) + 1;
    const following = (twelve % 12) + 1;
    const value = (minute: number): string => `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`;
    const part = hour < 4 ? 'रात' : hour < 12 ? 'सुबह' : hour < 16 ? 'दोपहर' : hour < 20 ? 'शाम' : 'रात';
    yield row('time', `${part} ${NUMBERS[twelve]!} बजे`, value(0), true);
    yield row('time', `${part} सवा ${NUMBERS[twelve]!} बजे`, value(15), true);
    const half = twelve === 1 ? 'डेढ़' : twelve === 2 ? 'ढाई' : `साढ़े ${NUMBERS[twelve]!}`;
    yield row('time', `${part} ${half} बजे`, value(30), true);
    yield row('time', `${part} पौने ${NUMBERS[following]!} बजे`, value(45), true);
    yield row('time', `${part} ${NUMBERS[twelve]!} बजकर ${NUMBERS[20 + (hour % 9)]!} मिनट`, value(20 + (hour % 9)), true);
  }
}

function* codes(): Generator<Row> {
  const letters = 'ए बी सी डी ई एफ़ जी एच आई जे के एल एम एन ओ पी क्यू आर एस टी यू वी डब्ल्यू एक्स वाई ज़ेड'.split(' ');
  const words =
    'आम बॉम्बे चेन्नई दिल्ली ईगल फल गोवा हैदराबाद इंडिया जयपुर कोलकाता लखनऊ मुंबई नागपुर ओखला पुणे क्वीन राजकोट सूरत टमाटर उदयपुर वाराणसी वर्धा एक्सरे यमुना ज़ेबरा'.split(
      ' ',
    );
  for (let n = 0; n < 52; n++) {
    const [first, second] = [n % 26, (n * 7 + 3) % 26];
    const digits = String((n * 7919) % 10_000).padStart(4, '0');
    const value = `${String.fromCharCode(65 + first, 65 + second)}${digits}`;
    yield row('code', `${letters[first]!} ${letters[second]!} ${spokenDigits(digits)}`, value, true);
    yield row(
      'code',
      `${letters[first]!} फॉर ${words[first]!}, ${letters[second]!} फ़ॉर ${words[second]!}, ${spokenDigits(digits, LOAN_DIGITS)}`,
      value,
    );
    yield row('code', `${value.slice(0, 2)} ${devanagari(digits)}`, value);
  }
}

function* emails(): Generator<Row> {
  // Names with one usual spelling in Latin letters; "deepa" and "dipa" could not be told apart.
  const first = ['ravi रवि', 'mohan मोहन', 'anita अनीता', 'kavita कविता', 'nisha निशा', 'gita गीता', 'sharma शर्मा', 'kumar कुमार'];
  const hosts = [
    ['gmail.com', 'जीमेल डॉट कॉम'],
    ['yahoo.co.in', 'याहू डॉट को डॉट इन'],
    ['outlook.com', 'आउटलुक डॉट कॉम'],
  ] as const;
  for (const [index, pair] of first.entries()) {
    const [latin, hindi] = pair.split(' ') as [string, string];
    for (const [place, [host, spoken]] of hosts.entries()) {
      const digits = String(10 + ((index * 17 + place * 5) % 90));
      yield row('email', `${latin} डॉट verma ऐट ${host.replaceAll('.', ' डॉट ')}`, `${latin}.verma@${host}`, true);
      yield row('email', `${hindi} ${spokenDigits(digits)} ऐट ${spoken}`, `${latin}${digits}@${host}`);
      yield row('email', `मेरा ईमेल है ${latin} ${spokenDigits(digits)} ऐट द रेट ${spoken}`, `${latin}${digits}@${host}`);
    }
  }
}

function* names(): Generator<Row> {
  for (const first of 'रवि सुनीता मोहन कविता अर्जुन निशा'.split(' ')) {
    for (const last of 'कुमार शर्मा वर्मा सिंह गुप्ता'.split(' ')) {
      const value = `${first} ${last}`;
      yield row('name', value, value, true);
      yield row('name', `मेरा नाम ${value} है`, value);
      yield row('name', `जी मैं ${value} बोल रही हूँ`, value);
    }
  }
}

const YES = 'हाँ,हां,जी,जी हाँ,हाँ जी,ठीक है,सही है,बिल्कुल,haan,ji,ji haan,haan ji,theek hai';
const NO = 'नहीं,जी नहीं,नही,नहीं जी,गलत है,ना,nahin,ji nahin,nahi,सही नहीं';

export function hindiRows(): Row[] {
  const generators = [integers, digitStrings, phones, money, dates, times, codes, emails, names, () => yesNo(YES, NO)];
  return generators.flatMap((generate) => [...generate()]);
}
