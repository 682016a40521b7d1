import { describe, expect, it } from 'vitest';
import { stepFlow } from '../../../../src/dialog/flow/flow.ts';
import { newFlowState } from '../../../../src/dialog/flow/flow-state.ts';
import { FlowInvalidError, parseFlow } from '../../../../src/dialog/flow/load.ts';
import type { DialogAction, TransferOutcome } from '../../../../src/dialog/port.ts';
import { calendarDay } from '../../../../src/language/index.ts';

const DESK = {
  start: 'topic',
  slots: { topic: { kind: 'text' } },
  commands: { later: { phrases: ['call me later'], go: 'later' } },
  states: {
    topic: { ask: { slot: 'topic', prompt: 'What is it about?' }, next: 'person' },
    person: {
      say: 'One moment.',
      transfer: {
        to: '+15550100',
        warm: { brief: 'A caller about {{ topic }}.', ringMs: 20_000 },
        failed: { busy: 'busy', otherwise: 'sorry' },
      },
    },
    busy: { say: 'The line is busy.', hangup: 'busy' },
    sorry: { say: 'Nobody is there.', hangup: 'nobody' },
    later: { say: 'We will call you.', hangup: 'later' },
  },
} as const;
const desk = parseFlow(DESK, { language: 'en' });
const at = { today: calendarDay('2026-03-05') };

/** The flow as the agent is rung. */
function rung() {
  const asked = stepFlow(desk, newFlowState('en'), { kind: 'start' }, at);
  return stepFlow(desk, asked.state, { kind: 'spoken', text: 'rent', language: 'en' }, at);
}

function shape(actions: readonly DialogAction[]): string[] {
  return actions.map((action) => (action.type === 'say' ? action.text : action.type));
}

describe('a warm transfer of a flow', () => {
  it('tells the agent what the caller said', () => {
    expect(rung().actions.at(-1)).toEqual({
      type: 'transfer',
      to: '+15550100',
      warm: { brief: 'A caller about rent.', language: 'en', ringMs: 20_000 },
    });
  });

  it.each([
    ['busy', ['The line is busy.', 'hangup']],
    ['declined', ['Nobody is there.', 'hangup']],
    ['answered', []],
  ] as const)('goes where the flow says when the outcome is %s', (outcome: TransferOutcome, says) => {
    const { actions } = stepFlow(desk, rung().state, { kind: 'transfer', outcome, to: '+15550100' }, at);
    expect(shape(actions)).toEqual(says);
  });

  it('says nothing where the flow has no way for it: the call says sorry', () => {
    const { topic, later } = DESK.states;
    const states = { topic, later, person: { say: 'One moment.', transfer: '+15550100' } };
    const cold = parseFlow({ ...DESK, states }, { language: 'en' });
    const asked = stepFlow(cold, newFlowState('en'), { kind: 'start' }, at);
    const { state, actions } = stepFlow(cold, asked.state, { kind: 'spoken', text: 'rent', language: 'en' }, at);
    expect(actions.at(-1)).toEqual({ type: 'transfer', to: '+15550100' });
    expect(stepFlow(cold, state, { kind: 'transfer', outcome: 'failed', to: '+15550100' }, at).actions).toEqual([]);
  });

  it.each([
    ['are you still there', ['One moment, please.']],
    ['please call me later', ['cancel-transfer', 'We will call you.', 'hangup']],
  ])('lets the caller talk meanwhile: %s', (text, says) => {
    const { actions } = stepFlow(desk, rung().state, { kind: 'spoken', text, language: 'en' }, { ...at, isConsulting: true });
    expect(shape(actions)).toEqual(says);
  });

  it.each([
    [{ bussy: 'busy', otherwise: 'sorry' }, 'states.person.transfer.failed.bussy: is no outcome'],
    [{ busy: 'busy' }, 'states.person.transfer.failed: needs otherwise'],
    ['nowhere', 'states.person.transfer.failed: there is no state'],
  ])('is refused with the ways %o', (failed, problem) => {
    const person = { ...DESK.states.person, transfer: { ...DESK.states.person.transfer, failed } };
    let found = '';
    try {
      parseFlow({ ...DESK, states: { ...DESK.states, person } }, { language: 'en' });
    } catch (error) {
      if (error instanceof FlowInvalidError) found = error.problems.map(({ key, message }) => `${key}: ${message}`).join('\n');
    }
    expect(found).toContain(problem);
  });
});
