import { tokenise, type Found } from './tokens.ts';
import { amountAt } from './amounts.ts';
import { numberAt } from './numbers.ts';

export type Tense = 'past' | 'future';

const PAST = new Set(
  tokenise(
    'yesterday ago last was were had did बीते बीता बीती पिछले पिछला पिछली गुज़रे गुज़रा था थी थे गया गयी गई गए हुआ हुई हुए आया आयी आई आए किया की थी मिला मिली लिया दिया बीत चुका चुकी चुके',
  ),
);
const FUTURE = new Set(
  tokenise('tomorrow will next coming shall आने आनेवाले अगले अगला अगली आगामी होगा होगी होंगे चाहिए सकता सकती सकते चाहता चाहती'),
);
/** Endings of Hindi verbs that look ahead: आऊँगा, करेंगे, मिलेगी. */
const AHEAD = /(?:ूंगा|ूंगी|ऊंगा|ऊंगी|एगा|एगी|ेगा|ेगी|ेंगे|ेंगी|एंगे|एंगी|ोगे|ोगी|िएगा)$/u;

/** The tense of an utterance, by its verbs and adverbs; undefined without one, or with both. */
export function tenseOf(tokens: readonly string[]): Tense | undefined {
  const past = tokens.some((token) => PAST.has(token));
  const future = tokens.some((token) => FUTURE.has(token) || AHEAD.test(token));
  if (past === future) return undefined;
  return past ? 'past' : 'future';
}

const OH = new Set(['oh', 'o', 'zero', ...tokenise('ज़ीरो')]);
const FIRST_YEAR = 1900;
const LAST_YEAR = 2099;

/**
 * The year whose words begin at `index`: `1984`, `nineteen eighty four`, `two thousand five`, `twenty oh six`,
 * `उन्नीस सौ चौरासी`, `दो हज़ार छब्बीस`, and two digits (`84`), which are the nearest year on the side of today that
 * the tense says.
 */
export function yearAt(tokens: readonly string[], index: number, thisYear: number, tense?: Tense): Found<number> | undefined {
  const figures = /^\d{4}$/.test(tokens[index] ?? '');
  if (figures) return possible({ value: Number(tokens[index]), from: index, to: index + 1 });
  const century = numberAt(tokens, index);
  if (century !== undefined && (century.value === 19 || century.value === 20)) {
    const oh = OH.has(tokens[century.to] ?? '');
    const rest = numberAt(tokens, oh ? century.to + 1 : century.to);
    if (rest !== undefined && oh === rest.value < 10)
      return { value: century.value * 100 + rest.value, from: index, to: rest.to };
  }
  const amount = amountAt(tokens, index);
  const whole = amount === undefined || amount.dangling || !Number.isInteger(amount.value) ? undefined : possible(amount);
  if (whole !== undefined) return { value: whole.value, from: index, to: whole.to };
  if (century === undefined || (century.to - index === 1 && /^\d$/.test(tokens[index] ?? ''))) return undefined;
  return { ...century, value: ofTwoDigits(century.value, thisYear, tense) };
}

function ofTwoDigits(value: number, thisYear: number, tense: Tense | undefined): number {
  const now = thisYear % 100;
  const century = thisYear - now;
  if (tense === 'future') return value >= now ? century + value : century + 100 + value;
  // A date of birth or of a bill: a year still to come in this century was in the last one.
  return tense === 'past'
    ? value <= now
      ? century + value
      : century - 100 + value
    : value <= now + 20
      ? century + value
      : century - 100 + value;
}

function possible(found: Found<number>): Found<number> | undefined {
  return found.value >= FIRST_YEAR && found.value <= LAST_YEAR ? found : undefined;
}
