const formats = new Map<string, Intl.DateTimeFormat>();
/** Most cached formats, which are costly to make, by time zone names from outside. */
const MOST_FORMATS = 1_000;

/**
 * What the clocks of a zone show, as if they were UTC: the result of `Date.UTC` for their date and time, in whole seconds.
 * @param timeZone an IANA name
 * @throws RangeError for a zone that does not exist
 */
export function wallClockMs(atMs: number, timeZone: string): number {
  const of = Object.fromEntries(
    formatOf(timeZone)
      .formatToParts(atMs)
      .map(({ type, value }) => [type, Number(value)]),
  );
  return Date.UTC(of['year'] ?? 0, (of['month'] ?? 1) - 1, of['day'], of['hour'], of['minute'], of['second']);
}

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known !== undefined) return known;
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  if (formats.size < MOST_FORMATS) formats.set(timeZone, format);
  return format;
}
