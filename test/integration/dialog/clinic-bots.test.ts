import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { loadBots } from '../../../src/config/bot-files.ts';
import { checkFlow } from '../../../src/dialog/flow/check.ts';
import { inLanguage } from '../../../src/dialog/flow/text.ts';
import { fixedPrompts } from '../../../src/dialog/bot-dialog.ts';
import { stepFlow } from '../../../src/dialog/flow/flow.ts';
import { newFlowState } from '../../../src/dialog/flow/flow-state.ts';
import { parseFlow } from '../../../src/dialog/flow/load.ts';
import { languageOf } from '../../../src/language/index.ts';
import { inputOf, saidIn, talk, TODAY } from '../../unit/dialog/flow/talk.ts';

const { bots, problems } = loadBots(fileURLToPath(new URL('../../../config/bots', import.meta.url)));

function flowOf(name: string) {
  const bot = bots.find((bot) => bot.name === name);
  if (bot === undefined || bot.dialog.kind !== 'flow') throw new Error(`no flow bot ${name}`);
  return parseFlow(bot.dialog.flow, { language: languageOf(bot.language), source: name });
}

const clinics = [
  { name: 'clinic', language: 'en', voice: 'Nisha' },
  { name: 'clinic-hi', language: 'hi', voice: 'Sunita' },
] as const;

describe.each(clinics)('the bot $name', ({ name, language, voice }) => {
  const flow = flowOf(name);

  it('is a sound bot file and a sound flow', () => {
    expect(problems).toEqual([]);
    expect(bots.find((bot) => bot.name === name)).toMatchObject({ language, voice, default: name === 'clinic' });
    expect(checkFlow(flow)).toEqual([]);
    expect(checkFlow({ ...flow, hasServer: true })).toEqual([]);
  });

  it('understands each of its own phrases as what it is meant for', () => {
    const slot = flow.slots['intent']!;
    if (slot.kind !== 'choice') throw new Error('intent is a choice');
    for (const [option, { phrases }] of Object.entries(slot.options)) {
      for (const phrase of inLanguage<readonly string[]>(phrases, language) ?? [])
        expect(talk(flow, [phrase], language).state.slots['intent'] ?? 'hours', phrase).toBe(option);
    }
  });

  it('has sentences to prepare, none with a placeholder', () => {
    const sentences = fixedPrompts(flow);
    expect(sentences.length).toBeGreaterThan(40);
    expect(sentences.join('')).not.toContain('{{');
  });

  it('tells the opening hours at a length worth talking over', () => {
    // People and engines speak at 12 to 16 characters a second, so this is well above eight seconds.
    expect(talk(flow, ['#4'], language).said.length).toBeGreaterThan(200);
  });

  it('never leaves the caller in silence and ends with one who says nothing', () => {
    const lines = fc.array(
      fc.constantFrom(
        'book',
        'change',
        'cancel',
        'opening hours',
        'Tuesday',
        'at half past ten',
        'yes',
        'no',
        'the day',
        'repeat',
        'wait',
        '',
        'अपॉइंटमेंट',
        'बदलना है',
        'मंगलवार',
        'साढ़े दस बजे',
        'हाँ',
        'नहीं',
        'समय',
        'रुकिए',
        '#1',
        '#2',
        '#4271',
        '-',
      ),
      { maxLength: 15 },
    );
    fc.assert(
      fc.property(lines, (spoken) => {
        let state = newFlowState(language);
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

it.each([
  {
    note: 'everything in one sentence, then keys',
    lines: ["I'd like an appointment on Tuesday at half past ten", 'yes', '#1', '#4271'],
    said: 'Thank you. We will send a reminder to the number ending in four two seven one. We will see you on Tuesday at half past ten. Thank you for calling Lakeside Clinic. Goodbye.',
  },
  {
    note: 'step by step',
    lines: ['book an appointment', 'Tuesday', 'half past ten'],
    said: 'I have Tuesday at half past ten. Is that right?',
  },
  { note: 'hours first', lines: ['opening hours', 'book an appointment'], said: 'Which day would suit you?' },
  {
    note: 'a Sunday',
    lines: ['book an appointment', 'Sunday'],
    said: 'I am sorry, we are closed on Sundays. Which day would suit you?',
  },
  {
    note: 'a correction',
    lines: ['book', 'Tuesday', 'ten thirty', 'no', 'the time', 'quarter to nine'],
    said: 'I have Tuesday at quarter to nine. Is that right?',
  },
  {
    note: 'a change',
    lines: ['change my appointment'],
    said: 'Of course, let us find a new time for you. Which day would suit you?',
  },
  {
    note: 'a cancellation',
    lines: ['cancel my appointment', 'yes'],
    said: 'Your appointment is cancelled. You are welcome to call us again any time. Thank you for calling Lakeside Clinic. Goodbye.',
  },
  {
    note: 'no reminder',
    lines: ['book', 'Tuesday', 'ten thirty', 'yes', '#2'],
    said: 'We will see you on Tuesday at half past ten. Thank you for calling Lakeside Clinic. Goodbye.',
  },
  {
    note: 'a person',
    lines: ['speak to a person'],
    said: 'I am connecting you to our reception.',
  },
])('the clinic handles $note', ({ lines, said }) => expect(talk(flowOf('clinic'), lines).said).toBe(said));

it.each([
  {
    note: 'everything in one sentence',
    lines: ['मुझे मंगलवार को साढ़े दस बजे अपॉइंटमेंट चाहिए'],
    said: 'मैंने लिखा है, मंगलवार सुबह साढ़े दस बजे। क्या यह सही है?',
  },
  {
    note: 'step by step',
    lines: ['अपॉइंटमेंट चाहिए', 'परसों', 'शाम पाँच बजे', 'जी हाँ'],
    said: 'बहुत अच्छा, आपकी बुकिंग हो गई। संदेश से याद दिलाने के लिए एक दबाइए, नहीं चाहिए तो दो।',
  },
  {
    note: 'a correction',
    lines: ['अपॉइंटमेंट चाहिए', 'कल', 'ढाई बजे', 'नहीं', 'समय', 'सवा तीन बजे'],
    said: 'मैंने लिखा है, शुक्रवार दोपहर सवा तीन बजे। क्या यह सही है?',
  },
  {
    note: 'a cancellation',
    lines: ['अपॉइंटमेंट रद्द करना है', 'हाँ'],
    said: 'आपकी अपॉइंटमेंट रद्द हो गई। जब चाहें, फिर फ़ोन कीजिए। लेकसाइड क्लिनिक में फ़ोन करने के लिए धन्यवाद। नमस्ते।',
  },
])('the Hindi clinic handles $note', ({ lines, said }) => expect(talk(flowOf('clinic-hi'), lines, 'hi').said).toBe(said));
