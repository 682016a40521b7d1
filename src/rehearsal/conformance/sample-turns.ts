import { complete, impossible } from '../../language/index.ts';
import { newId } from '../../kernel/ids.ts';
import { type CallFacts, type DialogTurn, TRANSFER_OUTCOMES, type TurnInput } from '../../dialog/port.ts';

const CALLER = '+15550100001';
const NUMBER = '+15550100002';

/** A call that no other check has. */
export function sampleCall(more: Partial<CallFacts> = {}): CallFacts {
  const callId = newId('call');
  const carrierCallId = `CA${callId.slice('call_'.length)}`;
  return {
    callId,
    carrierCallId,
    botName: 'conformance',
    from: CALLER,
    to: NUMBER,
    direction: 'inbound',
    language: 'en',
    ...more,
  };
}

/** A turn of a call, as a gateway asks it. @param index 0 for the greeting */
export function sampleTurn(call: CallFacts, index: number, input: TurnInput, more: Partial<DialogTurn> = {}): DialogTurn {
  const history = index === 0 ? [] : [{ role: 'bot', text: 'Hello, how can I help you?' } as const];
  return { call, index, input, history, variables: {}, idempotencyKey: `${call.callId}.${index}`, ...more };
}

/** Turns of each kind that follow a greeting, by a name for people. */
export function laterTurns(): readonly {
  readonly name: string;
  readonly input: TurnInput;
  readonly more?: Partial<DialogTurn>;
}[] {
  const spoken = (text: string): TurnInput & { kind: 'spoken' } => ({ kind: 'spoken', text, language: 'en' });
  const variables = { day: '2026-03-05', name: 'Asha' };
  return [
    { name: 'words', input: spoken('I would like an appointment on Tuesday') },
    { name: 'words that were not understood', input: spoken('') },
    { name: 'words without a language', input: { ...spoken('hello'), language: undefined } },
    { name: 'words and keys', input: { ...spoken('my number is'), keys: '4711#' } },
    { name: 'a complete value', input: { ...spoken('half past ten'), answer: complete('10:30') } },
    {
      name: 'an incomplete value',
      input: { ...spoken('nine eight'), answer: { status: 'incomplete', soFar: '98', missing: 8, begun: true } },
    },
    { name: 'an impossible value', input: { ...spoken('the 32nd'), answer: impossible('32', 'no-such-value') } },
    {
      name: 'an ambiguous value',
      input: { ...spoken('at five'), answer: { status: 'ambiguous', values: ['05:00', '17:00'], more: 'no' } },
    },
    { name: 'keys', input: { kind: 'keyed', digits: '12*#' } },
    { name: 'keys with their value', input: { kind: 'keyed', digits: '1030', answer: complete('10:30') } },
    { name: 'silence', input: { kind: 'no-input', attempt: 1 } },
    { name: 'silence again', input: { kind: 'no-input', attempt: 2 } },
    ...TRANSFER_OUTCOMES.map((outcome) => ({
      name: `a transfer: ${outcome}`,
      input: { kind: 'transfer', outcome, to: '+15550100123', cause: '486' } as const,
    })),
    {
      name: 'an agent who is being rung',
      input: spoken('how long'),
      more: { transfer: { to: '+15550100123', state: 'queued', place: 2 } },
    },
    { name: 'a message after the tone', input: spoken('please call me'), more: { voicemail: { durationMs: 4200 } } },
    { name: 'advice of an operator', input: spoken('hello'), more: { advice: ['Offer Tuesday.'] } },
    { name: 'variables of the call', input: spoken('hello'), more: { variables } },
  ];
}

/** A history in which the caller cut the bot off. */
export const CUT_HISTORY: DialogTurn['history'] = [
  { role: 'bot', text: 'Hello, how can I help you?' },
  { role: 'caller', text: 'an appointment please' },
  { role: 'bot', text: 'Which day would su—' },
  { role: 'caller', text: 'wait' },
];
