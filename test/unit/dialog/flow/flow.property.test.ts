import fc from 'fast-check';
import { expect, it } from 'vitest';
import { stepFlow } from '../../../../src/dialog/flow/flow.ts';
import { newFlowState } from '../../../../src/dialog/flow/flow-state.ts';
import { parseFlow } from '../../../../src/dialog/flow/load.ts';
import { inputOf, saidIn, SMALL, small, TODAY } from './talk.ts';

const words = fc.constantFrom(
  'repair',
  'buy',
  'yes',
  'no',
  'Tuesday',
  'Sunday',
  'at',
  'half past ten',
  'nine',
  'the day',
  'both',
  'help',
  'repeat',
  'wait',
  'goodbye',
  'four two seven one',
  'speak to a person',
  'prices',
  'purple',
  '',
  'नहीं',
  'constructor',
  '__proto__',
);
const line = fc.oneof(
  { weight: 6, arbitrary: fc.array(words, { maxLength: 5 }).map((list) => list.join(' ')) },
  { weight: 2, arbitrary: fc.stringMatching(/^#[0-9*]{0,6}$/) },
  { weight: 1, arbitrary: fc.constant('-') },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme' }) },
);

it('never leaves the caller in silence, whatever the input', () => {
  fc.assert(
    fc.property(fc.array(line, { maxLength: 25 }), (lines) => {
      let state = newFlowState('en');
      for (const each of [null, ...lines]) {
        const step = stepFlow(small, state, inputOf(each), { today: TODAY });
        const last = step.actions.at(-1)!;
        expect(['gather', 'hangup']).toContain(last.type);
        if (last.type === 'gather') expect(saidIn(step.actions)).not.toBe('');
        if (last.type === 'hangup' && state.stage !== 'ended') expect(saidIn(step.actions)).not.toBe('');
        expect(step.state.stage === 'ended').toBe(last.type === 'hangup');
        expect(saidIn(step.actions)).not.toContain('undefined');
        state = step.state;
      }
    }),
  );
});

it('ends with a caller who is silent or not understood, from any state', () => {
  fc.assert(
    fc.property(fc.array(line, { maxLength: 12 }), fc.constantFrom('-', 'purple'), (lines, nothing) => {
      let state = newFlowState('en');
      const flow = parseFlow(
        {
          ...SMALL,
          states: { ...SMALL.states, story: { ...SMALL.states.story, ask: { slot: 'phone', prompt: 'Digits?' } } },
          slots: { ...SMALL.slots, story: { kind: 'digits' } },
        },
        { language: 'en' },
      );
      for (const each of [null, ...lines, ...Array.from({ length: 8 }, () => nothing)]) {
        ({ state } = stepFlow(flow, state, inputOf(each), { today: TODAY }));
      }
      expect(state.stage).toBe('ended');
    }),
    { numRuns: 60 },
  );
});

it('ends with a goodbye in a loop of states whose slots are all filled', () => {
  const flow = parseFlow(
    {
      start: 'one',
      slots: { sure: { kind: 'yes-no' } },
      states: {
        one: { ask: { slot: 'sure', prompt: 'Sure?' }, next: 'two' },
        two: { ask: { slot: 'sure', prompt: 'Really?' }, next: 'one' },
      },
    },
    { language: 'en' },
  );
  const opened = stepFlow(flow, newFlowState('en'), { kind: 'start' }, { today: TODAY });
  const { actions } = stepFlow(flow, opened.state, inputOf('yes'), { today: TODAY });
  expect(actions.slice(-2).map(({ type }) => type)).toEqual(['say', 'hangup']);
});
