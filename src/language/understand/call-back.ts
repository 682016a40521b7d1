import { wallClockMs } from '../../kernel/wall-clock.ts';
import { addDays, type CalendarDay, dayInZone, daysBetween, sayDay } from './calendar.ts';
import {
  clockTime,
  type ClockTime,
  type DayPart,
  inWindow,
  minutesOf,
  type TimeWindow,
  sayTime,
  findDayPart,
  findTime,
} from './time.ts';
import { findDay } from './find-day.ts';
import { type Language, tokenise } from './tokens.ts';
import { numberAt } from './numbers.ts';
import { ENGLISH_CLASSES, HINDI_CLASSES } from './opt-out-words.ts';
import { refusalWords } from './opt-out.ts';
import { withDevanagari } from './romanised.ts';
import { findVerdict, patternTable, type PatternTable } from './word-patterns.ts';

/** A request to be called back at another time. */
export interface CallBackWish {
  /** Undefined where they named no time, or one that is over. */
  readonly atMs: number | undefined;
}

/** Hours in which people are called: they decide which `eight` is meant. */
const CALLING_HOURS: TimeWindow = { from: '08:00', to: '20:59' };
/** "Tomorrow" alone: as late as now, within these hours. */
const WHOLE_DAY: TimeWindow = { from: '10:00', to: '18:00' };
const PARTS: Readonly<Record<DayPart, ClockTime>> = {
  am: '10:00',
  morning: '10:00',
  afternoon: '14:00',
  pm: '15:00',
  evening: '18:00',
  night: '20:00',
};
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const HALF_DAY = 720;

const PATTERNS = {
  ask: [
    'CALL me|us ..2 back',
    'CALL back',
    'CALL me|us on|at|after|around|by|in|within|next|some|another|other|when|once|later|again|tomorrow|today|tonight|DAY|PART|any',
    'CALL me|us this|that PART',
    'CALL again|back|later|tomorrow|tonight|after|next|around',
    'CALL some|any other|another time|day',
    'CALL in HOWLONG',
    'CALL HOWMANY HOWLONG later|after|baad',
    'CALL me|us HOWMANY HOWLONG later|after|baad',
    'give me|us call|ring|buzz back|later|tomorrow|after|in|at|on|around|again|next|when|sometime',
    'try me? again|back|later|tomorrow|after|around|next',
    'try me at|on|in|after',
    'talk|speak|chat later|tomorrow|after',
    'reach me at|after|around|tomorrow|later|next',
    'HCALL ko|ne? kar|karo|karna|karoge|lagao|lag|lena|do|dijiye ..2 WHEN',
    'WHEN ..4 HCALL BETWEEN* kar|karo|karna|karoge|lagao|lag|do|dijiye|lena',
    'HCALL BETWEEN* kar|karo|karna|karoge|lagao|lag|do|dijiye|lena ..2 WHEN',
    'WHEN mein|me|ko|par|se? karo|karna|kar|karoge|baat',
    'WHEN ..2 baat karna|karo|karte|karenge|karoge',
    'baad HCALL|baat ..2 karo|karna|kar',
  ],
  aside: [
    'i|we|ill|well|he|she|they|id ..2 CALL me|you|back|again',
    'can|should|could|must|may i|we ..2 CALL',
    'NOT|didnt|havent SOFT* CALL ..6 $',
    'NOT|didnt|havent SOFT* CALL me|us now|here',
    'HCALL BETWEEN* MAT hi? kiya? KARO',
    'said|told|promised|supposed ..5 CALL me|us? back|again|later|tomorrow',
    'why|when|did|didnt|if ..3 you CALL me|us? back|again',
    'main ..4 HCALL ..2 kar',
  ],
};

const CLASSES = {
  ...ENGLISH_CLASSES,
  ...HINDI_CLASSES,
  CALL: 'call phone ring dial telephone calling buzz',
  HOWLONG: 'minute minutes min mins hour hours hr day days week weeks while bit moment sometime ghante ghanta minat',
  HOWMANY: 'one two three four five six seven eight nine ten fifteen twenty thirty half few couple some an a',
  WHEN: 'घंटे घंटा घण्टे घण्टा मिनट kal din baje baad phir thodi aadhe ghante ghanta tomorrow later evening morning afternoon tonight monday tuesday wednesday thursday friday saturday sunday',
};

let made: PatternTable<'ask' | 'aside'> | undefined;

function table(): PatternTable<'ask' | 'aside'> {
  made ??= patternTable(CLASSES, [
    { verdict: 'aside', patterns: PATTERNS.aside },
    { verdict: 'ask', patterns: PATTERNS.ask },
  ]);
  return made;
}

/**
 * Reads a request to be called back, in English, Hindi or both: `call me tomorrow at five`, `try after six`, `कल शाम को फ़ोन करना`. An ambiguous time
 * of day is the one within calling hours; if both are, the next.
 * @param timeZone the caller's
 * @returns undefined without such a request
 */
export function readCallBack(text: string, wallMs: number, timeZone: string): CallBackWish | undefined {
  const asked = findVerdict(
    table(),
    refusalWords(text),
    (found) => found === 'ask',
    () => false,
  );
  if (asked !== 'ask') return undefined;
  const tokens = withHours(withDevanagari(tokenise(text)));
  const atMs = momentIn(tokens, wallMs, timeZone);
  return { atMs: atMs !== undefined && atMs > wallMs ? atMs : undefined };
}

/** When a caller is going to be called, to be said back: `tomorrow at five o'clock in the afternoon`, `कल शाम पाँच बजे`. */
export function sayCallBack(language: Language, atMs: number, wallMs: number, timeZone: string): string {
  const { day, minutes } = localOf(atMs, timeZone);
  const today = dayInZone(wallMs, timeZone);
  const tomorrow = language === 'hi' ? 'कल' : 'tomorrow';
  const name = daysBetween(today, day) === 1 ? tomorrow : sayDay(language, day, today);
  const time = sayTime(language, clockTime(minutes), true);
  if (language === 'hi') return `${name} ${time}`;
  const isDay = name !== 'today' && name !== tomorrow && !name.startsWith('next ');
  return `${isDay ? 'on ' : ''}${name} at ${time}`;
}

/**
 * The moment of a wall clock. Of an hour that a zone skips, as much later.
 * @param local `YYYY-MM-DDTHH:MM`
 */
export function momentOf(local: string, timeZone: string): number {
  const wanted = Date.parse(`${local}:00Z`);
  const [before, after] = [wanted - DAY_MS, wanted + DAY_MS].map((atMs) => wanted - (wallClockMs(atMs, timeZone) - atMs));
  const fitting = [before, after].find((atMs) => atMs !== undefined && wallClockMs(atMs, timeZone) === wanted);
  return fitting ?? before ?? wanted;
}

function momentIn(tokens: readonly string[], wallMs: number, timeZone: string): number | undefined {
  const now = localOf(wallMs, timeZone);
  const wait = waitIn(tokens);
  if (wait !== undefined && wait.days === 0) return roundUp(wallMs + wait.minutes * MINUTE_MS);
  const rest = wait === undefined ? tokens : tokens.toSpliced(wait.from, wait.to - wait.from);
  const named = wait === undefined ? findDay(rest, now.day)?.value : addDays(now.day, wait.days);
  const part = findDayPart(rest)?.value;
  const time = findTime(rest, { window: CALLING_HOURS })?.value ?? (part === undefined ? undefined : PARTS[part]);
  if (time === undefined) return named === undefined ? undefined : momentOf(`${named}T${sameTime(now.minutes)}`, timeZone);
  const on = (day: CalendarDay, at: ClockTime): number => momentOf(`${day}T${at}`, timeZone);
  if (named !== undefined && named !== now.day) return on(named, time);
  const candidates = (part === undefined ? bothOf(time) : [time]).map((each) => on(now.day, each));
  const next = candidates.find((each) => each > wallMs);
  return next ?? (named === undefined ? on(addDays(now.day, 1), time) : undefined);
}

/** The same hour of the other half of the day comes with it, where people are called in both. */
function bothOf(time: ClockTime): readonly ClockTime[] {
  const minutes = minutesOf(time);
  const both = [minutes, minutes < HALF_DAY ? minutes + HALF_DAY : minutes - HALF_DAY].map(clockTime);
  const called = both.filter((each) => inWindow(each, CALLING_HOURS)).sort();
  return minutes >= HALF_DAY + 60 && called.length < 2 ? [time] : called.length === 0 ? [time] : called;
}

function sameTime(minutes: number): ClockTime {
  const [from, to] = [minutesOf(WHOLE_DAY.from), minutesOf(WHOLE_DAY.to)];
  return clockTime(Math.min(to, Math.max(from, Math.round(minutes / 15) * 15)));
}

function roundUp(atMs: number): number {
  return Math.ceil(atMs / MINUTE_MS) * MINUTE_MS;
}

const word = (text: string): readonly string[] => tokenise(text);

interface Unit {
  readonly minutes: number;
  readonly days: number;
}

const UNITS = new Map<string, Unit>(
  (
    [
      ['minute minutes min mins minat मिनट मिनिट मिनटों', { minutes: 1, days: 0 }],
      ['hour hours hr hrs ghante ghanta घंटे घंटा घण्टे घण्टा घंटों', { minutes: 60, days: 0 }],
      ['day days dino दिन दिनों', { minutes: 0, days: 1 }],
      ['week weeks hafte hafta हफ्ते हफ्ता हफ़्ते सप्ताह', { minutes: 0, days: 7 }],
    ] as const
  ).flatMap(([words, unit]): [string, Unit][] => tokenise(words).map((each) => [each, unit])),
);
const BEFORE_WAIT = new Set(['in', 'after', 'within', 'another']);
const BEHIND_WAIT = new Set(['later', 'from', 'after', 'baad', 'mein', 'me', 'ke', 'bad', ...word('बाद में के')]);
const NEXT = new Set(['next', 'agle', ...word('अगले')]);
const HALVES = new Set(['half', 'aadhe', 'adhe', 'aadha', ...word('आधे आधा')]);
const AND_HALF: ReadonlyMap<string, number> = new Map([
  ...word('डेढ़').map((each) => [each, 1.5] as const),
  ...word('ढाई').map((each) => [each, 2.5] as const),
]);

/** How long is to be waited: `in half an hour`, `दो घंटे बाद`, `after three days`, `next week`. */
function waitIn(
  tokens: readonly string[],
): { readonly minutes: number; readonly days: number; readonly from: number; readonly to: number } | undefined {
  for (const [at, token] of tokens.entries()) {
    const unit = UNITS.get(token);
    if (unit === undefined) continue;
    if (NEXT.has(tokens[at - 1] ?? '') && unit.days > 0) return { minutes: 0, days: unit.days, from: at - 1, to: at + 1 };
    const count = countBefore(tokens, at);
    const marked = BEFORE_WAIT.has(tokens[count.from - 1] ?? '') || BEHIND_WAIT.has(tokens[at + 1] ?? '');
    if (!marked) continue;
    const { value, from } = count;
    return { minutes: Math.round(value * unit.minutes), days: Math.round(value * unit.days), from, to: at + 1 };
  }
  return undefined;
}

/** The number before a unit; one without a number. */
function countBefore(tokens: readonly string[], at: number): { readonly value: number; readonly from: number } {
  const last = tokens[at - 1] ?? '';
  if (HALVES.has(last)) return { value: 0.5, from: at - 1 };
  const named = AND_HALF.get(last);
  if (named !== undefined) return { value: named, from: at - 1 };
  if (last === 'couple' || (last === 'of' && tokens[at - 2] === 'couple'))
    return { value: 2, from: last === 'of' ? at - 2 : at - 1 };
  for (const from of [at - 2, at - 1]) {
    const number = numberAt(tokens, from);
    if (number === undefined || number.to !== at) continue;
    const isHalfMore = tokens[from - 1] === word('साढ़े')[0];
    return { value: number.value + (isHalfMore ? 0.5 : 0), from: isHalfMore ? from - 1 : from };
  }
  return { value: 1, from: at };
}

const RELATIONS = new Set(['after', 'past', 'before', 'by', 'from', 'till', 'until', 'since']);
const PARTS_OF_HOURS = new Set(['half', 'quarter', 'minutes', 'minute']);
const STRUCK = word('बजे')[0] ?? '';
const [AFTER = '', OF = ''] = word('बाद के');

/** "After six", "6 ke baad": a number that is an hour, written so that it is read as one. */
function withHours(tokens: readonly string[]): readonly string[] {
  const out: string[] = [];
  for (let at = 0; at < tokens.length; at += 1) {
    const token = tokens[at] ?? '';
    const number = numberAt(tokens, at);
    const behind = number === undefined ? '' : (tokens[number.to] ?? '');
    if (number !== undefined && number.value <= 23 && !UNITS.has(behind)) {
      const isHindi =
        behind === AFTER || behind === 'baad' || ((behind === OF || behind === 'ke') && isAfter(tokens[number.to + 1]));
      // In "half past four" no word is an hour by itself.
      const isRelated =
        RELATIONS.has(out.at(-1) ?? '') && !PARTS_OF_HOURS.has(out.at(-2) ?? '') && numberAt(out, out.length - 2) === undefined;
      if (isRelated) out[out.length - 1] = 'at';
      out.push(...tokens.slice(at, number.to), ...(isHindi && !isRelated ? [STRUCK] : []));
      at = number.to - 1;
    } else out.push(token);
  }
  return out;
}

function isAfter(token: string | undefined): boolean {
  return token === AFTER || token === 'baad';
}

function localOf(atMs: number, timeZone: string): { readonly day: CalendarDay; readonly minutes: number } {
  const local = new Date(wallClockMs(atMs, timeZone));
  return { day: dayInZone(atMs, timeZone), minutes: local.getUTCHours() * 60 + local.getUTCMinutes() };
}
