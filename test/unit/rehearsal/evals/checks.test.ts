import { describe, expect, it, test } from 'vitest';
import { nearestLine, unmetIn } from '../../../../src/rehearsal/evals/checks.ts';
import { type Evidence, NOT_BEGUN } from '../../../../src/rehearsal/evals/evidence.ts';
import type { SeenRequest } from '../../../../src/rehearsal/evals/mocked-world.ts';
import { suiteDocument } from '../../../../src/rehearsal/evals/suite-schema.ts';

const request = (variables: object, idempotencyKey: string): SeenRequest => ({
  to: '/visits',
  method: 'POST',
  url: 'http://server.invalid/visits',
  body: { version: 1, variables },
  idempotencyKey,
  outcome: 200,
  atMs: 0,
});

const CALL: Evidence = {
  lines: [
    { who: 'bot', turn: 0, text: 'Hello, this is the desk. Hours, or a visit?' },
    { who: 'caller', turn: 1, text: 'a visit on Tuesday' },
    { who: 'bot', turn: 1, text: 'I have Wednesday at noon.—', meant: 'I have Wednesday at noon. Is that right?' },
    { who: 'caller', turn: 2, text: 'yes' },
    { who: 'bot', turn: 2, text: 'You are booked. Goodbye.' },
  ],
  end: 'finished',
  disposition: 'completed',
  variables: { day: '2026-03-11', empty: '' },
  notes: ['Agreed.'],
  steps: ['welcome', 'check', 'welcome', 'booked'],
  transfers: ['+15550100'],
  keys: '1w2',
  plays: ['a.wav', 'b.wav'],
  bot: 'desk',
  language: 'en',
  callBack: '2026-03-05T17:00',
  optOut: undefined,
  requests: [request({ day: '2026-03-11' }, 'one'), request({ day: '2026-03-11' }, 'one')],
  turns: 2,
  interruptions: 1,
  interruptionsIgnored: 0,
  cutOffs: 0,
  cost: undefined,
  times: { firstWordMs: 100, replyP95Ms: 900, repliesMs: [900], longestWaitMs: undefined, durationMs: 9000 },
  failures: [],
  problems: [],
  warnings: [],
};

function unmet(expected: object, call: Partial<Evidence> = {}): { keys: readonly (string | number)[]; text: string }[] {
  const suite = suiteDocument.parse({ scenarios: [{ name: 'one', caller: { turns: ['x'] }, expect: expected }] });
  return unmetIn(suite.scenarios[0]!.expect, { ...CALL, ...call }).map(({ keys, expected: wanted, got }) => ({
    keys,
    text: `${wanted} | ${got}`,
  }));
}

describe('a call is as expected', () => {
  test.each([
    { end: 'finished' },
    { end: ['other', '/^fin/'] },
    { hears: ['this is the desk', 'Wednesday at noon', 'You are booked.'] },
    { hears: ['DESK. hours', '/Wed\\w+/'] },
    { hears: ['Hours, or a visit? I have Wednesday'] },
    { neverHears: ['Is that right', 'Tuesday'] },
    { steps: ['check', 'welcome', 'booked'] },
    { neverSteps: ['hours'] },
    { variables: { day: '2026-03-11', empty: null, none: null } },
    { requests: [{ to: '/visits' }] },
    {
      requests: [
        { to: '*', with: { day: '/^2026/' } },
        { to: '/cancel', times: 0 },
        { to: '/visits', with: { day: 'x' }, times: 0 },
      ],
    },
    { notes: ['agreed'], plays: ['a.wav', 'b.wav'], keys: '1w2', transfer: '+15550100' },
    { bot: 'desk', language: 'en', callBack: '/T17:00/', optOut: 'none', disposition: 'completed' },
    { turns: 2, interruptions: { least: 1 }, interruptionsIgnored: { most: 0 } },
    { times: { firstWordMs: 100, replyP95Ms: 900, durationMs: 9000 } },
    { cutOffs: 0 },
  ])('%j', (expected) => expect(unmet(expected)).toEqual([]));

  it('costs no more than it may', () => {
    const cost = { currency: 'USD', total: 0.05 };
    expect(unmet({ cost: { most: 0.05 } }, { cost })).toEqual([]);
    expect(unmet({ cost: { most: 0.04 } }, { cost })).toEqual([{ keys: ['cost'], text: 'a cost of at most 0.04 | 0.05 USD' }]);
    expect(unmet({ cost: { most: 1 } })).toEqual([
      { keys: ['cost'], text: 'a cost of at most 1 | a cost that is unknown: a price is missing' },
    ]);
  });

  it('was not cut off more often than it may be', () => {
    expect(unmet({ cutOffs: 0 }, { cutOffs: 2 })).toEqual([{ keys: ['cutOffs'], text: 'no cut-off | 2' }]);
  });
});

describe('a call is not as expected, and the message says why', () => {
  test.each([
    [{ end: 'booked' }, ['end'], 'the call to end with "booked" | it ended with "finished"'],
    [
      { hears: ['I have Tuesday at noon'] },
      ['hears', 0],
      'the caller to hear "I have Tuesday at noon" | heard in turn 1: "I have Wednesday at noon.—", of "I have Wednesday at noon. Is that right?"',
    ],
    [
      { hears: ['You are booked', 'this is the desk'] },
      ['hears', 1],
      'the caller to hear "this is the desk" | it was heard before "You are booked"',
    ],
    [
      { neverHears: ['/wednesday/i'] },
      ['neverHears', 0],
      'the caller never to hear "/wednesday/i" | heard in turn 1: "I have Wednesday at noon.—", of "I have Wednesday at noon. Is that right?"',
    ],
    [{ steps: ['booked', 'check'] }, ['steps', 1], 'the step check, after booked | welcome → check → welcome → booked'],
    [{ neverSteps: ['check'] }, ['neverSteps', 0], 'never the step check | welcome → check → welcome → booked'],
    [{ variables: { day: '2026-03-10' } }, ['variables', 'day'], 'the variable day to be "2026-03-10" | it is "2026-03-11"'],
    [{ variables: { day: null } }, ['variables', 'day'], 'the variable day to be empty | it is "2026-03-11"'],
    [
      { variables: { time: '10:30' } },
      ['variables', 'time'],
      'the variable time to be "10:30" | it is empty; there are day = 2026-03-11, empty = ',
    ],
    [
      { requests: [{ to: '/visits', with: { day: '2026-03-10' } }] },
      ['requests', 0],
      '1 request to /visits with day 2026-03-10 | 0; others were sent with day 2026-03-11 and with day 2026-03-11',
    ],
    [{ requests: [{ to: '/cancel' }] }, ['requests', 0], '1 request to /cancel | 0; there were requests to /visits'],
    [{ transfer: null }, ['transfer'], 'no transfer | +15550100'],
    [{ notes: ['Refused'] }, ['notes', 0], 'the note "Refused" | "Agreed."'],
    [{ plays: ['b.wav', 'a.wav'] }, ['plays', 1], 'the sound "a.wav" | "a.wav", "b.wav"'],
    [{ optOut: 'opt-out' }, ['optOut'], 'opt-out: opt-out | none'],
    [{ callBack: '' }, ['callBack'], 'a call-back without a time | 2026-03-05T17:00'],
    [{ fails: 'HTTP 500' }, ['fails'], 'the bot to fail with "HTTP 500" | it did not fail'],
    [{ turns: { least: 3, most: 4 } }, ['turns'], 'at least 3 and at most 4 turns | 2'],
    [{ interruptions: 0 }, ['interruptions'], 'no interruption | 1'],
    [{ times: { replyP95Ms: 800 } }, ['times', 'replyP95Ms'], 'at most 800 ms for 95 of 100 replies | 900 ms'],
    [{ times: { longestWaitMs: 800 } }, ['times', 'longestWaitMs'], 'at most 800 ms for the longest wait | nothing was measured'],
  ])('%j', (expected, keys, text) => expect(unmet(expected)).toEqual([{ keys, text }]));
});

it('counts a request that is sent twice under two keys as two', () => {
  const requests = [request({ day: 'x' }, 'one'), request({ day: 'x' }, 'two')];
  expect(unmet({ requests: [{ to: '/visits' }] }, { requests })).toEqual([
    { keys: ['requests', 0], text: '1 request to /visits | 2' },
  ]);
});

it('fails when the bot failed, unless that is expected', () => {
  const failures = ['HTTP 500'];
  expect(unmet({ end: 'finished' }, { failures })).toEqual([{ keys: [], text: 'an answer of the bot | it failed: HTTP 500' }]);
  expect(unmet({ fails: '/500/' }, { failures })).toEqual([]);
});

it('says what kept a caller from their turns, and only that where no call began', () => {
  const problems = ['the caller has no turn'];
  expect(unmet({ end: 'finished' }, { problems })).toEqual([
    { keys: [], text: 'the call to be played to its end | the caller has no turn' },
  ]);
  expect(unmet({ end: 'finished' }, { problems, end: NOT_BEGUN })).toHaveLength(1);
});

it('shows the line that is most like what was expected, else the last one', () => {
  expect(nearestLine('Wednesday at midnight', CALL)?.turn).toBe(1);
  expect(nearestLine('something else entirely', CALL)?.turn).toBe(2);
  expect(nearestLine('x', { ...CALL, lines: [] })).toBeUndefined();
});
