import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { loadBots } from '../../../src/config/bot-files.ts';
import { stepFlow } from '../../../src/dialog/flow/flow.ts';
import { newFlowState } from '../../../src/dialog/flow/flow-state.ts';
import { parseFlow } from '../../../src/dialog/flow/load.ts';
import { inLanguage } from '../../../src/dialog/flow/text.ts';
import { type Language, readOptOut } from '../../../src/language/index.ts';
import { inputOf, saidIn, talk, TODAY } from '../../unit/dialog/flow/talk.ts';

const { bots, problems } = loadBots(fileURLToPath(new URL('../../../config/bots', import.meta.url)));
const bot = bots.find(({ name }) => name === 'reminder');
if (bot === undefined || bot.dialog.kind !== 'flow') throw new Error('no flow bot reminder');
const flow = parseFlow(bot.dialog.flow, { language: 'en', source: 'reminder' });

const ASHA = { name: 'Asha', due_date: '2026-01-06' };

it('is a sound bot file, which tells mailboxes and assistants of phones who called', () => {
  expect(problems).toEqual([]);
  expect(bot.answered).toMatchObject({
    mailbox: { message: expect.stringContaining('Lakeside Clinic') },
    screening: { say: expect.stringContaining('Lakeside Clinic') },
  });
});

describe('the reminder says who calls, and about what', () => {
  test.each([
    {
      note: 'with the columns of the contact',
      contact: ASHA,
      said: 'Hello Asha. This is the assistant of Lakeside Clinic. You have your check-up Tuesday. Can you make it?',
    },
    {
      note: 'to a contact without columns',
      contact: {},
      said: 'Hello. This is the assistant of Lakeside Clinic. Your check-up is coming up. Can you make it?',
    },
    {
      note: 'with a date as the file has it',
      contact: { due_date: 'on 3 March' },
      said: 'Hello. This is the assistant of Lakeside Clinic. You have your check-up on 3 March. Can you make it?',
    },
    {
      note: 'in Hindi to a contact who speaks it',
      contact: { name: 'आशा', due_date: '2026-01-06', language: 'hi' },
      said: 'नमस्ते आशा जी। मैं लेकसाइड क्लिनिक से बोल रही हूँ। मंगलवार आपकी जाँच है। क्या आप आ पाएँगे?',
    },
  ])('$note', ({ contact, said }) => expect(talk(flow, [], 'en', contact).said).toBe(said));

  it('names both within twelve seconds of speech', () => {
    // People and engines speak at 12 to 16 characters a second.
    for (const contact of [ASHA, { ...ASHA, language: 'hi' }])
      expect(talk(flow, [], 'en', contact).said.length).toBeLessThan(140);
  });
});

describe('the reminder hears', () => {
  test.each([
    { note: 'a yes', lines: ['yes I will be there'], reason: 'confirmed', slots: { answer: 'coming' } },
    { note: 'a key', lines: ['#1'], reason: 'confirmed', slots: { answer: 'coming' } },
    {
      note: 'another day, step by step',
      lines: ["I can't make it", 'Wednesday', 'half past ten', 'yes'],
      reason: 'rescheduled',
      slots: { answer: 'another-day', day: '2026-01-07', time: '10:30', due_date: '2026-01-06' },
    },
    {
      note: 'another day in one sentence',
      lines: ['no, can we do Wednesday at half past ten', 'yes'],
      reason: 'rescheduled',
      slots: { day: '2026-01-07', time: '10:30' },
    },
    {
      note: 'a better moment to call',
      lines: ['I am driving', 'tomorrow at five'],
      reason: 'call-back',
      slots: { call_day: '2026-01-02', call_time: '17:00' },
    },
    { note: 'no moment at all', lines: ['call me later', 'no idea', 'no idea', 'no idea'], reason: 'later', slots: {} },
    { note: 'a cancellation', lines: ['cancel my appointment'], reason: 'cancelled', slots: { answer: 'cancel' } },
    { note: 'a goodbye', lines: ['bye'], reason: 'finished', slots: {} },
    {
      note: 'nothing that it knows',
      lines: ['bananas', 'more bananas', 'bananas', 'bananas'],
      reason: 'not-understood',
      slots: {},
    },
  ])('$note', ({ lines, reason, slots }) => {
    const { state, hungUp } = talk(flow, lines, 'en', ASHA);
    expect(hungUp).toEqual({ type: 'hangup', reason });
    expect(state.slots).toMatchObject(slots);
  });

  test.each([
    { note: 'a yes', lines: ['जी हाँ'], reason: 'confirmed' },
    { note: 'another day', lines: ['नहीं आ पाऊँगी', 'बुधवार', 'साढ़े दस बजे', 'हाँ'], reason: 'rescheduled' },
    { note: 'a better moment to call', lines: ['बाद में फ़ोन कीजिए', 'कल शाम पाँच बजे'], reason: 'call-back' },
    { note: 'a goodbye', lines: ['अलविदा'], reason: 'finished' },
  ])('in Hindi $note', ({ lines, reason }) => {
    expect(talk(flow, lines, 'en', { ...ASHA, language: 'hi' }).hungUp).toEqual({ type: 'hangup', reason });
  });

  it('when to call again, for the one who plans calls', () => {
    const asked = (...lines: string[]) => talk(flow, lines, 'en', ASHA).actions.filter(({ type }) => type === 'call-back');
    expect(asked('I am driving', 'tomorrow at five')).toMatchObject([{ type: 'call-back', at: '2026-01-02T17:00' }]);
    expect(asked('call me later', 'no idea', 'no idea', 'no idea')).toMatchObject([{ type: 'call-back' }]);
  });

  it('a wish for the other language', () => {
    expect(talk(flow, ['हिंदी'], 'en', ASHA).said).toContain('नमस्ते Asha जी।');
    expect(talk(flow, ['English'], 'en', { ...ASHA, language: 'hi' }).said).toContain('Hello Asha.');
  });

  it('who asks who is calling, and tells the truth', () => {
    expect(talk(flow, ['are you a robot'], 'en', ASHA).said).toContain('I am the automated assistant of Lakeside Clinic');
  });

  it.each(['en', 'hi'] as const)(
    'each of its phrases in %s as what it is meant for, and none as a wish for no more calls',
    (language) => {
      const slot = flow.slots['answer'];
      if (slot?.kind !== 'choice') throw new Error('answer is a choice');
      for (const [option, { phrases }] of Object.entries(slot.options)) {
        for (const phrase of inLanguage<readonly string[]>(phrases, language) ?? []) {
          expect(talk(flow, [phrase], 'en', { ...ASHA, language }).state.slots['answer'], phrase).toBe(option);
          expect(readOptOut(phrase), phrase).toBeUndefined();
        }
      }
    },
  );

  it('ends with a person who says nothing, whatever was said before', () => {
    const word = fc.constantFrom('yes', 'no', 'later', 'Tuesday', 'at five', 'हिंदी', 'नहीं', 'कल', 'help', '#1', '#2', '#9', '-');
    fc.assert(
      fc.property(fc.array(word, { maxLength: 12 }), fc.constantFrom<Language>('en', 'hi'), (spoken, language) => {
        let state = newFlowState('en', { ...ASHA, language });
        for (const line of [null, ...spoken, ...Array.from({ length: 8 }, () => '-')]) {
          const step = stepFlow(flow, state, inputOf(line), { today: TODAY });
          if (state.stage !== 'ended') expect(saidIn(step.actions)).not.toBe('');
          state = step.state;
        }
        expect(state.stage).toBe('ended');
      }),
      { numRuns: 50 },
    );
  });
});
