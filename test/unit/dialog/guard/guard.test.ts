import { expect, it } from 'vitest';
import { modelToolsOf } from '../model-tools.ts';
import { type Guard, guardOf, type Sources, guarded } from '../../../../src/dialog/guard/guard.ts';
import type { DialogAction } from '../../../../src/dialog/port.ts';

const NOTHING: Sources = { found: [], given: [], caller: [] };

function guardWith(guard: object, knowledge?: object): Guard {
  const made = guardOf(modelToolsOf({ guard, ...(knowledge === undefined ? {} : { knowledge }) }));
  if (made === undefined) throw new Error('no guard');
  return made;
}

const values = guardWith({ onlyFrom: ['numbers', 'dates', 'promises'] });

it.each([
  { note: 'a price of a tool', say: 'It costs 499 rupees.', found: ['{"price": 499.00}'], rule: undefined },
  { note: 'a price of nowhere', say: 'It costs 450 rupees.', found: ['{"price": 499}'], rule: 'numbers' },
  { note: 'the same price in words', say: 'It costs four hundred and ninety nine rupees.', found: ['499'], rule: undefined },
  { note: 'another price in words', say: 'It costs five hundred rupees.', found: ['499'], rule: 'numbers' },
  { note: 'thousands with commas', say: 'That is two thousand five hundred.', found: ['2,500 INR'], rule: undefined },
  { note: 'Hindi figures', say: 'इसकी कीमत ४९९ रुपये है।', found: ['499'], rule: undefined },
  { note: 'Hindi words', say: 'इसकी कीमत पाँच सौ रुपये है।', found: ['500'], rule: undefined },
  { note: 'Hindi words of nowhere', say: 'इसकी कीमत पाँच सौ रुपये है।', found: ['499'], rule: 'numbers' },
  { note: 'one as a word', say: 'One moment, I have one idea.', found: [], rule: undefined },
  { note: 'a time of day', say: 'We open at nine.', found: ['opens 09:00, closes 18:30'], rule: undefined },
  { note: 'another time', say: 'We close at 18:45.', found: ['opens 09:00, closes 18:30'], rule: 'numbers' },
  { note: 'a number read out', say: 'Call five five five zero one zero zero.', found: ['+1 555 0100'], rule: undefined },
  { note: 'a wrong number read out', say: 'Call five five five zero one zero one.', found: ['+1 555 0100'], rule: 'numbers' },
  { note: 'a day of an ISO date', say: 'On Thursday the 5th of March.', found: ['2026-03-05'], rule: undefined },
  { note: 'another weekday', say: 'On Friday the 5th of March.', found: ['2026-03-05'], rule: 'dates' },
  { note: 'may as a verb', say: 'You may march on.', found: [], rule: undefined },
  { note: 'a promise', say: 'I guarantee that it arrives.', found: ['Arrives soon.'], rule: 'promises' },
  { note: 'a promise of a tool', say: 'You get a refund.', found: ['refund allowed'], rule: undefined },
  { note: 'a Hindi promise', say: 'आपको रिफंड मिलेगा।', found: [], rule: 'promises' },
])('$note: $say', ({ say, found, rule }) => {
  expect(values.refusalOf(say, { ...NOTHING, found })?.rule).toBe(rule);
});

it("asks about the caller's values, and states none of them", () => {
  const caller = ['I want ninety percent off, on friday'];
  expect(values.refusalOf('You said Friday, is that right?', { ...NOTHING, caller })).toBeUndefined();
  expect(values.refusalOf('You get 90 percent off.', { ...NOTHING, caller })).toEqual({ rule: 'numbers', about: '90' });
});

it('refuses phrases and patterns, whatever their case, and within longer words only at their beginning', () => {
  const guard = guardWith({ refuse: ['legal advice', '/diagnos\\w+/', 'दवा'] });
  expect(guard.refusalOf('Here is some LEGAL  advice.', NOTHING)).toEqual({ rule: 'refuse', about: 'legal advice' });
  expect(guard.refusalOf('My diagnosis is a cold.', NOTHING)?.rule).toBe('refuse');
  expect(guard.refusalOf('यह दवा लीजिए।', NOTHING)?.rule).toBe('refuse');
  expect(guard.refusalOf('It is illegal advice.', NOTHING)).toBeUndefined();
});

it('states nothing without a source where it is grounded', () => {
  const guard = guardWith({}, { folder: './docs', grounded: true });
  const claim = 'Our shop in the city delivers to every village of the district.';
  expect(guard.refusalOf(claim, NOTHING)?.rule).toBe('grounded');
  expect(guard.refusalOf(claim, { ...NOTHING, found: ['[a.md]\nWe deliver everywhere.'] })).toBeUndefined();
  expect(guard.refusalOf('Hello, how can I help you with your order from our shop today?', NOTHING)).toBeUndefined();
  expect(guard.refusalOf('Thank you for calling.', NOTHING)).toBeUndefined();
});

it('names a pattern that cannot be read', () => {
  expect(() => modelToolsOf({ guard: { refuse: ['/a(?=b)/'] } })).toThrow(/looks ahead/u);
});

async function heard(guard: Guard, parts: readonly string[], sources = NOTHING): Promise<{ said: string; notes: string[] }> {
  async function* actions(): AsyncIterable<DialogAction> {
    for (const text of parts) yield { type: 'say', text, more: true };
  }
  let said = '';
  const notes: string[] = [];
  for await (const action of guarded(actions(), guard, 'en', () => sources)) {
    if (action.type === 'say') said += action.text;
    if (action.type === 'note') notes.push(action.text);
  }
  return { said, notes };
}

it.each([
  { parts: ['It costs 450 rupees. Shall', ' I order it? It is 20 cm. Yes?'] },
  { parts: 'It costs 450 rupees. Shall I order it? It is 20 cm. Yes?'.split('') },
])('says one sentence in place of all refused ones, and notes each, however the words stream', async ({ parts }) => {
  const { said, notes } = await heard(guardWith({ onlyFrom: ['numbers'], say: { en: 'I would have to ask.' } }), parts);
  expect(said).toBe('I would have to ask. Shall I order it? Yes?');
  expect(notes).toEqual(['guard refused (numbers: 450): It costs 450 rupees.', 'guard refused (numbers: 20): It is 20 cm.']);
});

it('takes no decimal point for the end of a sentence', async () => {
  const { said } = await heard(guardWith({ onlyFrom: ['numbers'] }), ['It is 4', '.', '5 kilos.'], {
    ...NOTHING,
    found: ['4.5 kg'],
  });
  expect(said).toBe('It is 4.5 kilos.');
});
