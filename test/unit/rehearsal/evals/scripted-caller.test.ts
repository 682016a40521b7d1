import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import type { CallerMoment } from '../../../../src/rehearsal/evals/caller.ts';
import { hasValue, ScriptedCaller } from '../../../../src/rehearsal/evals/scripted-caller.ts';
import { SeededRandom } from '../../../../src/rehearsal/evals/seeded-random.ts';
import { type CallerDocument, suiteDocument } from '../../../../src/rehearsal/evals/suite-schema.ts';

function callerOf(written: object): CallerDocument {
  const suite = suiteDocument.parse({ scenarios: [{ name: 'one', caller: written, expect: { end: 'x' } }] });
  return suite.scenarios[0]!.caller;
}

function caller(written: object, seed = 1): ScriptedCaller {
  return new ScriptedCaller(callerOf(written), new SeededRandom(seed, 'desk/one'));
}

const moment = (said: string, more: Partial<CallerMoment> = {}): CallerMoment => ({
  said,
  step: undefined,
  asked: [],
  variables: {},
  ...more,
});
const say = (text: string) => ({ act: { kind: 'say', text } });

describe('a caller by a script', () => {
  it('takes turns without a condition in their order', async () => {
    const one = caller({ turns: ['first', { press: '12' }, { silence: true }, { hangUp: true }] });
    expect(await one.next(moment('Hello'))).toEqual(say('first'));
    expect(await one.next(moment('Well?'))).toEqual({ act: { kind: 'press', keys: '12' } });
    expect(await one.next(moment('Well?'))).toEqual({ act: { kind: 'silence' } });
    expect(await one.next(moment('Well?'))).toEqual({ act: { kind: 'hang-up' } });
    expect(one.unused).toEqual([]);
  });

  it('answers what is asked, in whatever order', async () => {
    const one = caller({
      turns: [
        { when: 'which day', say: 'Tuesday' },
        { when: '/what time/i', say: 'noon' },
      ],
    });
    expect(await one.next(moment('What time?'))).toEqual(say('noon'));
    expect(await one.next(moment('And Which  day?'))).toEqual(say('Tuesday'));
  });

  it('says what it says once, or as often as the turn allows', async () => {
    const one = caller({ turns: [{ when: 'day', say: 'Tuesday', times: 2 }] });
    expect(await one.next(moment('Which day?'))).toEqual(say('Tuesday'));
    expect(await one.next(moment('Which day?'))).toEqual(say('Tuesday'));
    expect(await one.next(moment('Which day?', { step: 'day' }))).toEqual({
      stuck: 'the caller has no turn for what the bot said: "Which day?" (step day)',
    });
  });

  it('does otherwise what the scenario says', async () => {
    const one = caller({ turns: [{ when: 'never', say: 'x' }], otherwise: { hangUp: true } });
    expect(await one.next(moment('Which day?'))).toEqual({ act: { kind: 'hang-up' } });
    expect(one.unused).toEqual([0]);
  });

  it('talks over the bot, with words or keys', async () => {
    const one = caller({ turns: [{ interrupt: 'wait' }, { interrupt: '#1*' }] });
    expect(await one.next(moment(''))).toEqual({ act: { kind: 'interrupt', by: { text: 'wait' } } });
    expect(await one.next(moment(''))).toEqual({ act: { kind: 'interrupt', by: { keys: '1*' } } });
  });

  it('gives up when the bot goes on for too long', async () => {
    const one = caller({ turns: ['hello'], otherwise: 'what?', patience: { turns: 2 } });
    await one.next(moment(''));
    await one.next(moment(''));
    expect(await one.next(moment('Again?'))).toEqual({
      stuck: 'the caller gave up after 2 turns of their own; the bot said last: "Again?"',
    });
  });

  test.each([
    { when: { says: 'day', step: 'ask' }, given: moment('Which day?', { step: 'ask' }), isTaken: true },
    { when: { says: 'day', step: 'ask' }, given: moment('Which day?', { step: 'check' }), isTaken: false },
    { when: { asks: 'day' }, given: moment('', { asked: ['date', 'day'] }), isTaken: true },
    { when: { asks: 'day' }, given: moment('day', { asked: [] }), isTaken: false },
    { when: { variables: { day: null } }, given: moment('', { variables: { day: '' } }), isTaken: true },
    { when: { variables: { day: '/^2026/' } }, given: moment('', { variables: { day: '2026-03-05' } }), isTaken: true },
    { when: { variables: { day: '2026' } }, given: moment('', { variables: { day: '2026-03-05' } }), isTaken: false },
  ])('$when is $isTaken', async ({ when, given, isTaken }) => {
    expect('act' in (await caller({ turns: [{ when, say: 'x' }] }).next(given))).toBe(isTaken);
  });
});

describe('the seed', () => {
  const words = (seed: number): Promise<unknown> =>
    caller({ turns: [{ say: { oneOf: ['a b c d e f', 'g h i j k l', 'm n o p q r'] } }], mumbles: 0.4 }, seed).next(moment(''));

  it('decides which words are said, and which are mumbled', async () => {
    expect(await words(7)).toEqual(await words(7));
    const many = await Promise.all(Array.from({ length: 20 }, (_, seed) => words(seed)));
    expect(new Set(many.map((each) => JSON.stringify(each))).size).toBeGreaterThan(10);
  });

  it('never leaves a caller without a word, and adds none', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 2 ** 32 - 1 }),
        fc.float({ min: 0, max: Math.fround(0.9), noNaN: true }),
        async (seed, mumbles) => {
          const next = await caller({ turns: ['one two three'], mumbles }, seed).next(moment(''));
          const said = 'act' in next && next.act.kind === 'say' ? next.act.text.split(' ') : [];
          expect(said.length).toBeGreaterThan(0);
          expect(['one', 'two', 'three'].filter((word) => said.includes(word))).toEqual(said);
        },
      ),
    );
  });

  it('is spread evenly', () => {
    const random = new SeededRandom(3, 'salt');
    const drawn = Array.from({ length: 4000 }, () => Math.floor(random.next() * 4));
    for (const each of [0, 1, 2, 3]) expect(drawn.filter((value) => value === each).length).toBeGreaterThan(850);
  });
});

test.each([
  { expected: null, given: undefined, is: true },
  { expected: null, given: 'x', is: false },
  { expected: 12, given: '12', is: true },
  { expected: 'Tue', given: 'Tuesday', is: false },
  { expected: '/^tue/i', given: 'Tuesday', is: true },
  { expected: 'x', given: undefined, is: false },
])('$given has the value $expected: $is', ({ expected, given, is }) => expect(hasValue(expected, given)).toBe(is));
