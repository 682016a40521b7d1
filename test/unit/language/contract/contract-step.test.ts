import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AnswerContract } from '../../../../src/language/contract/contract.ts';
import {
  type ContractInput,
  type ContractStep,
  startContract,
  contractStep,
} from '../../../../src/language/contract/contract-step.ts';
import type { AnswerContext } from '../../../../src/language/contract/reading.ts';

/** A Thursday. */
const english: AnswerContext = { language: 'en', today: '2026-01-01' };
const hindi: AnswerContext = { language: 'hi', today: '2026-01-01' };
const six: AnswerContract = { kind: 'digits', length: 6 };
const phone: AnswerContract = { kind: 'phone', region: 'IN' };

/** `#12` are keys, `-` is silence, all else is spoken. */
function inputOf(line: string): ContractInput {
  if (line === '-') return { kind: 'no-input' };
  return line.startsWith('#') ? { kind: 'keyed', keys: line.slice(1) } : { kind: 'spoken', text: line };
}

function talk(contract: AnswerContract, context: AnswerContext, lines: readonly string[]): ContractStep {
  let step: ContractStep = { state: startContract(contract, context), say: '', expect: contract };
  for (const line of lines) step = contractStep(step.state, inputOf(line));
  return step;
}

const done = (contract: AnswerContract, context: AnswerContext, lines: readonly string[]): string => {
  const step = talk(contract, context, lines);
  if (step.done === undefined) return `says ${step.say}`;
  return step.done.status === 'accepted' ? `${step.done.value} after ${step.done.readBacks}` : `given up: ${step.done.reason}`;
};

describe('collecting a value', () => {
  it.each([
    { note: 'takes a value after a yes', lines: ['four two seven one nine nine', 'yes'], end: '427199 after 1' },
    {
      note: 'takes nothing before',
      lines: ['four two seven one nine nine'],
      end: 'says four two seven one nine nine. Is that right?',
    },
    {
      note: 'puts pieces together',
      lines: ['four two seven one', 'nine nine'],
      end: 'says four two seven one nine nine. Is that right?',
    },
    {
      note: 'asks for what is missing',
      lines: ['four two seven one'],
      end: 'says I have four two seven one. two are missing. Please say the rest.',
    },
    { note: 'puts spoken and typed pieces together', lines: ['four two seven', '#199', 'yes'], end: '427199 after 1' },
    {
      note: 'takes the value said anew for a whole one',
      lines: ['four two seven', 'four two seven one nine nine', 'yes'],
      end: '427199 after 1',
    },
    { note: 'takes a key for yes', lines: ['#427199', '#1'], end: '427199 after 1' },
    {
      note: 'takes the same value said again for yes',
      lines: ['427199', 'four two seven one double nine'],
      end: '427199 after 1',
    },
    {
      note: 'asks anew after a no',
      lines: ['427199', 'no'],
      end: 'says Sorry. Please say it again, digit by digit, or type it on the keypad.',
    },
    {
      note: 'reads a second value in groups',
      lines: ['427199', 'no', '427188'],
      end: 'says So that is four two seven, one eight eight. Is that right?',
    },
    {
      note: 'reads a third value sign by sign',
      lines: ['427199', 'no', '427188', 'no', '427177'],
      end: 'says I read it slowly. four, two, seven, one, seven, seven. Is that right?',
    },
    {
      note: 'asks for keys after two denials',
      lines: ['427199', 'no', '427188', 'no'],
      end: 'says Sorry. Please type it on the keypad, and end with the hash key.',
    },
    {
      note: 'reads a denied value that is heard again sign by sign',
      lines: ['427199', 'no', '427199'],
      end: 'says I read it slowly. four, two, seven, one, nine, nine. Is that right?',
    },
    {
      note: 'takes a correction with a no',
      lines: ['427199', 'no, four two seven one eight eight', 'yes'],
      end: '427188 after 2',
    },
    { note: 'corrects the end', lines: ['427199', 'no, the last two digits are eight eight', 'yes'], end: '427188 after 2' },
    { note: 'corrects the start', lines: ['427199', 'no it starts with five two', 'yes'], end: '527199 after 2' },
    { note: 'corrects one digit', lines: ['427199', "it's eight, not seven", 'yes'], end: '428199 after 2' },
    { note: 'corrects one group', lines: ['427199', 'no, four two eight', 'yes'], end: '428199 after 2' },
    { note: 'takes no yes with a no behind it', lines: ['427199', 'yes, no wait'], end: 'says Please say yes or no.' },
    { note: 'takes no silence for a yes', lines: ['427199', '-', '-', '-', '-'], end: 'given up: no-input' },
    { note: 'gives up when nothing is understood', lines: ['hm', 'what', 'well', 'so'], end: 'given up: not-understood' },
    {
      note: 'gives up after five denials',
      lines: ['427199', 'no', '427191', 'no', '427192', 'no', '427193', 'no', '427194', 'no'],
      end: 'given up: too-many-corrections',
    },
    {
      note: 'says that too much was said',
      lines: ['427199 1234'],
      end: 'says That is longer than it should be. Please say it again from the start.',
    },
  ])('$note', ({ lines, end }) => expect(done(six, english, lines)).toBe(end));

  it.each([
    { lines: ['नौ आठ सात छह पाँच चार तीन दो एक शून्य'], end: 'says नौ आठ सात छह पाँच, चार तीन दो एक शून्य। क्या यह सही है?' },
    { lines: ['98765 43210', 'जी'], end: '+919876543210 after 1' },
    { lines: ['98765 43210', 'जी नहीं'], end: 'says माफ़ कीजिए। कृपया एक एक अंक करके फिर से बताइए, या कीपैड पर दबाइए।' },
    { lines: ['98765 43210', 'जी वो सही नहीं है'], end: 'says कृपया हाँ या नहीं कहिए।' },
    { lines: ['98765 43210', 'नहीं, आखिरी दो अंक एक एक हैं', 'हाँ जी'], end: '+919876543211 after 2' },
  ])('speaks Hindi: $lines', ({ lines, end }) => expect(done(phone, hindi, lines)).toBe(end));

  it('asks which of two days is meant, and reads the answer back', () => {
    const date: AnswerContract = { kind: 'date' };
    expect(done(date, hindi, ['कल'])).toBe(
      'says आपका मतलब बुधवार, इकतीस दिसंबर दो हज़ार पच्चीस या शुक्रवार, दो जनवरी दो हज़ार छब्बीस है?',
    );
    expect(done(date, hindi, ['कल', 'आने वाला कल', 'हाँ'])).toBe('2026-01-02 after 1');
    expect(done(date, english, ['5/3/2026', 'the second one', 'yes'])).toBe('2026-05-03 after 1');
  });

  it('reads an ordinal alone as one of the days it asked about', () => {
    expect(done({ kind: 'date' }, english, ['Monday or Tuesday', 'the first', 'yes'])).toBe('2026-01-05 after 1');
    expect(done({ kind: 'date' }, english, ['Monday or Tuesday', 'the second', 'yes'])).toBe('2026-01-06 after 1');
    expect(done({ kind: 'date' }, english, ['Monday or Tuesday', 'the second of March', 'yes'])).toBe('2026-03-02 after 1');
  });

  it('accepts a choice and a yes without a read-back, and never speaks a card', () => {
    expect(done({ kind: 'yes-no' }, english, ['yes'])).toBe('yes after 0');
    expect(done({ kind: 'choice', options: [{ name: 'a', phrases: ['apples'] }] }, english, ['apples'])).toBe('a after 0');
    expect(done({ kind: 'card' }, english, ['#4111111111111111'])).toBe('4111111111111111 after 0');
    expect(done({ kind: 'card' }, english, ['four one one one'])).toContain('keypad');
    expect(talk({ kind: 'card' }, english, ['#4111111111111111']).state).not.toMatchObject({ parts: [expect.anything()] });
  });
});

it('never accepts a value that the caller did not agree to, whatever is said', () => {
  const lines = fc.constantFrom(
    'yes',
    'no',
    '427199',
    '42',
    'four two',
    '#427199',
    '#9',
    '-',
    'what',
    'yes no',
    'last digit is 5',
    '#1',
    '#2',
  );
  fc.assert(
    fc.property(fc.array(lines, { maxLength: 12 }), (said) => {
      let step: ContractStep = { state: startContract(six, english), say: '', expect: six };
      for (const line of said) {
        const before = step;
        step = contractStep(before.state, inputOf(line));
        if (step.done === undefined || before.done !== undefined) {
          expect(before.state.stage === 'done' || step.say !== '').toBe(true);
          continue;
        }
        if (step.done.status === 'accepted') {
          expect(before.state.stage).toBe('confirming');
          expect(before.state.candidates).toEqual([step.done.value]);
          expect(['yes', '#1', '427199', '#427199']).toContain(line);
        }
      }
    }),
  );
});

describe('a name that is read back', () => {
  const name: AnswerContract = { kind: 'name' };
  const answered = (line: string): string => done(name, english, ['my name is John Smith', line]);

  it.each(["that's right", 'Correct.', 'yes, correct', 'perfect', 'yep', 'okay, thanks', 'you got it'])(
    'is taken after %j',
    (line) => expect(answered(line)).toBe('John Smith after 1'),
  );

  it.each(['no', "No, that's wrong.", 'not right', 'wrong'])('is asked for anew after %j', (line) =>
    expect(answered(line)).toBe('says Sorry. Please spell it, letter by letter.'),
  );

  it.each(['no, Jon Smyth', "No, no, it's Jon Smyth.", 'Jon Smyth', "it's Jon Smyth, okay", 'Jon Smyth, right'])(
    'is another one after %j',
    (line) => expect(answered(line)).toBe('says So that is Jon, J O N. Smyth, S M Y T H. Is that right?'),
  );
});

describe('a read-back', () => {
  it.each(['hello?', 'sorry?', 'what?', 'can you say that again?', "I didn't catch that", 'pardon'])(
    'hears it again after %j',
    (line) =>
      expect(done(six, english, ['four two seven one nine nine', line])).toBe(
        'says four two seven one nine nine. Is that right?',
      ),
  );

  it.each(['no, once more, four two seven one nine eight', "no you didn't hear me it's four two seven one nine eight"])(
    'corrects it by %j',
    (line) =>
      expect(done(six, english, ['four two seven one nine nine', line])).toBe(
        'says So that is four two seven, one nine eight. Is that right?',
      ),
  );

  it.each(['nothing works for me', 'you got it wrong'])('agrees to nothing by %j', (line) =>
    expect(done(six, english, ['four two seven one nine nine', line])).toMatch(/^says/u),
  );

  it('hears it again in Hindi', () => {
    expect(done(six, hindi, ['427199', 'फिर से बोलिए'])).toBe(done(six, hindi, ['427199']));
  });

  it.each(['yes, but the last digit is eight', 'yes except the last digit is eight'])('agrees to nothing by %j', (line) =>
    expect(done(six, english, ['four two seven one nine nine', line])).toBe(
      'says So that is four two seven, one nine eight. Is that right?',
    ),
  );

  it('asks for the correction after a yes with a but', () => {
    const date: AnswerContract = { kind: 'date' };
    expect(done(date, english, ['the fifth of march', 'yes, but in april'])).toBe('says Please say yes or no.');
  });
});
