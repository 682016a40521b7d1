import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { DialFacts } from '../../../../src/outbound/gate/facts.ts';
import { easterOf, localMs } from '../../../../src/outbound/gate/local-time.ts';
import { mayDial } from '../../../../src/outbound/gate/may-dial.ts';
import { thorough } from '../../../support/thorough.ts';
import { allowedFacts, campaignRules, DAY_MS, HOUR_MS, profileOf, profiles } from './dial-facts.ts';

const ZONES = Intl.supportedValuesOf('timeZone');
const MINUTE_MS = 60_000;
const YEAR_START = Date.UTC(2026, 0, 1);
const YEAR_END = Date.UTC(2028, 0, 1);

/** Minutes since midnight on a zone's wall clock, from Intl and not from the code under test. */
const clocks = new Map<string, Intl.DateTimeFormat>();
function clock(zone: string): Intl.DateTimeFormat {
  const known = clocks.get(zone);
  if (known !== undefined) return known;
  const made = new Intl.DateTimeFormat('en-GB', {
    timeZone: zone,
    weekday: 'short',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  });
  clocks.set(zone, made);
  return made;
}
function wallClock(zone: string, atMs: number): { minute: number; weekday: string } {
  const of = Object.fromEntries(
    clock(zone)
      .formatToParts(atMs)
      .map(({ type, value }) => [type, value]),
  );
  return { minute: Number(of['hour']) * 60 + Number(of['minute']), weekday: (of['weekday'] ?? '').toLowerCase() };
}

/** Every moment of two years at which a zone's offset changes, found with Intl alone. */
const changes = new Map<string, readonly number[]>();
function changesOf(zone: string): readonly number[] {
  const known = changes.get(zone);
  if (known !== undefined) return known;
  const found: number[] = [];
  changes.set(zone, found);
  const offset = (atMs: number): number => {
    const { minute } = wallClock(zone, atMs);
    return (minute - Math.floor(atMs / MINUTE_MS) + 2 ** 30 * 1440) % 1440;
  };
  // No zone keeps an offset for less than four weeks in these years.
  const step = 14 * DAY_MS;
  for (let day = YEAR_START; day < YEAR_END; day += step) {
    if (offset(day) === offset(day + step)) continue;
    let from = day;
    let to = day + step;
    while (to - from > MINUTE_MS) {
      const middle = from + Math.floor((to - from) / 2 / MINUTE_MS) * MINUTE_MS;
      if (offset(middle) === offset(from)) from = middle;
      else to = middle;
    }
    found.push(to);
  }
  return found;
}

const zone = fc.constantFrom(...ZONES);
const moment = fc.integer({ min: YEAR_START, max: YEAR_END });
const hours = fc.tuple(fc.integer({ min: 0, max: 1440 }), fc.integer({ min: 0, max: 1440 })).filter(([from, to]) => from < to);
const text = (minute: number): string =>
  `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`;

function windowsOf([from, to]: readonly [number, number], days?: readonly string[]) {
  return { windows: [{ hours: [{ from: text(from), to: text(to), ...(days && { days }) }], source: 'test' }] };
}

function withLastingConsent(facts: DialFacts): DialFacts {
  return { ...facts, consents: facts.consents.map((consent) => ({ ...consent, expiresAtMs: undefined })) };
}

describe('calling windows', () => {
  it('agree with Intl at every change of daylight saving of every zone, and open when they say', () => {
    const profile = profileOf(windowsOf([120, 540]));
    let count = 0;
    for (const name of ZONES) {
      for (const changeMs of changesOf(name)) {
        count += 1;
        for (const atMs of [-HOUR_MS, -1, 0, HOUR_MS, 6 * HOUR_MS].map((after) => changeMs + after)) {
          const { minute } = wallClock(name, atMs);
          const { allowed } = mayDial(allowedFacts('none', { zones: [name], nowMs: atMs }), profile);
          expect({ name, atMs, allowed }).toEqual({ name, atMs, allowed: minute >= 120 && minute < 540 });
          if (!allowed) expectEarliest(allowedFacts('none', { zones: [name], nowMs: atMs }), profile);
        }
      }
    }
    // Some hundred zones have daylight saving, each with four changes in two years.
    expect(count).toBeGreaterThan(300);
  });

  it('allow no moment that is outside of them in any zone of the number', () => {
    fc.assert(
      fc.property(fc.uniqueArray(zone, { minLength: 1, maxLength: 5 }), moment, hours, (zones, nowMs, window) => {
        const decision = mayDial(allowedFacts('none', { zones, nowMs }), profileOf(windowsOf(window)));
        const isInside = zones.every((each) => {
          const { minute } = wallClock(each, nowMs);
          return minute >= window[0] && minute < window[1];
        });
        expect(decision.allowed).toBe(isInside);
      }),
      { numRuns: thorough(200, 2000) },
    );
  });

  it('open at retryAtMs and not a millisecond sooner, in every zone, near the changes of daylight saving too', () => {
    const near = fc.record({ zone, which: fc.nat({ max: 3 }), offMs: fc.integer({ min: -2 * DAY_MS, max: DAY_MS }) });
    fc.assert(
      fc.property(near, hours, ({ zone: name, which, offMs }, window) => {
        const moments = changesOf(name);
        const nowMs = (moments[which % Math.max(1, moments.length)] ?? Date.UTC(2026, 6, 1)) + offMs;
        expectEarliest(allowedFacts('none', { zones: [name], nowMs }), profileOf(windowsOf(window)));
      }),
      { numRuns: thorough(60, 2000) },
    );
  });

  it.each(['in', 'us', 'eu', 'none'] as const)(
    'give a true retryAtMs under %s with caps, spacing, holidays and lists',
    (name) => {
      const ago = fc.integer({ min: 0, max: 40 * 24 * 60 }).map((minutes) => minutes * MINUTE_MS);
      const attempts = fc.array(ago, { maxLength: 8 });
      const rules = campaignRules({
        caps: [
          { most: 2, withinHours: 24, source: 'campaign' },
          { most: 5, withinHours: 168, source: 'campaign' },
        ],
        spacing: [{ minutes: 180, source: 'campaign' }],
        holidays: [{ dates: ['2026-03-02', '2026-03-05', '12-25', 'easter+1'], source: 'calendar' }],
        windows: [{ hours: [{ days: ['tue', 'wed', 'sat'], from: '10:30', to: '19:45' }], source: 'person' }],
      });
      fc.assert(
        fc.property(
          moment,
          attempts,
          fc.uniqueArray(zone, { minLength: 1, maxLength: 2 }),
          fc.option(ago),
          fc.option(ago),
          (nowMs, agos, zones, suppressedMs, promisedMs) => {
            const facts = withLastingConsent(
              allowedFacts(name, {
                nowMs,
                zones,
                narrowing: rules,
                attemptsMs: agos.map((each) => nowMs - each),
                lists: { national: nowMs, preferences: nowMs },
                suppressions: suppressedMs === null ? [] : [{ list: 'own', addedAtMs: 0, untilMs: nowMs + suppressedMs }],
                callBack: promisedMs === null ? undefined : { promisedAtMs: nowMs + promisedMs },
              }),
            );
            expectEarliest(facts, profiles[name]);
          },
        ),
        { numRuns: thorough(60, 2000) },
      );
    },
  );

  it('keep wall clocks exact to the millisecond around a change', () => {
    const changeMs = Date.UTC(2026, 2, 29, 1);
    expect(localMs('Europe/Berlin', changeMs - 1)).toBe(Date.UTC(2026, 2, 29, 1, 59, 59, 999));
    expect(localMs('Europe/Berlin', changeMs)).toBe(Date.UTC(2026, 2, 29, 3));
    // Lord Howe Island moves by half an hour.
    expect(localMs('Australia/Lord_Howe', Date.UTC(2026, 3, 4, 15))).toBe(Date.UTC(2026, 3, 5, 1, 30));
    expect(localMs('Australia/Lord_Howe', Date.UTC(2026, 3, 4, 15) - 1)).toBe(Date.UTC(2026, 3, 5, 2) - 1);
  });

  it.each([
    [2024, '2024-03-31'],
    [2025, '2025-04-20'],
    [2026, '2026-04-05'],
    [2027, '2027-03-28'],
    [2038, '2038-04-25'],
  ])('know the Easter of %i', (year, date) => {
    expect(new Date(easterOf(year)).toISOString().slice(0, 10)).toBe(date);
  });
});

/** A refusal's `retryAtMs` is allowed, the moment before is refused, and so are moments in between; without one, so are the next weeks. */
function expectEarliest(facts: DialFacts, profile: Parameters<typeof mayDial>[1]): void {
  const decision = mayDial(facts, profile);
  if (decision.allowed) return;
  const { retryAtMs } = decision;
  const at = (nowMs: number): boolean => mayDial({ ...facts, nowMs }, profile).allowed;
  if (retryAtMs === undefined) {
    for (let after = 1; after <= 48; after += 1) expect(at(facts.nowMs + after * 25 * HOUR_MS)).toBe(false);
    return;
  }
  expect(retryAtMs).toBeGreaterThan(facts.nowMs);
  expect(at(retryAtMs)).toBe(true);
  expect(at(retryAtMs - 1)).toBe(false);
  for (let part = 1; part < 8; part += 1) {
    expect(at(Math.floor(facts.nowMs + ((retryAtMs - 1 - facts.nowMs) * part) / 8))).toBe(false);
  }
}
