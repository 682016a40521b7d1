import { describe, expect, it } from 'vitest';
import { callingHours } from '../../../src/outbound/calling-hours.ts';
import { readNumber } from '../../../src/outbound/number.ts';
import { DiallingProfiles, SHIPPED_FOLDER } from '../../../src/outbound/profiles.ts';
import { timingRulesSchema } from '../../../src/outbound/gate/profile.ts';

const profiles = await DiallingProfiles.load(SHIPPED_FOLDER);
const profile = (name: string) => {
  const found = profiles.named(name);
  if (found === undefined) throw new Error(`no profile ${name}`);
  return found;
};
const callee = (number: string, ...zones: string[]) => {
  const read = readNumber(number);
  if ('reason' in read) throw new Error(read.reason);
  return { number: read, zones };
};
const HOUR = 3_600_000;
/** A Tuesday. */
const MIDNIGHT = Date.parse('2026-03-03T00:00:00Z');
const question = { nowMs: MIDNIGHT + 12 * HOUR, fromMs: MIDNIGHT, stepMs: HOUR, steps: 24 };
const openHours = (open: readonly boolean[]): number[] => open.flatMap((isOpen, hour) => (isOpen ? [hour] : []));
const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, index) => from + index);

describe('callingHours', () => {
  it('puts people of the same zones in one row, and says when their clocks are inside the hours', () => {
    const people = [
      callee('+919876543210', 'Asia/Kolkata'),
      callee('+12127365000', 'America/New_York'),
      callee('+919876543211', 'Asia/Kolkata'),
      callee('+442079460001', 'Europe/London'),
    ];
    const rows = callingHours(people, { profile: profile('none'), purpose: undefined, narrowing: [] }, question);
    expect(rows.map(({ zones, contacts, isOpen }) => [zones[0], contacts, isOpen])).toEqual([
      ['Asia/Kolkata', 2, true],
      ['America/New_York', 1, false],
      ['Europe/London', 1, true],
    ]);
    // 08:00 to 21:00, of Kolkata half an hour before the full hour in UTC.
    expect(rows.map(({ open }) => openHours(open))).toEqual([range(3, 16), [0, 1, ...range(13, 24)], range(8, 21)]);
    expect(rows.map(({ opensAtMs }) => new Date(opensAtMs ?? 0).toISOString().slice(11, 16))).toEqual([
      '12:00',
      '13:00',
      '12:00',
    ]);
  });

  it('is open where all zones of a number are, and never where none is known', () => {
    const people = [callee('+12082345678', 'America/Boise', 'America/Los_Angeles'), callee('+12127365000')];
    const [boise, nowhere] = callingHours(people, { profile: profile('none'), purpose: undefined, narrowing: [] }, question);
    expect(openHours(boise?.open ?? [])).toEqual([0, 1, 2, 3, ...range(16, 24)]);
    expect(nowhere).toMatchObject({ zones: [], isOpen: false, opensAtMs: undefined });
    expect(openHours(nowhere?.open ?? [])).toEqual([]);
  });

  it('narrows by the campaign, closes on holidays, and knows rules of single states', () => {
    const rules = timingRulesSchema.parse({
      windows: [{ hours: [{ from: '10:00', to: '12:00' }], source: 'ours' }],
      holidays: [{ dates: ['2026-03-04'], source: 'ours' }],
    });
    const narrowing = [{ name: 'campaign', rules }];
    const days = { ...question, steps: 72 };
    const [row] = callingHours(
      [callee('+919876543210', 'UTC')],
      { profile: profile('none'), purpose: undefined, narrowing },
      days,
    );
    expect(openHours(row?.open ?? [])).toEqual([10, 11, 58, 59]);
    const us = { profile: profile('us'), purpose: 'promotional' as const, narrowing: [] };
    const [florida, newYork] = callingHours(
      [
        callee('+13052345678', 'America/New_York'),
        callee('+13053745678', 'America/New_York'),
        callee('+12127365000', 'America/New_York'),
      ],
      us,
      question,
    );
    expect(florida?.overlays).toHaveLength(1);
    expect(florida?.contacts).toBe(2);
    expect(newYork?.overlays).toEqual([]);
    // Until 20:00 in Florida, an hour later elsewhere: midnight UTC is 19:00 there.
    expect([openHours(florida?.open ?? [])[1], openHours(newYork?.open ?? [])[1]]).toEqual([13, 1]);
  });
});
