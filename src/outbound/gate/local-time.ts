import { wallClockMs } from '../../kernel/wall-clock.ts';

// Wall clocks of time zones, exact across daylight saving: within a period of constant UTC offset, local time is UTC plus that offset, so windows are
// arithmetic, and only the periods come from Intl.

const MINUTE_MS = 60_000;
export const DAY_MS = 86_400_000;

/** A period of constant offset in a zone; `toMs` is excluded. */
interface Piece {
  readonly fromMs: number;
  readonly toMs: number;
  readonly offsetMs: number;
}

/** Shorter than any two offset changes of a zone; the minimum in the time zone database up to 2050 is 7 days (Gaza, 2040). */
const STRETCH_MS = 4 * DAY_MS;
/** Most cached stretches over all zones; the cache is emptied when full. */
const MOST_STRETCHES = 20_000;

/** Offsets of time zones, looked up for several days at once. */
class Offsets {
  readonly #stretches = new Map<string, readonly Piece[]>();

  /** @throws RangeError for a zone that does not exist */
  pieceAt(zone: string, atMs: number): Piece {
    const stretchMs = Math.floor(atMs / STRETCH_MS) * STRETCH_MS;
    const key = `${zone} ${stretchMs}`;
    let pieces = this.#stretches.get(key);
    if (pieces === undefined) {
      if (this.#stretches.size >= MOST_STRETCHES) this.#stretches.clear();
      pieces = this.#piecesOf(zone, stretchMs);
      this.#stretches.set(key, pieces);
    }
    const [first, second] = pieces;
    if (first === undefined) throw new RangeError(`no offset of ${zone}`);
    return second !== undefined && atMs >= second.fromMs ? second : first;
  }

  #piecesOf(zone: string, fromMs: number): readonly Piece[] {
    const toMs = fromMs + STRETCH_MS;
    const before = this.#offset(zone, fromMs);
    const after = this.#offset(zone, toMs - 1);
    if (before === after) return [{ fromMs, toMs, offsetMs: before }];
    let still = fromMs;
    let changed = toMs - 1;
    while (changed - still > 1) {
      const middle = Math.floor((still + changed) / 2);
      if (this.#offset(zone, middle) === before) still = middle;
      else changed = middle;
    }
    return [
      { fromMs, toMs: changed, offsetMs: before },
      { fromMs: changed, toMs, offsetMs: after },
    ];
  }

  #offset(zone: string, atMs: number): number {
    return wallClockMs(atMs, zone) - Math.floor(atMs / 1000) * 1000;
  }
}

/** A pure cache. */
const offsets = new Offsets();

/** Whether Intl knows the zone. */
export function isKnownZone(zone: string): boolean {
  try {
    offsets.pieceAt(zone, 0);
    return true;
  } catch {
    return false;
  }
}

/** A zone's wall clock in milliseconds: `Date.UTC` of the local date and time. */
export function localMs(zone: string, atMs: number): number {
  return atMs + offsets.pieceAt(zone, atMs).offsetMs;
}

/** Local date and time to the minute, for example `mon 2026-03-02 08:59`. */
export function localText(zone: string, atMs: number): string {
  const local = localMs(zone, atMs);
  const text = new Date(local).toISOString();
  const weekday = WEEKDAYS[weekdayOf(local)] ?? '';
  return `${weekday} ${text.slice(0, 10)} ${text.slice(11, 16)}`;
}

/** The local date, `YYYY-MM-DD`. @param local milliseconds of a wall clock */
export function dateOf(local: number): string {
  return new Date(local).toISOString().slice(0, 10);
}

/** Sunday is 0, as in `Date`. */
export const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const;
export type Weekday = (typeof WEEKDAYS)[number];

/** @param local milliseconds of a wall clock. @returns 0 for Sunday */
function weekdayOf(local: number): number {
  // The first of January 1970 was a Thursday.
  return (((Math.floor(local / DAY_MS) + 4) % 7) + 7) % 7;
}

/** Hours of the day on some days of the week: from (included) to (excluded), in minutes since midnight. */
export interface DayWindow {
  readonly days: readonly Weekday[];
  readonly fromMinute: number;
  /** Up to 1440, the end of the day. */
  readonly toMinute: number;
}

/** Minutes since midnight of `HH:MM`; `24:00` is the end of the day. */
export function minuteOf(time: string): number {
  return Number(time.slice(0, 2)) * 60 + Number(time.slice(3, 5));
}

/** The first wall clock from this one on inside a window; undefined if never. */
function nextOpen(local: number, windows: readonly DayWindow[]): number | undefined {
  const midnight = Math.floor(local / DAY_MS) * DAY_MS;
  let first: number | undefined;
  for (let day = 0; day <= 7 && first === undefined; day += 1) {
    const start = midnight + day * DAY_MS;
    const weekday = WEEKDAYS[weekdayOf(start)];
    for (const { days, fromMinute, toMinute } of windows) {
      if (weekday === undefined || !days.includes(weekday)) continue;
      const at = Math.max(local, start + fromMinute * MINUTE_MS);
      if (at < start + toMinute * MINUTE_MS && (first === undefined || at < first)) first = at;
    }
  }
  return first;
}

/** The first wall clock from this one on whose date is not a holiday. */
function nextWorkday(local: number, isHoliday: (date: string) => boolean): number | undefined {
  if (!isHoliday(dateOf(local))) return local;
  let midnight = Math.floor(local / DAY_MS) * DAY_MS;
  for (let day = 0; day < 366; day += 1) {
    midnight += DAY_MS;
    if (!isHoliday(dateOf(midnight))) return midnight;
  }
  return undefined;
}

/**
 * The earliest moment from `atMs` on at which a zone's wall clock passes.
 * @param next gives the first passing wall clock from the given one on
 * @returns undefined if never
 */
function earliest(zone: string, atMs: number, next: (local: number) => number | undefined): number | undefined {
  let at = atMs;
  // Enough for a week with daylight saving changes; more is only needed for long runs of holidays.
  for (let piece = 0; piece < 400; piece += 1) {
    const { toMs, offsetMs } = offsets.pieceAt(zone, at);
    const passes = next(at + offsetMs);
    if (passes === undefined) return undefined;
    if (passes - offsetMs < toMs) return passes - offsetMs;
    at = toMs;
  }
  return undefined;
}

/** The earliest moment from `atMs` on at which the zone's clock is inside a window; undefined if never. */
export function earliestOpen(zone: string, atMs: number, windows: readonly DayWindow[]): number | undefined {
  return earliest(zone, atMs, (local) => nextOpen(local, windows));
}

/** The earliest moment from `atMs` on at which the zone's date is not a holiday. */
export function earliestWorkday(zone: string, atMs: number, isHoliday: (date: string) => boolean): number | undefined {
  return earliest(zone, atMs, (local) => nextWorkday(local, isHoliday));
}

/** Easter Sunday of the Gregorian calendar as milliseconds of a wall clock at midnight (the anonymous algorithm of 1876). */
export function easterOf(year: number): number {
  const a = year % 19;
  const century = Math.floor(year / 100);
  const inCentury = year % 100;
  const h =
    (19 * a + century - Math.floor(century / 4) - Math.floor((century - Math.floor((century + 8) / 25) + 1) / 3) + 15) % 30;
  const l = (32 + 2 * (century % 4) + 2 * Math.floor(inCentury / 4) - h - (inCentury % 4)) % 7;
  const m = Math.floor((a + 11 * h + 22 * l) / 451);
  const days = h + l - 7 * m + 114;
  return Date.UTC(year, Math.floor(days / 31) - 1, (days % 31) + 1);
}
