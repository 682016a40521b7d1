import { stepFlow } from '../../../../src/dialog/flow/flow.ts';
import { type FlowState, newFlowState } from '../../../../src/dialog/flow/flow-state.ts';
import { parseFlow } from '../../../../src/dialog/flow/load.ts';
import type { Flow } from '../../../../src/dialog/flow/schema.ts';
import type { DialogAction, TurnInput } from '../../../../src/dialog/port.ts';
import type { Language } from '../../../../src/language/index.ts';

/** A Thursday. */
export const TODAY = '2026-01-01';

/** `null` opens the call, `-` is silence, `#12` are keys, all else is spoken. */
export type Line = string | null;

export function inputOf(line: Line): TurnInput {
  if (line === null) return { kind: 'start' };
  if (line === '-') return { kind: 'no-input', attempt: 1 };
  return line.startsWith('#') ? { kind: 'keyed', digits: line.slice(1) } : { kind: 'spoken', text: line, language: undefined };
}

/** Plays a caller's lines to a flow, the opening included. */
export function talk(flow: Flow, lines: readonly Line[], language: Language = 'en', slots: Record<string, string> = {}) {
  let state: FlowState = newFlowState(language, slots);
  let actions: readonly DialogAction[] = [];
  for (const line of [null, ...lines]) ({ state, actions } = stepFlow(flow, state, inputOf(line), { today: TODAY }));
  return { state, actions, said: saidIn(actions), hungUp: actions.find(({ type }) => type === 'hangup') };
}

export function saidIn(actions: readonly DialogAction[]): string {
  return actions.flatMap((action) => (action.type === 'say' ? [action.text] : [])).join(' ');
}

export function gatherIn(actions: readonly DialogAction[]) {
  return actions.find((action) => action.type === 'gather');
}

/** A small flow with one of everything. */
export const SMALL = {
  start: 'hello',
  giveUp: 'sorry',
  values: { shop: 'the bike shop' },
  slots: {
    want: {
      kind: 'choice',
      options: {
        repair: { key: '1', phrases: ['repair', 'fix my bike'], say: 'a repair' },
        buy: { key: '2', phrases: ['buy', 'buy a bike'], say: 'a new bike' },
      },
    },
    day: { kind: 'day', closed: ['sunday'], refused: 'Closed on {{ heard }}.' },
    time: { kind: 'time', from: '09:00', to: '17:00' },
    phone: { kind: 'digits', length: 4 },
    story: { kind: 'text' },
    member: { kind: 'yes-no' },
  },
  commands: { operator: { key: '0', go: 'human' }, prices: { phrases: ['prices'], say: 'A repair is twenty pounds.' } },
  states: {
    hello: {
      say: 'This is {{ shop }}.',
      ask: {
        slot: 'want',
        also: ['day', 'time'],
        prompt: 'Repair or buy?',
        notUnderstood: ['Say repair or buy.', 'Press one or two.'],
        noInput: ['Hello?'],
        tries: 2,
      },
      next: { repair: 'when', buy: 'story' },
    },
    when: { ask: { slot: 'day', also: ['time'], prompt: 'Which day?' }, next: 'hour' },
    hour: { ask: { slot: 'time', also: ['day'], prompt: 'What time?' }, next: 'check' },
    check: {
      confirm: {
        prompt: '{{ want }} on {{ day }} at {{ time }}?',
        which: 'The day or the time?',
        parts: { day: 'when', time: 'hour' },
        yes: 'phone',
      },
    },
    phone: { ask: { slot: 'phone', prompt: { text: 'Your last four digits?', interruptible: 'keypad' } }, next: 'member' },
    member: {
      ask: { slot: 'member', prompt: 'Are you a member?' },
      next: [{ when: { member: 'yes', want: ['repair'] }, go: 'discount' }, { go: 'bye' }],
    },
    discount: { say: 'Members pay less.', next: 'bye' },
    story: { ask: { slot: 'story', prompt: 'Tell me more.' }, next: 'told' },
    told: { say: 'You said {{ story }}.', hangup: 'told' },
    human: { clear: ['want'], say: 'Hold the line.', hangup: 'human' },
    sorry: { note: 'lost', say: 'We call you back.', hangup: 'lost' },
    bye: { say: { text: 'See you, {{ phone }}.', interruptible: 'never' }, hangup: 'done' },
  },
};

export const small = parseFlow(SMALL, { language: 'en' });
