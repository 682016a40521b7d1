import { describe, expect, it, test } from 'vitest';
import { stepFlow } from '../../../../src/dialog/flow/flow.ts';
import { type FlowState, newFlowState } from '../../../../src/dialog/flow/flow-state.ts';
import { flowGraph } from '../../../../src/dialog/flow/graph.ts';
import { FlowInvalidError, parseFlow } from '../../../../src/dialog/flow/load.ts';
import { inputOf, type Line, saidIn, TODAY } from './talk.ts';

const VOICEMAIL = { prompt: 'Please speak after the tone.', slot: 'message', empty: 'nothing', silenceMs: 2000, maxMs: 60_000 };

function document(voicemail: object = VOICEMAIL, more: object = { next: 'thanks' }) {
  return {
    start: 'closed',
    slots: { message: { kind: 'text' } },
    commands: { operator: { key: '0', go: 'person' } },
    states: {
      closed: { say: 'We are closed.', voicemail, ...more },
      thanks: { say: 'Thank you.', hangup: 'message-left' },
      nothing: { say: 'Goodbye.', hangup: 'no-message' },
      person: { say: 'One moment.', hangup: 'person' },
    },
  };
}
const flow = parseFlow(document(), { language: 'en' });

function talk(lines: readonly Line[], hasMessage = false) {
  let state: FlowState = newFlowState('en');
  let actions = stepFlow(flow, state, { kind: 'start' }, { today: TODAY });
  for (const line of lines) {
    state = actions.state;
    actions = stepFlow(flow, state, inputOf(line), { today: TODAY, hasMessage });
  }
  return { state: actions.state, actions: actions.actions, said: saidIn(actions.actions) };
}

describe('a state that takes a message', () => {
  it('speaks, plays the tone, and has what follows recorded; only a key interrupts it', () => {
    const { actions } = talk([]);
    expect(actions.filter(({ type }) => type !== 'set')).toEqual([
      { type: 'say', text: 'We are closed.' },
      { type: 'say', text: 'Please speak after the tone.', interruptible: 'keypad' },
      { type: 'play', source: 'tone:beep', interruptible: 'never' },
      { type: 'gather', endpointingMs: 2000, noInputMs: 6000, message: { maxMs: 60_000, record: true } },
    ]);
  });

  it('goes on behind the message, with its words in a slot', () => {
    const { actions, said } = talk(['please call me about the invoice'], true);
    expect(said).toBe('Thank you.');
    expect(actions[0]).toEqual({ type: 'set', variables: { message: 'please call me about the invoice' } });
  });

  test.each<[string, Line, boolean, string]>([
    ['takes a message whose words were not understood', '#', true, 'Thank you.'],
    ['goes where it says when nothing is said', '-', false, 'Goodbye.'],
    ['leads to the tone at once when a key is pressed before it', '#5', false, ''],
    ['obeys the key of a command before the tone', '#0', false, 'One moment.'],
  ])('%s', (_note, line, hasMessage, said) => expect(talk([line], hasMessage).said).toBe(said));

  it('plays the tone alone after a key', () => {
    const { actions, state } = talk(['#5']);
    expect(actions.map(({ type }) => type)).toEqual(['play', 'gather']);
    expect(state.stage).toBe('message');
  });
});

test.each([
  ['no way on', VOICEMAIL, {}, /needs next/u],
  [
    'a question beside it',
    VOICEMAIL,
    { next: 'thanks', ask: { slot: 'message', prompt: 'Well?' } },
    /takes a message, and asks/u,
  ],
  ['a slot that is none', { ...VOICEMAIL, slot: 'massage' }, { next: 'thanks' }, /no slot of this name/u],
  ['a message without end', { ...VOICEMAIL, maxMs: 900_000 }, { next: 'thanks' }, /600000/u],
])('is refused: %s', (_note, voicemail, more, message) => {
  let problems = '';
  try {
    parseFlow(document(voicemail, more), { language: 'en' });
  } catch (error) {
    problems = error instanceof FlowInvalidError ? error.message : String(error);
  }
  expect(problems).toMatch(message);
});

it('is a step of its own in the graph', () => {
  const { steps, edges } = flowGraph(flow, 'en');
  expect(steps[0]).toMatchObject({ kind: 'voicemail', slots: ['message'], prompts: ['We are closed.', VOICEMAIL.prompt] });
  expect(edges).toContainEqual({ from: 'closed', to: 'nothing', when: [{ kind: 'empty' }] });
});
