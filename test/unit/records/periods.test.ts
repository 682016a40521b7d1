import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dayOf, periodStarts, SLOT_MS } from '../../../src/records/periods.ts';

const HOUR_MS = 3_600_000;
const at = (iso: string): number => Date.parse(iso);
const isos = (starts: readonly number[]): string[] => starts.map((ms) => new Date(ms).toISOString().slice(0, 16));

describe('periods', () => {
  it('begins days at midnight of the zone, and the first at the range', () => {
    const starts = periodStarts(at('2026-03-01T10:00Z'), at('2026-03-03T10:00Z'), 'day', 'Asia/Kolkata');
    expect(isos(starts)).toEqual(['2026-03-01T10:00', '2026-03-01T18:30', '2026-03-02T18:30']);
  });

  it('begins hours on the hour of the zone', () => {
    const starts = periodStarts(at('2026-03-01T10:00Z'), at('2026-03-01T12:00Z'), 'hour', 'Asia/Kathmandu');
    expect(isos(starts)).toEqual(['2026-03-01T10:00', '2026-03-01T10:15', '2026-03-01T11:15']);
  });

  it.each([
    { day: '2026-03-29', hours: 23 },
    { day: '2026-10-25', hours: 25 },
    { day: '2026-10-26', hours: 24 },
  ])('has $hours hours on $day in Berlin', ({ day, hours }) => {
    const zone = 'Europe/Berlin';
    const days = periodStarts(at(`${day}T00:00Z`) - 12 * HOUR_MS, at(`${day}T00:00Z`) + 36 * HOUR_MS, 'day', zone);
    const begins = days.find((ms, n) => n > 0 && dayOf(ms, zone) === day) ?? 0;
    const ends = days.find((ms) => ms > begins) ?? 0;
    expect((ends - begins) / HOUR_MS).toBe(hours);
    expect(periodStarts(begins, ends, 'hour', zone)).toHaveLength(hours);
  });

  it('begins a day without midnight when the clock is changed', () => {
    // Beirut goes from 00:00 to 01:00.
    const starts = periodStarts(at('2026-03-28T00:00Z'), at('2026-03-30T00:00Z'), 'day', 'Asia/Beirut');
    expect(isos(starts)).toEqual(['2026-03-28T00:00', '2026-03-28T22:00', '2026-03-29T21:00']);
  });

  it('rises, stays within the range and lies on quarters of an hour, whatever the zone', () => {
    const zones = [
      'UTC',
      'Asia/Kolkata',
      'Asia/Kathmandu',
      'America/New_York',
      'Australia/Lord_Howe',
      'Pacific/Chatham',
      'America/Santiago',
    ];
    fc.assert(
      fc.property(
        fc.integer({ min: at('2025-12-01T00:00Z') / SLOT_MS, max: at('2027-01-01T00:00Z') / SLOT_MS }),
        fc.integer({ min: 1, max: 960 }),
        fc.constantFrom(...zones),
        fc.constantFrom('hour' as const, 'day' as const),
        (slot, slots, zone, by) => {
          const [fromMs, toMs] = [slot * SLOT_MS, (slot + slots) * SLOT_MS];
          const starts = periodStarts(fromMs, toMs, by, zone);
          expect(starts[0]).toBe(fromMs);
          expect(starts.every((ms, n) => ms % SLOT_MS === 0 && ms < toMs && (n === 0 || ms > (starts[n - 1] ?? 0)))).toBe(true);
          const days = new Set(starts.map((ms) => dayOf(ms, zone)));
          if (by === 'day') expect(days.size).toBe(starts.length);
        },
      ),
      { numRuns: 60 },
    );
  });
});
