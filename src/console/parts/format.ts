import { type Language, localeOf, useLanguage } from '../words.ts';

/** A caller who waits this long for a reply waits too long, in ms: the one limit of every page. */
export const SLOW_REPLY_MS = 1_500;

const WEEKDAYS: readonly string[] = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const UNITS = {
  en: { s: 's', min: 'min', h: 'h', d: 'd' },
  hi: { s: 'से.', min: 'मि.', h: 'घं.', d: 'दिन' },
} as const;

/** How a reader's language writes numbers, durations and times. */
export interface Format {
  /** `12,345`. @param mostDigits after the point; none when absent */
  readonly number: (value: number, mostDigits?: number) => string;
  /** `0.72 s`, `8.8 s`, `2 min 5 s`, `1 h 2 min`; two figures below ten seconds, to the millisecond. */
  readonly duration: (ms: number) => string;
  /** `12 %`, `< 1 %`; nothing where there is nothing to divide by. */
  readonly share: (part: number, whole: number) => string;
  /** To the minute, with the day where that is not today, the year where that is not this one, and the time zone. */
  readonly time: (at: string) => string;
  /** `time` without its zone, for many times beside each other. @param withSeconds today */
  readonly listedTime: (at: string, withSeconds?: boolean) => string;
  /** The day, the year, seconds and the time zone. */
  readonly fullTime: (at: string) => string;
  /** A time of day for an axis. @param atMs since 1970 */
  readonly axisTime: (atMs: number, withSeconds: boolean) => string;
  /** A day without a time, such as `2026-03-01`. */
  readonly day: (day: string) => string;
  /** The same with its year and without its weekday. */
  readonly date: (day: string) => string;
  /** `Mon`. @param day `mon` to `sun` */
  readonly weekday: (day: string) => string;
  /** The short name of the reader's time zone, such as `GMT+1`. */
  readonly zone: () => string;
}

function makeFormat(language: Language): Format {
  const locale = localeOf(language);
  const units = UNITS[language];
  const fixed = (value: number, digits: number): string =>
    value.toLocaleString(locale, { minimumFractionDigits: digits, maximumFractionDigits: digits });
  const number = (value: number, mostDigits = 0): string => value.toLocaleString(locale, { maximumFractionDigits: mostDigits });
  const zoneOf = new Intl.DateTimeFormat(locale, { timeZoneName: 'short' });
  const minute = { hour: '2-digit', minute: '2-digit' } as const;
  /** What of its date tells a time from others of today. */
  const dateOf = (date: Date): Intl.DateTimeFormatOptions => {
    const now = new Date();
    if (date.toDateString() === now.toDateString()) return {};
    return { day: 'numeric', month: 'short', ...(date.getFullYear() === now.getFullYear() ? {} : { year: 'numeric' }) };
  };
  return {
    number,
    duration(ms) {
      if (ms <= 0) return `0 ${units.s}`;
      // Rounded first: what rounds up to a minute is one.
      const seconds = ms < 9_950 ? Number((ms / 1000).toPrecision(2)) : Math.round(ms / 1000);
      if (seconds < 10) return `${fixed(seconds, seconds >= 1 ? 1 : seconds >= 0.1 ? 2 : 3)} ${units.s}`;
      if (seconds < 60) return `${number(seconds)} ${units.s}`;
      const two = (whole: number, unit: string, rest: number, restUnit: string): string =>
        rest === 0 ? `${number(whole)} ${unit}` : `${number(whole)} ${unit} ${rest} ${restUnit}`;
      if (seconds < 3600) return two(Math.floor(seconds / 60), units.min, seconds % 60, units.s);
      const minutes = Math.round(seconds / 60);
      if (minutes < 24 * 60) return two(Math.floor(minutes / 60), units.h, minutes % 60, units.min);
      const hours = Math.round(minutes / 60);
      return two(Math.floor(hours / 24), units.d, hours % 24, units.h);
    },
    share(part, whole) {
      if (whole === 0) return '';
      const percent = (part / whole) * 100;
      return `${percent > 0 && percent < 1 ? '< 1' : number(percent)} %`;
    },
    time(at) {
      const date = new Date(at);
      return date.toLocaleString(locale, { ...dateOf(date), ...minute, timeZoneName: 'short' });
    },
    listedTime(at, withSeconds = false) {
      const date = new Date(at);
      const day = dateOf(date);
      const second = withSeconds && day.day === undefined ? ({ second: '2-digit' } as const) : {};
      return date.toLocaleString(locale, { ...day, ...minute, ...second });
    },
    fullTime: (at) => new Date(at).toLocaleString(locale, { dateStyle: 'full', timeStyle: 'long' }),
    axisTime: (atMs, withSeconds) =>
      new Date(atMs).toLocaleTimeString(locale, { ...minute, ...(withSeconds ? { second: '2-digit' } : {}) }),
    day: (day) =>
      new Date(`${day}T12:00:00Z`).toLocaleDateString(locale, {
        weekday: 'short',
        day: 'numeric',
        month: 'short',
        timeZone: 'UTC',
      }),
    date: (day) => new Date(`${day}T12:00:00Z`).toLocaleDateString(locale, { dateStyle: 'medium', timeZone: 'UTC' }),
    // The fourth of January 1970 was a Sunday.
    weekday: (day) =>
      new Date(Date.UTC(1970, 0, 4 + WEEKDAYS.indexOf(day))).toLocaleDateString(locale, { weekday: 'short', timeZone: 'UTC' }),
    zone: () => zoneOf.formatToParts().find(({ type }) => type === 'timeZoneName')?.value ?? '',
  };
}

const made = new Map<Language, Format>();

/** How numbers, durations and times are written in a language; the same object each time. */
export function formatOf(language: Language): Format {
  const format = made.get(language) ?? makeFormat(language);
  made.set(language, format);
  return format;
}

/** `formatOf` the reader's language. */
export function useFormat(): Format {
  return formatOf(useLanguage());
}

/** A place in a call, or a time that ticks: `0:07`, `12:40`, `1:02:03`. @param ms below zero counts as zero */
export function clockText(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  const [hours, minutes, rest] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, twoDigits(seconds % 60)];
  return hours > 0 ? `${hours}:${twoDigits(minutes)}:${rest}` : `${minutes}:${rest}`;
}

/** A place in a call to the millisecond: `1:02.345`; what was before the recording began has a minus. */
export function exactClockText(ms: number): string {
  const whole = Math.floor(Math.abs(ms));
  const [minutes, seconds, rest] = [Math.floor(whole / 60_000), Math.floor(whole / 1000) % 60, whole % 1000];
  return `${ms < 0 ? '−' : ''}${minutes}:${twoDigits(seconds)}.${String(rest).padStart(3, '0')}`;
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}
