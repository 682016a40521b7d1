import { describe, expect, it, test } from 'vitest';
import { stepFlow } from '../../../../src/dialog/flow/flow.ts';
import { newFlowState } from '../../../../src/dialog/flow/flow-state.ts';
import { flowGraph } from '../../../../src/dialog/flow/graph.ts';
import { isOpen, nextOpening } from '../../../../src/dialog/flow/hours.ts';
import { FlowInvalidError, parseFlow } from '../../../../src/dialog/flow/load.ts';
import { saidIn, TODAY } from './talk.ts';

const HOURS = {
  timeZone: 'America/New_York',
  open: { monday: ['09:00-12:30', '13:30-17:00'], saturday: '10:00-24:00', sunday: '00:00-02:00' },
  holidays: ['2026-03-09', { date: '2026-03-11', open: '10:00-11:00' }],
  closed: 'away',
};

function document(more: object = {}) {
  return {
    start: 'hello',
    hours: HOURS,
    commands: { operator: { key: '0', go: 'person' } },
    slots: { more: { kind: 'yes-no' } },
    states: {
      hello: { say: 'Hello.', ask: { slot: 'more', prompt: 'More?' }, next: { yes: 'hello', no: 'bye' } },
      person: { closed: 'away', say: 'One moment.', transfer: '+15550100' },
      away: { say: 'We are closed. We open {{ opens }}.', hangup: 'closed' },
      bye: { say: 'Goodbye.', hangup: 'done' },
    },
    ...more,
  };
}
const flow = parseFlow(document(), { language: 'en', timeZone: 'Asia/Kolkata' });
/** A moment in New York, at this offset from UTC. */
const at = (local: string, offset = '-05:00'): number => Date.parse(`${local}${offset}`);

describe('the business hours of a flow', () => {
  test.each([
    { note: 'opens at the first minute', wallMs: at('2026-03-02T09:00:00'), open: true },
    { note: 'is closed the second before', wallMs: at('2026-03-02T08:59:59'), open: false },
    { note: 'closes at the last minute', wallMs: at('2026-03-02T17:00:00'), open: false },
    { note: 'closes for lunch', wallMs: at('2026-03-02T12:45:00'), open: false },
    { note: 'is open until midnight', wallMs: at('2026-03-07T23:59:59'), open: true },
    { note: 'goes on behind midnight where the next day says so', wallMs: at('2026-03-08T00:30:00'), open: true },
    { note: 'is closed on a day that is not named', wallMs: at('2026-03-03T10:00:00'), open: false },
    { note: 'is closed on a holiday', wallMs: at('2026-03-09T10:00:00', '-04:00'), open: false },
    { note: 'has other hours on a special day', wallMs: at('2026-03-11T10:30:00', '-04:00'), open: true },
    { note: 'goes by the clocks of the zone in summer', wallMs: at('2026-03-16T09:30:00', '-04:00'), open: true },
    { note: 'goes by the clocks of the zone in winter', wallMs: at('2026-11-02T09:30:00'), open: true },
  ])('$note', ({ wallMs, open }) => expect(isOpen(flow, wallMs)).toBe(open));

  test.each([
    ['the same day', at('2026-03-02T12:45:00'), at('2026-03-02T13:30:00')],
    ['another day', at('2026-03-02T18:00:00'), at('2026-03-07T10:00:00')],
    ['behind a holiday and a change of the clocks', at('2026-03-08T03:00:00', '-04:00'), at('2026-03-11T10:00:00', '-04:00')],
  ])('says when they begin again: %s', (_note, wallMs, opens) => expect(nextOpening(flow, wallMs)).toBe(opens));

  it('have no next opening where every day is closed', () => {
    const never = parseFlow(document({ hours: { open: {}, closed: 'away' } }), { language: 'en' });
    expect(nextOpening(never, at('2026-03-02T10:00:00'))).toBeUndefined();
  });
});

describe('a call', () => {
  const start = (wallMs: number) => stepFlow(flow, newFlowState('en'), { kind: 'start' }, { today: TODAY, wallMs });

  it('begins as ever within the hours', () => {
    expect(saidIn(start(at('2026-03-02T10:00:00')).actions)).toBe('Hello. More?');
  });

  it('goes elsewhere outside of them, and says when they begin', () => {
    const { actions, state } = start(at('2026-03-01T20:00:00'));
    expect(saidIn(actions)).toBe("We are closed. We open tomorrow at nine o'clock in the morning.");
    expect([state.at, actions.at(-1)]).toEqual(['away', { type: 'hangup', reason: 'closed' }]);
  });

  it('that outlasts them finds a state closed that says so', () => {
    const { state } = start(at('2026-03-02T12:29:00'));
    const keyed = { kind: 'keyed', digits: '0' } as const;
    const before = stepFlow(flow, state, keyed, { today: TODAY, wallMs: at('2026-03-02T12:29:30') });
    const after = stepFlow(flow, state, keyed, { today: TODAY, wallMs: at('2026-03-02T12:31:00') });
    expect([before.state.at, after.state.at]).toEqual(['person', 'away']);
    expect(after.state.entered).toEqual(['person', 'away']);
  });
});

test.each([
  ['a time that is none', { hours: { ...HOURS, open: { monday: '9-17' } } }, /09:00-17:30/u],
  ['an end before the beginning', { hours: { ...HOURS, open: { monday: '22:00-06:00' } } }, /a night is written as two days/u],
  ['a date that is none', { hours: { ...HOURS, holidays: ['2026-02-30'] } }, /2026-12-25/u],
  ['a state that is none', { hours: { ...HOURS, closed: 'awey' } }, /Did you mean away|no state of this name/u],
  ['a zone that is none', { hours: { ...HOURS, timeZone: 'Mars/Base' } }, /IANA/u],
  ['closed without hours', { hours: undefined }, /needs the hours/u],
])('is refused: %s', (_note, more, message) => {
  let problems = '';
  try {
    parseFlow(JSON.parse(JSON.stringify(document(more))), { language: 'en' });
  } catch (error) {
    problems = error instanceof FlowInvalidError ? error.message : String(error);
  }
  expect(problems).toMatch(message);
});

it('stand in the graph, with the way that calls go outside of them', () => {
  const { hours, edges } = flowGraph(flow, 'en');
  expect(hours).toEqual({
    timeZone: 'America/New_York',
    open: ['sunday 00:00-02:00', 'monday 09:00-12:30, 13:30-17:00', 'saturday 10:00-24:00'],
    holidays: ['2026-03-09', '2026-03-11 10:00-11:00'],
  });
  expect(edges).toContainEqual({ from: 'hello', to: 'away', when: [{ kind: 'closed' }] });
  expect(edges).toContainEqual({ from: 'person', to: 'away', when: [{ kind: 'closed' }] });
});
