const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Rollups are kept for quarters of an hour: no time zone is off by less. */
export const SLOT_MS = 900_000;

/** The beginning of a moment's quarter of an hour. */
export function slotOf(atMs: number): number {
  return Math.floor(atMs / SLOT_MS) * SLOT_MS;
}

/**
 * Where the hours or days of a time zone begin within a range, oldest first; the first is the range's own beginning. A day may have 23 or 25 hours,
 * and an hour that comes twice is there twice.
 * @param zone an IANA name
 */
export function periodStarts(fromMs: number, toMs: number, by: 'hour' | 'day', zone: string): number[] {
  const clock = zoneClock(zone);
  const starts = [fromMs];
  for (let dayMs = clock.midnight(fromMs, 0); dayMs < toMs;) {
    const nextMs = clock.midnight(dayMs, 1);
    const stepMs = by === 'day' ? nextMs - dayMs : HOUR_MS;
    for (let atMs = dayMs; atMs < Math.min(nextMs, toMs); atMs += stepMs) if (atMs > fromMs) starts.push(atMs);
    dayMs = nextMs;
  }
  return starts;
}

/** The local day of a moment, such as `2026-03-01`. */
export function dayOf(atMs: number, zone: string): string {
  return new Date(atMs + zoneClock(zone).offset(atMs)).toISOString().slice(0, 10);
}

interface ZoneClock {
  /** Local time less UTC, in ms. */
  readonly offset: (atMs: number) => number;
  /** The beginning of the local day so many days after that of a moment. */
  readonly midnight: (atMs: number, days: number) => number;
}

const clocks = new Map<string, ZoneClock>();

function zoneClock(zone: string): ZoneClock {
  const known = clocks.get(zone);
  if (known !== undefined) return known;
  const numeric = { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric' } as const;
  const format = new Intl.DateTimeFormat('en-US', { timeZone: zone, hourCycle: 'h23', ...numeric, second: 'numeric' });
  const offset = (atMs: number): number => {
    const wholeMs = Math.floor(atMs / 1000) * 1000;
    const part = new Map(format.formatToParts(wholeMs).map(({ type, value }) => [type, Number(value)]));
    const of = (name: Intl.DateTimeFormatPartTypes): number => part.get(name) ?? 0;
    return Date.UTC(of('year'), of('month') - 1, of('day'), of('hour'), of('minute'), of('second')) - wholeMs;
  };
  const midnight = (atMs: number, days: number): number => {
    const localMs = Math.floor((atMs + offset(atMs)) / DAY_MS) * DAY_MS + days * DAY_MS;
    const guessMs = localMs - offset(localMs - offset(atMs));
    // Where the clock is changed at midnight, the day begins with the change.
    return Math.max(guessMs, localMs - offset(guessMs));
  };
  const clock = { offset, midnight };
  clocks.set(zone, clock);
  return clock;
}
