/** A time of day on the 24-hour clock, `HH:MM`. */
export type ClockTime = `${number}:${number}`;

/** A part of the day, which decides an hour on the twelve-hour clock. */
export type DayPart = 'am' | 'pm' | 'morning' | 'afternoon' | 'evening' | 'night';

/** A time as spoken: the hour may be on the twelve-hour clock, minutes may be negative (`quarter to nine`). */
export interface SpokenTime {
  readonly hour: number;
  readonly minute: number;
}

export interface TimeWindow {
  readonly from: ClockTime;
  readonly to: ClockTime;
}

/** Preferred hours when no part of the day is said: people call about the daytime. */
export const DAYTIME: TimeWindow = { from: '07:00', to: '18:59' };

const HALF_DAY = 720;
const MINUTES_A_DAY = 2 * HALF_DAY;

/** Minutes since midnight. */
export function minutesOf(time: ClockTime): number {
  return Number(time.slice(0, 2)) * 60 + Number(time.slice(3, 5));
}

/** @param minutes any whole number; wraps around midnight */
export function clockTime(minutes: number): ClockTime {
  const wrapped = ((minutes % MINUTES_A_DAY) + MINUTES_A_DAY) % MINUTES_A_DAY;
  const twoDigits = (value: number): string => String(value).padStart(2, '0');
  return `${twoDigits(Math.floor(wrapped / 60))}:${twoDigits(wrapped % 60)}` as ClockTime; // digits by construction
}

export function inWindow(time: ClockTime, window: TimeWindow): boolean {
  return minutesOf(time) >= minutesOf(window.from) && minutesOf(time) <= minutesOf(window.to);
}

/**
 * Resolves a spoken time. A part of the day decides; without one, `ten` is the one of 10:00 and 22:00 in the window, or in the daytime when both or
 * neither are. Hours above twelve are unambiguous.
 */
export function meantTime(spoken: SpokenTime, part: DayPart | undefined, window: TimeWindow = DAYTIME): ClockTime {
  const { hour, minute } = spoken;
  if (hour > 12 || hour === 0) return clockTime(hour * 60 + minute);
  // "Quarter to twelve" is 11:45 of the same half of the day, so the wrap is at noon.
  const intoHalf = ((hour % 12) * 60 + minute + HALF_DAY) % HALF_DAY;
  const early = clockTime(intoHalf);
  const late = clockTime(intoHalf + HALF_DAY);
  if (part !== undefined) return isLate(part, Math.floor(intoHalf / 60)) ? late : early;
  const [first, second] = [early, late].filter((time) => inWindow(time, window));
  if (first !== undefined && second === undefined) return first;
  return inWindow(early, DAYTIME) ? early : late;
}

/** Whether an hour of 0 to 11 lies after noon, under this part of the day. */
function isLate(part: DayPart, hour: number): boolean {
  switch (part) {
    case 'am':
    case 'morning':
      return false;
    case 'pm':
      return true;
    case 'afternoon':
      return hour < 11;
    case 'evening':
      return hour !== 0;
    case 'night':
      return hour >= 5;
  }
}
