import { describe, expect, it } from 'vitest';
import { FlowInvalidError, parseFlow } from '../../../../src/dialog/flow/load.ts';
import { stepFlow } from '../../../../src/dialog/flow/flow.ts';
import { gatherIn, talk, TODAY } from './talk.ts';

const DOCUMENT = {
  start: 'phone',
  languages: ['en', 'hi'],
  slots: {
    phone: { kind: 'phone', region: 'IN' },
    amount: { kind: 'money', currency: 'INR', least: 100, most: 50_000, refused: 'Not {{ heard }}.' },
    booking: { kind: 'code', pattern: 'AA9999' },
    email: { kind: 'email' },
    who: { kind: 'name', least: 2 },
  },
  commands: { operator: { key: '0', go: 'human' } },
  states: {
    phone: { ask: { slot: 'phone', prompt: 'Your number?' }, next: 'amount' },
    amount: { ask: { slot: 'amount', prompt: 'How much?' }, next: 'booking' },
    booking: { ask: { slot: 'booking', prompt: 'Your booking code?' }, next: 'email' },
    email: { ask: { slot: 'email', prompt: 'Your e-mail address?' }, next: 'who' },
    who: { ask: { slot: 'who', prompt: 'Your name?' }, next: 'check' },
    check: {
      confirm: {
        prompt: '{{ who }}, {{ phone }}, {{ amount }}, {{ booking }}, {{ email }}?',
        which: 'Which of them?',
        parts: { phone: 'phone', amount: 'amount', booking: 'booking', email: 'email' },
        yes: 'bye',
      },
    },
    human: { say: 'Hold the line.', hangup: 'human' },
    bye: { say: 'Code {{ booking | spelled }}.', hangup: 'done' },
  },
};
const flow = parseFlow(DOCUMENT, { language: 'en' });
const ANSWERS = [
  'nine eight seven six five four three two one oh',
  'twelve hundred rupees and fifty paise',
  'B for Bombay, T, four two double seven',
  'ravi dot kumar at gmail dot com',
  'my name is ravi kumar',
];

describe('slots that are contracts', () => {
  it('keep values in one form and speak them as people do', () => {
    const { state, said } = talk(flow, ANSWERS);
    expect(state.slots).toEqual({
      phone: '+919876543210',
      amount: '1200.50',
      booking: 'BT4277',
      email: 'ravi.kumar@gmail.com',
      who: 'Ravi Kumar',
    });
    expect(said).toBe(
      'Ravi Kumar, nine eight seven six five, four three two one zero, one thousand two hundred rupees and fifty paise, B T four two seven seven, ravi dot kumar at gmail dot com?',
    );
    expect(talk(flow, [...ANSWERS, 'yes']).said).toBe('Code B for Bombay, T for Tiger, four, two, seven, seven.');
  });

  it('read and say Hindi', () => {
    const { state, said } = talk(
      flow,
      ['98765 43210', 'डेढ़ हज़ार रुपये', 'बी टी चार दो सात सात', 'ravi ऐट जीमेल डॉट कॉम', 'मेरा नाम रवि कुमार है'],
      'hi',
    );
    expect(state.slots).toMatchObject({ amount: '1500.00', booking: 'BT4277', email: 'ravi@gmail.com', who: 'रवि कुमार' });
    expect(said).toContain('एक हज़ार पाँच सौ रुपये, बी टी चार दो सात सात');
  });

  it('give the call their contract, so that it waits for the whole value', () => {
    expect(gatherIn(talk(flow, []).actions)).toMatchObject({
      contract: { kind: 'phone', region: 'IN', readBack: 'never' },
      maxDigits: 14,
    });
    expect(gatherIn(talk(flow, ANSWERS.slice(0, 2)).actions)).toMatchObject({ contract: { kind: 'code', pattern: 'AA9999' } });
    expect(gatherIn(talk(flow, ANSWERS.slice(0, 3)).actions)?.hints).toContain('gmail dot com');
  });

  it.each([
    ['a number that is too short', ['nine eight seven six'], 'Sorry, I did not catch that. Your number?'],
    ['an amount out of bounds', [ANSWERS[0]!, 'ninety thousand rupees'], 'Not ninety thousand rupees. How much?'],
    ['keys for a number', ['#9876543210'], 'How much?'],
    ['a command where a name is asked for', [...ANSWERS.slice(0, 4), 'speak to a person'], 'Hold the line.'],
    ['a correction of one part', [...ANSWERS, 'no, the amount is two thousand rupees'], 'two thousand rupees'],
  ])('take %s as it is meant', (_note, lines, said) => expect(talk(flow, lines).said).toContain(said));

  it('accept keys pressed after the words', () => {
    const { state } = talk(flow, []);
    const input = { kind: 'spoken', text: 'nine eight seven six five', language: undefined, keys: '43210' } as const;
    expect(stepFlow(flow, state, input, { today: TODAY }).state.slots).toEqual({ phone: '+919876543210' });
  });

  it.each([
    [{ kind: 'phone' }, 'region'],
    [{ kind: 'code', pattern: 'abc' }, 'pattern'],
    [{ kind: 'money', currency: 'INR', least: 5, most: 1 }, 'most'],
  ])('refuse %j in a flow', (slot, key) => {
    const parse = () => parseFlow({ ...DOCUMENT, slots: { ...DOCUMENT.slots, phone: slot } }, { language: 'en' });
    expect(parse).toThrow(FlowInvalidError);
    expect(parse).toThrow(key);
  });
});
