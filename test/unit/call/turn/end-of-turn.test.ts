import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { endOfTurn, type Pause, waitMs } from '../../../../src/call/turn/end-of-turn.ts';
import { DEFAULT_END_OF_TURN as RULES } from '../../../../src/call/turn/turn-settings.ts';
import type { ValueProgress } from '../../../../src/call/turn/value-reader.ts';

const BASE_MS = 600;
const NOTHING: Pause = { silentMs: 300, text: '', stillMs: 0, pauses: [], progress: undefined, heard: undefined };
const likelihood = (pause: Partial<Pause>): number => endOfTurn(RULES, { ...NOTHING, ...pause });
const wait = (pause: Partial<Pause>, baseMs = BASE_MS): number => waitMs(RULES, likelihood(pause), baseMs);

const progress = fc.option(
  fc.constantFrom<ValueProgress>('none', 'other', 'missing', 'likely-more', 'unlikely-more', 'several', 'whole'),
  { nil: undefined },
);
const words = fc.constantFrom('', 'yes', 'it is on', 'forty two', 'That is all.', 'my number is,', 'मैं और', 'ठीक है।');
const pauses = fc.array(fc.integer({ min: 100, max: 2_000 }), { maxLength: 20 });
const heard = fc.option(fc.double({ min: 0, max: 1, noNaN: true }), { nil: undefined });
const silence = fc.integer({ min: 0, max: 3_000 });
const pause = fc.record({ silentMs: silence, text: words, stillMs: silence, pauses, progress, heard });
const base = fc.integer({ min: 200, max: 5_000 });

describe('the likelihood that a turn is over', () => {
  it('is one half where nothing speaks for it or against it', () => expect(likelihood({})).toBe(0.5));

  it.each([
    { note: 'a missing part of the value', pause: { text: 'four two', progress: 'missing' }, speaks: 'against' },
    { note: 'a value that often goes on', pause: { text: 'five thousand', progress: 'likely-more' }, speaks: 'against' },
    { note: 'a number', pause: { text: 'it is forty two' }, speaks: 'against' },
    { note: 'a value that rarely goes on', pause: { text: 'five rupees', progress: 'unlikely-more' }, speaks: 'for' },
    { note: 'a whole value', pause: { text: 'four two nine seven', progress: 'whole' }, speaks: 'for' },
    { note: 'a word that leads on', pause: { text: 'I would like to' }, speaks: 'against' },
    { note: 'a sentence that stands still', pause: { text: 'That is all.', stillMs: 200 }, speaks: 'for' },
    {
      note: 'a silence within their usual pauses',
      pause: { pauses: Array<number>(8).fill(600), silentMs: 640 },
      speaks: 'against',
    },
  ] as const)('$note speaks $speaks it', ({ pause: given, speaks }) => {
    if (speaks === 'for') expect(likelihood(given)).toBeGreaterThan(0.5);
    else expect(likelihood(given)).toBeLessThan(0.5);
  });

  it.each([
    { note: 'a sentence that has just changed', pause: { text: 'That is all.', stillMs: 180 } },
    { note: 'seven pauses', pause: { pauses: Array<number>(7).fill(600) } },
    { note: 'a silence longer than their pauses', pause: { pauses: Array<number>(8).fill(500), silentMs: 580 } },
    { note: 'words that are no such value', pause: { text: 'what do you mean', progress: 'none' } },
  ] as const)('$note says nothing', ({ pause: given }) => expect(likelihood(given)).toBe(0.5));

  it('never falls while only the silence grows', () => {
    fc.assert(
      fc.property(pause, silence, (given, moreMs) => {
        const later = { ...given, silentMs: given.silentMs + moreMs, stillMs: given.stillMs + moreMs };
        expect(endOfTurn(RULES, later)).toBeGreaterThanOrEqual(endOfTurn(RULES, given));
      }),
    );
  });

  it('rises with the likelihood that a model hears', () => {
    fc.assert(
      fc.property(
        pause,
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (given, a, b) => {
          const [low, high] = [Math.min(a, b), Math.max(a, b)];
          expect(endOfTurn(RULES, { ...given, heard: high })).toBeGreaterThanOrEqual(endOfTurn(RULES, { ...given, heard: low }));
        },
      ),
    );
  });

  it('lets a model neither keep a whole value waiting nor end a missing one', () => {
    for (const sounds of [undefined, 0, 0.5, 1]) {
      expect(wait({ text: 'four two', progress: 'missing', heard: sounds })).toBe(wait({ text: 'four', progress: 'missing' }));
      expect(wait({ text: 'four two', progress: 'whole', heard: sounds })).toBe(wait({ text: 'four', progress: 'whole' }));
    }
  });
});

describe('the wait', () => {
  it('never grows with the likelihood, and has bounds', () => {
    fc.assert(
      fc.property(
        base,
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (baseMs, a, b) => {
          const [low, high] = [Math.min(a, b), Math.max(a, b)];
          expect(waitMs(RULES, high, baseMs)).toBeLessThanOrEqual(waitMs(RULES, low, baseMs));
          expect(waitMs(RULES, a, baseMs)).toBeGreaterThanOrEqual(Math.min(baseMs, RULES.leastMs));
          expect(waitMs(RULES, a, baseMs)).toBeLessThanOrEqual(baseMs + Math.max(...RULES.waits.map(({ extraMs }) => extraMs)));
        },
      ),
    );
  });

  it('ends every silence in the end: what is waited for shrinks as the silence grows', () => {
    fc.assert(
      fc.property(pause, base, (given, baseMs) => {
        const silentMs = baseMs + Math.max(...RULES.waits.map(({ extraMs }) => extraMs));
        expect(wait({ ...given, silentMs }, baseMs)).toBeLessThanOrEqual(silentMs);
      }),
    );
  });

  test.each([
    [{}, 600],
    [{ heard: 0.95 }, 420],
    [{ heard: 0.5 }, 600],
    [{ heard: 0.05 }, 900],
    [{ text: 'on Tuesday and', stillMs: 600 }, 1_200],
    [{ text: 'on Tuesday and', stillMs: 600, heard: 0.95 }, 900],
    [{ text: 'forty two' }, 900],
    // A sure model makes a number as likely over as not.
    [{ text: 'forty two', heard: 0.95 }, 600],
    // Many recognisers put a full stop behind whatever they have heard.
    [{ text: 'That is all.', stillMs: 200 }, 600],
    [{ text: 'four two', progress: 'missing' }, 1_800],
    [{ text: 'five thousand', progress: 'likely-more' }, 1_200],
    [{ text: 'five thousand rupees', progress: 'unlikely-more' }, 420],
    [{ text: 'four two nine seven', progress: 'whole' }, 200],
    [{ text: 'four two nine seven', progress: 'whole', pauses: Array<number>(8).fill(600) }, 200],
  ] as const)('after %j is %d ms', (given, ms) => expect(wait(given)).toBe(ms));
});
