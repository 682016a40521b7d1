import { calendarDay, type CalendarDay, momentOf, WEEKDAYS } from '../../language/index.ts';
import { wallClockMs } from '../../kernel/wall-clock.ts';
import type { Flow } from './schema.ts';

type Hours = NonNullable<Flow['hours']>;

const DAY_MS = 86_400_000;
/** How far ahead the next opening is searched, in days. */
const MOST_DAYS = 62;

/** Whether a moment lies within the business hours; always true without any. */
export function isOpen(flow: Pick<Flow, 'hours' | 'timeZone'>, wallMs: number): boolean {
  const { hours } = flow;
  if (hours === undefined) return true;
  const local = new Date(wallClockMs(wallMs, zoneOf(flow))).toISOString();
  const time = local.slice(11, 16);
  return spansOn(hours, calendarDay(local.slice(0, 10))).some(({ from, to }) => from <= time && time < to);
}

/** Start of the next opening, on wall time; undefined if not within two months, or without hours. */
export function nextOpening(flow: Pick<Flow, 'hours' | 'timeZone'>, wallMs: number): number | undefined {
  const { hours } = flow;
  if (hours === undefined) return undefined;
  const zone = zoneOf(flow);
  const localMs = wallClockMs(wallMs, zone);
  for (let days = 0; days <= MOST_DAYS; days += 1) {
    const day = calendarDay(new Date(localMs + days * DAY_MS).toISOString().slice(0, 10));
    const begins = spansOn(hours, day).map(({ from }) => momentOf(`${day}T${from}`, zone));
    const next = begins.sort((a, b) => a - b).find((atMs) => atMs > wallMs);
    if (next !== undefined) return next;
  }
  return undefined;
}

/** The zone of a flow's hours: their own, or the flow's. */
export function zoneOf({ hours, timeZone }: Pick<Flow, 'hours' | 'timeZone'>): string {
  return hours?.timeZone ?? timeZone;
}

function spansOn({ open, holidays }: Hours, day: CalendarDay): readonly { readonly from: string; readonly to: string }[] {
  const holiday = holidays.find(({ date }) => date === day);
  return holiday?.open ?? open[WEEKDAYS[new Date(`${day}T12:00:00Z`).getUTCDay()] ?? 'sunday'] ?? [];
}
