import { describe, expect, it, test } from 'vitest';
import { resumeFlow } from '../../../../src/dialog/flow/flow.ts';
import { FlowInvalidError, parseFlow } from '../../../../src/dialog/flow/load.ts';
import { type RequestOutcome, requestAt } from '../../../../src/dialog/flow/request.ts';
import { gatherIn, saidIn, talk, TODAY } from './talk.ts';

const call = {
  callId: 'call_1',
  botName: 'desk',
  from: '+15550100',
  to: '+15550199',
  direction: 'inbound',
  language: 'en',
} as const;
const BOOK = {
  path: '/bookings',
  send: ['day'],
  answer: { booking: 'id' },
  failed: { 409: 'taken', otherwise: 'later' },
};

function document(request: object, more: object = {}) {
  return {
    start: 'hello',
    slots: { day: { kind: 'day' }, booking: { kind: 'code', pattern: 'A9' }, name: { kind: 'name' } },
    states: {
      hello: { ask: { slot: 'day', prompt: 'Which day?' }, next: 'book' },
      book: { say: 'I am booking that.', request, next: 'booked', ...more },
      booked: { say: 'Your number is {{ booking }}.', hangup: 'booked' },
      taken: { clear: ['day'], say: 'That day is full.', next: 'hello' },
      later: { say: 'We call you back.', hangup: 'later' },
    },
  };
}

const flow = parseFlow(document(BOOK), { language: 'en', hasServer: true });

describe('a request in a flow', () => {
  it('stops after speaking, and sends the slots that it names', () => {
    const { state, actions } = talk(flow, ['Tuesday']);
    expect([state.stage, state.at, saidIn(actions)]).toEqual(['requesting', 'book', 'I am booking that.']);
    const turn = { call, index: 1, input: { kind: 'start' }, history: [], variables: {}, idempotencyKey: 'call_1.1' } as const;
    const request = requestAt(flow, { ...state, slots: { ...state.slots, name: 'Asha' } }, turn);
    expect(JSON.parse(request.body)).toEqual({ version: 1, call, request: 'book', variables: { day: '2026-01-06' } });
    expect(request.idempotencyKey).toMatch(/^call_1\.1\.book\.[0-9a-f]{16}$/);
    expect(requestAt(flow, state, turn).idempotencyKey).toBe(request.idempotencyKey);
    const other = requestAt(flow, { ...state, slots: { day: '2026-01-07' } }, turn);
    expect(other.idempotencyKey).not.toBe(request.idempotencyKey);
  });

  test.each<[string, RequestOutcome, string, Record<string, string> | undefined]>([
    ['with the values of the answer', { ok: true, values: { booking: 'B7' } }, 'Your number is B seven.', { booking: 'B7' }],
    ['by the status', { ok: false, failure: '409', why: 'HTTP 409' }, 'That day is full. Which day?', { day: '' }],
    ['by otherwise', { ok: false, failure: 'timeout', why: 'late' }, 'We call you back.', undefined],
  ])('goes on %s', (_note, outcome, said, set) => {
    const { state } = talk(flow, ['Tuesday']);
    const { actions } = resumeFlow(flow, state, outcome, { today: TODAY });
    expect(saidIn(actions)).toBe(said);
    const found = actions.find(({ type }) => type === 'set');
    expect(found).toEqual(set === undefined ? undefined : { type: 'set', variables: set });
    const note = actions.find(({ type }) => type === 'note');
    expect(note).toEqual(outcome.ok ? undefined : { type: 'note', text: `request book failed: ${outcome.why}` });
    expect(gatherIn(actions) === undefined).toBe(outcome.ok || outcome.failure === 'timeout');
  });

  it('goes to unset when the bot has no server', () => {
    const without = parseFlow(document({ ...BOOK, unset: 'booked' }), { language: 'en' });
    expect(talk(without, ['Tuesday']).state).toMatchObject({ stage: 'ended', at: 'booked' });
  });

  test.each<[string, object, object, string, RegExp]>([
    ['no server', BOOK, {}, 'states.book.request', /has no server.*dialog\.server.*unset/],
    ['no otherwise', { ...BOOK, failed: { 409: 'taken' }, unset: 'later' }, {}, 'states.book.request.failed', /otherwise/],
    [
      'a failure that there is not',
      { ...BOOK, failed: { timout: 'taken', otherwise: 'later' }, unset: 'later' },
      {},
      'states.book.request.failed.timout',
      /accepted are a status of 300 to 599, timeout/,
    ],
    ['a state that there is not', { ...BOOK, failed: 'latter', unset: 'taken' }, {}, 'states.book.request.failed', /no state/],
    ['a slot that there is not', { ...BOOK, send: ['days'], unset: 'later' }, {}, 'states.book.request.send', /no slot/],
    ['an answer for no slot', { ...BOOK, answer: { id: 'id' }, unset: 'later' }, {}, 'states.book.request.answer', /no slot/],
    ['values in the path', { ...BOOK, path: '/{{ day }}' }, {}, 'states.book.request.path', /without values/],
    ['another host in the path', { ...BOOK, path: '//evil.example.com' }, {}, 'states.book.request.path', /a path such as/],
    [
      'a wait that is too long',
      { ...BOOK, timeoutMs: 30_000, tries: 3, unset: 'later' },
      {},
      'states.book.request.timeoutMs',
      /3 tries of 30000 ms/,
    ],
    ['an end in the same state', { ...BOOK, unset: 'later' }, { press: '1' }, 'states.book.request', /by next alone/],
    ['a misspelt key', { ...BOOK, retries: 2 }, {}, 'states.book.request.retries', /no such key: retries/],
  ])('is refused for %s, with its place', (_note, request, more, key, message) => {
    const parse = () => parseFlow(document(request, more), { language: 'en' });
    expect(parse).toThrow(FlowInvalidError);
    try {
      parse();
    } catch (error) {
      const { problems } = error as FlowInvalidError;
      expect(problems.filter((problem) => problem.key === key).map((problem) => problem.message)).toEqual([
        expect.stringMatching(message),
      ]);
    }
  });
});

describe('a price', () => {
  const priced = (say: string, kind: object) =>
    parseFlow(
      { start: 'tell', languages: ['en', 'hi'], slots: { price: kind }, states: { tell: { say, hangup: 'told' } } },
      { language: 'en' },
    );
  const [usd, inr] = [
    { kind: 'money', currency: 'USD' },
    { kind: 'money', currency: 'INR' },
  ];

  test.each([
    { note: 'one decimal place', kind: usd, value: '26.5', en: 'twenty six dollars and fifty cents', hi: 'छब्बीस डॉलर पचास सेंट' },
    { note: 'rupees and paise', kind: inr, value: '26.5', en: 'twenty six rupees and fifty paise', hi: 'छब्बीस रुपये पचास पैसे' },
    { note: 'no decimal place', kind: inr, value: '26', en: 'twenty six rupees', hi: 'छब्बीस रुपये' },
    { note: 'a refund', kind: usd, value: '-3.5', en: 'minus three dollars and fifty cents', hi: 'ऋण तीन डॉलर पचास सेंट' },
    { note: 'no amount', kind: usd, value: 'free', en: 'free', hi: 'free' },
  ])('is spoken as money where its slot says so: $note', ({ kind, value, en, hi }) => {
    const told = priced('{{ price }}', kind);
    expect(talk(told, [], 'en', { price: value }).said).toBe(en);
    expect(talk(told, [], 'hi', { price: value }).said).toBe(hi);
  });

  it('is spoken as money where the prompt says so', () => {
    const told = priced('{{ price | usd }}', { kind: 'text' });
    expect(talk(told, [], 'en', { price: '26.5' }).said).toBe('twenty six dollars and fifty cents');
    const fixed = parseFlow(
      { start: 'tell', values: { fee: '150' }, states: { tell: { say: 'It is {{ fee | inr }}.', hangup: 'told' } } },
      { language: 'en' },
    );
    expect(talk(fixed, []).said).toBe('It is one hundred fifty rupees.');
  });
});
