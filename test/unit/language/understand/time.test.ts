import { describe, expect, it } from 'vitest';
import { clockTime, sayTime, findTime, timeOfKeys } from '../../../../src/language/understand/time.ts';
import { tokenise } from '../../../../src/language/understand/tokens.ts';

describe('times', () => {
  it.each([
    ['half past ten', '10:30'],
    ['at half ten', '10:30'],
    ['ten thirty', '10:30'],
    ['10:30', '10:30'],
    ['10.30', '10:30'],
    ['quarter to nine', '08:45'],
    ['a quarter past nine', '09:15'],
    ['quarter to twelve', '11:45'],
    ['quarter to one', '12:45'],
    ['twenty past four', '16:20'],
    ['five minutes to six', '17:55'],
    ['ten oh five', '10:05'],
    ['nine forty-five', '09:45'],
    ["ten o'clock", '10:00'],
    ['ten o clock', '10:00'],
    ['at three in the afternoon', '15:00'],
    ['three in the morning', '03:00'],
    ['eight in the evening', '20:00'],
    ['11 pm', '23:00'],
    ['9 a.m.', '09:00'],
    ['ten a m', '10:00'],
    ['three p m', '15:00'],
    ['I am free at three', '15:00'],
    ['9:15pm', '21:15'],
    ['twelve at night', '00:00'],
    ['noon', '12:00'],
    ['midnight', '00:00'],
    ['14:30', '14:30'],
    ['twenty two thirty', '22:30'],
    ['at two', '14:00'],
    ['at seven', '07:00'],
    ['tomorrow morning at ten', '10:00'],
    ['at ten, no, at eleven', '11:00'],
    ["I'd like an appointment on Tuesday at half past ten", '10:30'],
    ['साढ़े दस बजे', '10:30'],
    ['साढे दस', '10:30'],
    ['सवा दस बजे', '10:15'],
    ['पौने ग्यारह बजे', '10:45'],
    ['पौने बारह बजे', '11:45'],
    ['पौने एक बजे', '12:45'],
    ['डेढ़ बजे', '13:30'],
    ['ढाई बजे', '14:30'],
    ['सुबह साढ़े दस बजे', '10:30'],
    ['सुबह नौ बजे', '09:00'],
    ['दोपहर बारह बजे', '12:00'],
    ['दोपहर में तीन बजे', '15:00'],
    ['शाम को साढ़े पाँच बजे', '17:30'],
    ['शाम पांच बजे', '17:00'],
    ['रात नौ बजे', '21:00'],
    ['रात दो बजे', '02:00'],
    ['दस बजकर बीस मिनट', '10:20'],
    ['दस बज कर पाँच मिनट', '10:05'],
    ['दस बजने में पाँच मिनट', '09:55'],
    ['सवा बजे', '13:15'],
    ['१०:३०', '10:30'],
    ['मंगलवार सुबह साढ़े दस बजे', '10:30'],
  ])('understands "%s" as %s', (text, time) => expect(findTime(tokenise(text))?.value).toBe(time));

  it.each([
    ['ten', '10:00'],
    ['six', '18:00'],
    ['1030', '10:30'],
    ['दस', '10:00'],
    ['दस तीस', '10:30'],
  ])('understands "%s" as %s where a time was asked for', (text, time) => {
    expect(findTime(tokenise(text), { bare: true })?.value).toBe(time);
  });

  it.each([
    '',
    'yes',
    'ten',
    'one two three four',
    'Tuesday',
    'in two days',
    'twenty five sixty',
    'at',
    'half',
    'quarter to',
    'दस',
    '25:10',
  ])('finds no time in "%s"', (text) => expect(findTime(tokenise(text))).toBeUndefined());

  it.each(['one two three four', 'in two days', 'at', 'साढ़े'])('finds none in "%s" either where one was asked for', (text) => {
    expect(findTime(tokenise(text), { bare: true })).toBeUndefined();
  });

  it('chooses the hour within the opening hours', () => {
    const evening = { from: '17:00', to: '23:00' } as const;
    expect(findTime(tokenise('at half past nine'), { window: evening })?.value).toBe('21:30');
    expect(findTime(tokenise('at half past nine in the morning'), { window: evening })?.value).toBe('09:30');
  });

  it.each([
    ['0930', '09:30'],
    ['930', '09:30'],
    ['1430', '14:30'],
    ['0130', '01:30'],
    ['230', '14:30'],
    ['15', '15:00'],
    ['2460', undefined],
    ['*', undefined],
    ['12345', undefined],
  ])('reads the keys %s as %s', (digits, time) => expect(timeOfKeys(digits)).toBe(time));

  it.each([
    ['en', '10:30', 'half past ten'],
    ['en', '08:45', 'quarter to nine'],
    ['en', '12:00', "twelve o'clock"],
    ['en', '16:20', 'four twenty'],
    ['en', '09:05', 'nine oh five'],
    ['hi', '10:30', 'सुबह साढ़े दस बजे'],
    ['hi', '13:30', 'दोपहर डेढ़ बजे'],
    ['hi', '14:30', 'दोपहर ढाई बजे'],
    ['hi', '17:15', 'शाम सवा पाँच बजे'],
    ['hi', '20:45', 'रात पौने नौ बजे'],
    ['hi', '10:20', 'सुबह दस बजकर बीस मिनट'],
  ] as const)('says in %s %s as "%s"', (language, time, text) => expect(sayTime(language, time)).toBe(text));

  it.each(['en', 'hi'] as const)('reads every minute of the day that it speaks in %s with its part of the day', (language) => {
    for (let minute = 0; minute < 1440; minute++) {
      const time = clockTime(minute);
      expect(findTime(tokenise(sayTime(language, time, true)))?.value).toBe(time);
    }
  });
});
