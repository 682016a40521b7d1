import { describe, expect, it } from 'vitest';
import { stepFlow } from '../../../../src/dialog/flow/flow.ts';
import { newFlowState } from '../../../../src/dialog/flow/flow-state.ts';
import { parseFlow } from '../../../../src/dialog/flow/load.ts';
import { gatherIn, SMALL, small, talk, TODAY } from './talk.ts';

describe('a conversation', () => {
  it.each([
    { note: 'greets and asks', lines: [], said: 'This is the bike shop. Repair or buy?', at: 'hello' },
    { note: 'follows the answer', lines: ['repair please'], said: 'Which day?', at: 'when' },
    { note: 'takes a key for it', lines: ['#1'], said: 'Which day?', at: 'when' },
    { note: 'takes the key said aloud', lines: ['press one'], said: 'Which day?', at: 'when' },
    {
      note: 'fills several details from one sentence and skips their questions',
      lines: ['fix my bike on Tuesday at half past ten'],
      said: 'a repair on Tuesday at half past ten?',
      at: 'check',
    },
    {
      note: 'asks only for what is missing',
      lines: ['repair at ten thirty', 'Tuesday'],
      said: 'a repair on Tuesday at half past ten?',
      at: 'check',
    },
    { note: 'keeps a detail that came before its question', lines: ['on Tuesday'], said: 'Repair or buy?', at: 'hello' },
    {
      note: 'lets a later sentence correct an earlier detail',
      lines: ['repair', 'Tuesday', 'Wednesday at ten'],
      said: "a repair on Wednesday at ten o'clock?",
      at: 'check',
    },
    { note: 'says why a detail is not possible', lines: ['repair', 'Sunday'], said: 'Closed on Sunday. Which day?', at: 'when' },
    { note: 'says so before the next question', lines: ['repair on Sunday'], said: 'Closed on Sunday. Which day?', at: 'when' },
    {
      note: 'has words of its own for that',
      lines: ['repair', 'Tuesday', 'eight in the evening'],
      said: "I am sorry, eight o'clock is not possible. What time?",
      at: 'hour',
    },
    {
      note: 'takes a time by keys',
      lines: ['repair', 'Tuesday', '#1430'],
      said: 'a repair on Tuesday at half past two?',
      at: 'check',
    },
    {
      note: 'keeps free text as it was said',
      lines: ['buy', 'A Red One, quickly!'],
      said: 'You said A Red One, quickly!.',
      at: 'told',
    },
    {
      note: 'never reads what was said as a template',
      lines: ['buy', '{{ shop }} it'],
      said: 'You said {{ shop }} it.',
      at: 'told',
    },
  ])('$note', ({ lines, said, at }) => {
    const result = talk(small, lines);
    expect(result.said).toBe(said);
    expect(result.state.at).toBe(at);
  });

  const booked = ['repair on Tuesday at half past ten'];
  it.each([
    { note: 'goes on after a yes', lines: ['yes'], said: 'Your last four digits?' },
    { note: 'goes on after key 1', lines: ['#1'], said: 'Your last four digits?' },
    { note: 'asks what is wrong after a no', lines: ['no'], said: 'The day or the time?' },
    { note: 'asks what is wrong after key 2', lines: ['#2'], said: 'The day or the time?' },
    { note: 'asks for the wrong part again', lines: ['no', 'the time'], said: 'What time?' },
    { note: 'takes the wrong part by key', lines: ['no', '#1'], said: 'Which day?' },
    { note: 'asks for both', lines: ['no', 'both'], said: 'Which day?' },
    {
      note: 'comes back to the confirmation',
      lines: ['no', 'the time', 'eleven'],
      said: "a repair on Tuesday at eleven o'clock?",
    },
    { note: 'takes the correction with the no', lines: ['no, Wednesday'], said: 'a repair on Wednesday at half past ten?' },
    { note: 'takes a bare hour after a no', lines: ['no, eleven'], said: "a repair on Tuesday at eleven o'clock?" },
    { note: 'takes a correction without a no', lines: ['make it Friday at nine'], said: "a repair on Friday at nine o'clock?" },
    { note: 'takes the wrong part with the no', lines: ['no, the day is wrong'], said: 'Which day?' },
    { note: 'takes the same values said again for a yes', lines: ['Tuesday at half past ten'], said: 'Your last four digits?' },
    { note: 'refuses a correction that is not possible', lines: ['no, Sunday'], said: 'Closed on Sunday. Which day?' },
    {
      note: 'asks again what it did not understand',
      lines: ['purple'],
      said: 'Sorry, I did not catch that. a repair on Tuesday at half past ten?',
    },
    { note: 'asks again which part', lines: ['no', 'purple'], said: 'Sorry, I did not catch that. The day or the time?' },
    { note: 'asks for the part that is called by its value', lines: ['no', 'Tuesday'], said: 'Which day?' },
    { note: 'asks for the part that is counted', lines: ['no', 'the first one'], said: 'Which day?' },
    {
      note: 'reads back once more what is insisted on after a no',
      lines: ['no', 'Tuesday at half past ten'],
      said: 'a repair on Tuesday at half past ten?',
    },
    { note: 'asks for one part and takes the other', lines: ['no, Wednesday, and the time is wrong'], said: 'What time?' },
    { note: 'agrees to nothing by a yes with a but', lines: ['yes, but change the time'], said: 'What time?' },
    { note: 'agrees to nothing by a yes with an exception', lines: ['yes, except the day'], said: 'Which day?' },
    {
      note: 'takes a bare hour for the time that is called by name',
      lines: ['the time should be eleven'],
      said: "a repair on Tuesday at eleven o'clock?",
    },
    {
      note: 'ends corrections that lead nowhere',
      lines: [
        'no',
        'the day',
        'Monday',
        ...['Friday', 'Monday', 'Friday', 'Monday', 'Friday', 'Monday', 'Friday'].map((day) => `no, ${day}`),
      ],
      said: 'We call you back.',
    },
  ])('confirms and $note', ({ lines, said }) => expect(talk(small, [...booked, ...lines]).said).toBe(said));

  const paid = [...booked, 'yes'];
  it.each([
    {
      note: 'spoken digits and a branch',
      lines: ['four two double seven', 'yes'],
      said: 'Members pay less. See you, four two seven seven.',
    },
    { note: 'keyed digits and the other branch', lines: ['#4277', 'no'], said: 'See you, four two seven seven.' },
    { note: 'too few digits', lines: ['four two'], said: 'Sorry, I did not catch that. Your last four digits?' },
    { note: 'too few keys', lines: ['#42'], said: 'Sorry, I did not catch that. Your last four digits?' },
  ])('handles $note', ({ lines, said }) => expect(talk(small, [...paid, ...lines]).said).toBe(said));
});

describe('trouble', () => {
  it.each([
    { note: 'first not understood', lines: ['purple'], said: 'Say repair or buy.' },
    { note: 'empty words', lines: [''], said: 'Say repair or buy.' },
    { note: 'an unknown key', lines: ['#9'], said: 'Say repair or buy.' },
    { note: 'second not understood', lines: ['purple', 'purple'], said: 'Press one or two.' },
    { note: 'third not understood', lines: ['purple', 'purple', 'purple'], said: 'We call you back.' },
    { note: 'first silence', lines: ['-'], said: 'Hello?' },
    { note: 'last text again', lines: ['-', '-'], said: 'Hello?' },
    { note: 'third silence', lines: ['-', '-', '-'], said: 'We call you back.' },
    { note: 'silences counted anew after words', lines: ['-', '-', 'purple', '-'], said: 'Hello?' },
    { note: 'built-in words where there are none', lines: ['repair', '-'], said: 'Are you still there? Which day?' },
    { note: 'built-in words that escalate', lines: ['repair', '-', '-'], said: 'I cannot hear you. Which day?' },
    { note: 'both at once', lines: ['repair or buy'], said: 'Say repair or buy.' },
  ])('answers $note', ({ lines, said }) => expect(talk(small, lines).said).toBe(said));

  it('notes why it gave up, and hangs up after a goodbye', () => {
    const { actions } = talk(small, ['-', '-', '-']);
    expect(actions.map(({ type }) => type)).toEqual(['note', 'note', 'say', 'hangup']);
  });

  it('speaks a built-in goodbye when the flow has no giveUp', () => {
    const { sorry: _sorry, ...states } = SMALL.states;
    const flow = parseFlow({ ...SMALL, giveUp: undefined, states }, { language: 'en' });
    const { said, hungUp } = talk(flow, ['-', '-', '-']);
    expect(said).toBe('Thank you for calling. Goodbye.');
    expect(hungUp).toEqual({ type: 'hangup', reason: 'no-input' });
  });
});

describe('commands', () => {
  it.each([
    { note: 'help', lines: ['help'], said: /^You can answer in your own words.* Repair or buy\?$/ },
    { note: 'repeat', lines: ['say that again'], said: /^This is the bike shop. Repair or buy\?$/ },
    { note: 'repeat after a reprompt', lines: ['purple', 'repeat'], said: /^This is the bike shop. Repair or buy\?$/ },
    { note: 'stop', lines: ['wait'], said: /^All right. Repair or buy\?$/ },
    { note: 'goodbye', lines: ['goodbye'], said: /^Thank you for calling. Goodbye.$/ },
    { note: 'one of the flow’s own', lines: ['repair', 'prices'], said: /^A repair is twenty pounds. Which day\?$/ },
    { note: 'a person', lines: ['repair', 'I want to speak to a person'], said: /^Hold the line.$/ },
    { note: 'a person, by key', lines: ['repair', '#0'], said: /^Hold the line.$/ },
    {
      note: 'a person instead of an answer',
      lines: ['repair on Tuesday at ten', 'no, speak to a person'],
      said: /^Hold the line.$/,
    },
    {
      note: 'not one inside a longer answer',
      lines: ['repair', 'wait, next Tuesday at half past ten'],
      said: /^a repair on Tuesday/,
    },
    {
      note: 'not a key that is a digit of the answer',
      lines: ['repair on Tuesday at ten', 'yes', '#0000'],
      said: /^Are you a member/,
    },
  ])('understands $note', ({ lines, said }) => expect(talk(small, lines).said).toMatch(said));

  it.each([
    { note: 'a greeting', lines: ['hello, repair please'], at: 'when' },
    { note: 'a greeting that is said twice', lines: ['hi, hello, repair'], at: 'when' },
    { note: 'a wish for a moment', lines: ['repair', 'hold on, Tuesday'], at: 'hour' },
    { note: 'a correction', lines: ['repair', 'Tuesday, no wait, Wednesday'], at: 'hour' },
    { note: 'a moment that sounds like a time', lines: ['repair', 'Tuesday', 'one second, at eleven'], at: 'check' },
    { note: 'a second thought', lines: ['repair on Tuesday at half past ten', 'yeah, wait, make it Friday'], at: 'check' },
  ])('leave the answer that comes with $note', ({ lines, at }) => expect(talk(small, lines).state.at).toBe(at));

  it.each([
    { note: 'a second', lines: ['repair', 'Tuesday', 'hold on one second'], said: /What time\?$/ },
    { note: 'a minute', lines: ['repair', 'Tuesday', 'wait one more minute'], said: /What time\?$/ },
    { note: 'an ordinal', lines: ['repair', 'hold on, first let me check'], said: /Which day\?$/ },
    {
      note: 'a part',
      lines: ['repair on Tuesday at half past ten', 'wait, which day'],
      said: /a repair on Tuesday at half past ten\?$/,
    },
  ])('take $note that comes with a wish for a moment for no answer', ({ lines, said }) =>
    expect(talk(small, lines).said).toMatch(said),
  );

  it.each(['are you there I want a repair', 'can you hear me, repair please', "I didn't hear from you, I want a repair"])(
    'leave the answer in %j',
    (line) => expect(talk(small, [line]).state.at).toBe('when'),
  );

  it('take the corrected day', () => {
    expect(talk(small, ['repair', 'Tuesday, no wait, Wednesday']).state.slots['day']).toBe('2026-01-07');
  });

  it.each([
    'hello?',
    'Hello, hello?',
    'hello, are you there?',
    'sorry?',
    'What?',
    'what did you say?',
    "Sorry, I didn't hear that.",
  ])('say the question again after %j', (line) => expect(talk(small, ['repair', line]).said).toBe('Which day?'));

  it.each(['wait', 'one second please', 'just a minute'])('give the moment that %j asks for', (line) =>
    expect(talk(small, ['repair', 'Tuesday', line]).said).toBe('All right. What time?'),
  );

  it('can be switched off', () => {
    const flow = parseFlow({ ...SMALL, commands: { ...SMALL.commands, help: false } }, { language: 'en' });
    expect(talk(flow, ['help']).said).toBe('Say repair or buy.');
  });
});

describe('actions', () => {
  it('sets changed slots first, and clears others', () => {
    expect(talk(small, ['repair on Tuesday']).actions[0]).toEqual({
      type: 'set',
      variables: { want: 'repair', day: '2026-01-06' },
    });
    expect(talk(small, ['repair', '#0']).actions[0]).toEqual({ type: 'set', variables: { want: '' } });
  });

  it('expects the options, the kind of answer and its keys', () => {
    expect(gatherIn(talk(small, []).actions)).toEqual({
      type: 'gather',
      hints: ['repair', 'buy', 'fix my bike', 'buy a bike'],
      maxDigits: 1,
    });
    expect(gatherIn(talk(small, ['repair']).actions)?.hints).toContain('Tuesday');
    expect(gatherIn(talk(small, ['repair', 'Tuesday']).actions)?.maxDigits).toBe(4);
    expect(gatherIn(talk(small, ['buy']).actions)).toEqual({ type: 'gather', maxDigits: 1 });
  });

  it('passes on whether a prompt may be interrupted', () => {
    expect(talk(small, ['repair on Tuesday at ten', 'yes']).actions).toContainEqual({
      type: 'say',
      text: 'Your last four digits?',
      interruptible: 'keypad',
    });
  });

  it('plays sounds among its prompts, and again when it repeats them', () => {
    const hello = {
      say: [{ play: 'ding.wav' }, { play: 'welcome.wav', en: 'Welcome to {{ shop }}.', interruptible: 'never' }],
      ask: { slot: 'want', prompt: 'Repair or buy?' },
      next: { repair: 'when', buy: 'story' },
    };
    const flow = parseFlow({ ...SMALL, states: { ...SMALL.states, hello } }, { language: 'en' });
    const sounds = [
      { type: 'play', source: 'ding.wav' },
      { type: 'play', source: 'welcome.wav', text: 'Welcome to the bike shop.', interruptible: 'never' },
    ];
    expect(talk(flow, []).actions.slice(0, 3)).toEqual([...sounds, { type: 'say', text: 'Repair or buy?' }]);
    expect(talk(flow, ['repeat']).actions.slice(0, 2)).toEqual(sounds);
    const both = { ...hello, say: { play: 'a.wav', text: 'A', en: 'B' } };
    expect(() => parseFlow({ ...SMALL, states: { ...SMALL.states, hello: both } }, { language: 'en' })).toThrow(/either text/u);
  });

  it('skips questions whose answers were known before the call', () => {
    expect(talk(small, [], 'en', { want: 'repair', day: '2026-01-06' }).said).toBe('What time?');
  });

  it('leaves out an empty prompt, and still asks', () => {
    const hello = { say: '{{ phone }}', ask: { slot: 'want', prompt: '{{ phone }}' }, next: { repair: 'when', buy: 'story' } };
    const flow = parseFlow({ ...SMALL, states: { ...SMALL.states, hello } }, { language: 'en' });
    const says = talk(flow, []).actions.filter(({ type }) => type === 'say');
    expect(says).toEqual([{ type: 'say', text: 'Sorry, I did not catch that.' }]);
  });

  it('switches the language of its words and of recognition', () => {
    const flow = parseFlow(
      {
        start: 'pick',
        languages: ['en', 'hi'],
        slots: {
          tongue: {
            kind: 'choice',
            options: { en: { key: '1', phrases: ['English'] }, hi: { key: '2', phrases: ['Hindi', 'हिंदी'] } },
          },
          day: { kind: 'day' },
        },
        states: {
          pick: { ask: { slot: 'tongue', prompt: 'English or Hindi?' }, next: { en: 'day', hi: 'hindi' } },
          hindi: { language: 'hi', voice: 'Sunita', next: 'day' },
          day: { ask: { slot: 'day', prompt: { en: 'Which day?', hi: 'किस दिन?' } }, next: 'end' },
          end: { say: { en: 'See you {{ day }}.', hi: '{{ day }} मिलते हैं।' }, hangup: 'done' },
        },
      },
      { language: 'en' },
    );
    expect(talk(flow, ['#2']).actions).toContainEqual({ type: 'language', language: 'hi', voice: 'Sunita' });
    expect(talk(flow, ['#2', 'मंगलवार']).said).toBe('मंगलवार मिलते हैं।');
    expect(talk(flow, ['english', 'Tuesday']).said).toBe('See you Tuesday.');
  });

  it('answers the same to the same', () => {
    const state = newFlowState('en');
    const once = stepFlow(small, state, { kind: 'start' }, { today: TODAY });
    expect(stepFlow(small, state, { kind: 'start' }, { today: TODAY })).toEqual(once);
  });
});
