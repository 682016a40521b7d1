/** A civil date without a time zone, `YYYY-MM-DD`. */
export type CalendarDay = `${number}-${number}-${number}`;

/** Sunday is 0, as in `Date`. */
export const WEEKDAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'] as const;
export type Weekday = (typeof WEEKDAYS)[number];

const DAY_MS = 86_400_000;

function noonOf(day: CalendarDay): number {
  return Date.parse(`${day}T12:00:00Z`);
}

/** @throws RangeError for a text that is not a calendar date (`2026-02-30`) */
export function calendarDay(text: string): CalendarDay {
  const parsed = /^\d{4}-\d{2}-\d{2}$/.test(text) ? new Date(`${text}T12:00:00Z`) : undefined;
  if (parsed === undefined || Number.isNaN(parsed.getTime()) || parsed.toISOString().slice(0, 10) !== text) {
    throw new RangeError(`not a date: ${text.slice(0, 20)}`);
  }
  return text as CalendarDay; // checked just above
}

export function addDays(day: CalendarDay, days: number): CalendarDay {
  return calendarDay(new Date(noonOf(day) + days * DAY_MS).toISOString().slice(0, 10));
}

/** The same day of another month; undefined where that month does not have it. */
export function addMonths(day: CalendarDay, months: number): CalendarDay | undefined {
  const moved = new Date(noonOf(day));
  moved.setUTCMonth(moved.getUTCMonth() + months);
  const text = moved.toISOString().slice(0, 10);
  return text.slice(8) === day.slice(8) ? calendarDay(text) : undefined;
}

/** Whole days from one date to another; negative when `to` lies before. */
export function daysBetween(from: CalendarDay, to: CalendarDay): number {
  return Math.round((noonOf(to) - noonOf(from)) / DAY_MS);
}

export function weekdayOf(day: CalendarDay): Weekday {
  return WEEKDAYS[new Date(noonOf(day)).getUTCDay()] ?? 'sunday';
}

/**
 * The date in a time zone.
 * @param wallMs milliseconds since the Unix epoch
 * @param timeZone IANA name, for example `Asia/Kolkata`
 * @throws RangeError for an unknown zone
 */
export function dayInZone(wallMs: number, timeZone: string): CalendarDay {
  const format = new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' });
  return calendarDay(format.format(wallMs));
}
