import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { momentOf, readCallBack, sayCallBack } from '../../../../src/language/index.ts';

const KOLKATA = 'Asia/Kolkata';
/** A Monday, 11:20 in India. */
const NOW = momentOf('2026-03-02T11:20', KOLKATA);

function local(atMs: number | undefined, zone = KOLKATA): string | undefined {
  if (atMs === undefined) return undefined;
  return new Date(atMs).toLocaleString('sv-SE', { timeZone: zone }).slice(0, 16).replace(' ', 'T');
}

describe('a caller who asks to be called', () => {
  test.each([
    // English.
    ['call me tomorrow at five', '2026-03-03T17:00'],
    ['can you call me back tomorrow at 5', '2026-03-03T17:00'],
    ['call back in an hour', '2026-03-02T12:20'],
    ['call me back in half an hour please', '2026-03-02T11:50'],
    ["I'm driving, try after six", '2026-03-02T18:00'],
    ["i'm driving right now try me after 6", '2026-03-02T18:00'],
    ['call me in twenty minutes', '2026-03-02T11:40'],
    ['could you call again in two hours', '2026-03-02T13:20'],
    ['please call me on friday at ten in the morning', '2026-03-06T10:00'],
    ['call me next monday at half past four', '2026-03-09T16:30'],
    ['call me tomorrow morning', '2026-03-03T10:00'],
    ['call me this evening', '2026-03-02T18:00'],
    ['call me tonight', '2026-03-02T20:00'],
    ['call me tomorrow', '2026-03-03T11:15'],
    ['give me a call back at nine', '2026-03-03T09:00'],
    ['call me at eight', '2026-03-02T20:00'],
    ['call me at two', '2026-03-02T14:00'],
    ['call me at 7 pm', '2026-03-02T19:00'],
    ['call me next week', '2026-03-09T11:15'],
    ['call me after three days', '2026-03-05T11:15'],
    ["don't call me now call me tomorrow at six", '2026-03-03T18:00'],
    ["not now, i'm in a meeting, call me at four thirty", '2026-03-02T16:30'],
    // Hindi, in both scripts, and mixed.
    ['कल शाम पाँच बजे फ़ोन करना', '2026-03-03T17:00'],
    ['मुझे कल पाँच बजे कॉल कीजिए', '2026-03-03T17:00'],
    ['एक घंटे बाद फोन करो', '2026-03-02T12:20'],
    ['आधे घंटे बाद कॉल करना', '2026-03-02T11:50'],
    ['अभी गाड़ी चला रहा हूँ छह बजे के बाद कॉल करना', '2026-03-02T18:00'],
    ['दो घंटे में फ़ोन कीजिए', '2026-03-02T13:20'],
    ['कल सुबह कॉल करना', '2026-03-03T10:00'],
    ['शाम को फ़ोन करना', '2026-03-02T18:00'],
    ['अभी फोन मत करो कल दस बजे करना', '2026-03-03T10:00'],
    ['kal shaam paanch baje phone karna', '2026-03-03T17:00'],
    ['mujhe kal call karna', '2026-03-03T11:15'],
    ['ek ghante baad call karo', '2026-03-02T12:20'],
    ['6 baje ke baad call karna', '2026-03-02T18:00'],
    ['kal call me at five', '2026-03-03T17:00'],
  ])('"%s" means %s', (text, at) => {
    const wish = readCallBack(text, NOW, KOLKATA);
    expect(wish).toBeDefined();
    expect(local(wish?.atMs)).toBe(at);
  });

  test.each([
    'call me later',
    'call back later please',
    'try again later',
    'बाद में फोन करना',
    'baad mein call karo',
    'थोड़ी देर बाद कॉल करो',
  ])('"%s" names no time', (text) => {
    expect(readCallBack(text, NOW, KOLKATA)).toEqual({ atMs: undefined });
  });

  test.each([
    'yes tomorrow at five is fine',
    'tomorrow at five',
    "i'll call you back tomorrow",
    'can i call you back in an hour',
    'i will call you later',
    'you said you would call me back',
    'nobody called me back',
    "why didn't you call me back",
    "don't call me again",
    'call me Ravi',
    'what time do you call people',
    'मैं कल फ़ोन करूँगा',
    'कल शाम पाँच बजे ठीक है',
    'दोबारा फोन मत करना',
    'I would like to book for tomorrow at five',
  ])('is not heard in "%s"', (text) => {
    expect(readCallBack(text, NOW, KOLKATA)).toBeUndefined();
  });

  it('names no time where it is over', () => {
    expect(readCallBack('call me today at nine in the morning', NOW, KOLKATA)).toEqual({ atMs: undefined });
  });

  it('counts in the zone of the person', () => {
    const wish = readCallBack('call me tomorrow at five', NOW, 'America/New_York');
    expect(local(wish?.atMs, 'America/New_York')).toBe('2026-03-03T17:00');
  });

  it('never means the past, nor throws, whatever is said', () => {
    const words = fc.constantFrom(
      'call',
      'me',
      'tomorrow',
      'at',
      'five',
      'in',
      'hour',
      'कल',
      'बजे',
      'बाद',
      'monday',
      '25',
      'half',
      'after',
      'pm',
    );
    fc.assert(
      fc.property(fc.array(words, { maxLength: 10 }), fc.integer({ min: 0, max: 400 * 86_400_000 }), (said, laterMs) => {
        const wish = readCallBack(said.join(' '), NOW + laterMs, 'America/New_York');
        if (wish?.atMs !== undefined) expect(wish.atMs).toBeGreaterThan(NOW + laterMs);
      }),
    );
  });
});

test.each([
  ['2026-03-03T17:00', "tomorrow at five o'clock in the afternoon", 'कल शाम पाँच बजे'],
  ['2026-03-02T18:30', 'today at half past six in the evening', 'आज शाम साढ़े छह बजे'],
  ['2026-03-06T10:00', "on Friday at ten o'clock in the morning", 'शुक्रवार सुबह दस बजे'],
])('%s is said back as "%s"', (at, english, hindi) => {
  const atMs = momentOf(at, KOLKATA);
  expect(sayCallBack('en', atMs, NOW, KOLKATA)).toBe(english);
  expect(sayCallBack('hi', atMs, NOW, KOLKATA)).toBe(hindi);
});

test.each([
  ['2026-03-08T01:30', 'America/New_York', '2026-03-08T06:30:00.000Z'],
  ['2026-03-08T02:30', 'America/New_York', '2026-03-08T07:30:00.000Z'],
  ['2026-03-08T12:00', 'America/New_York', '2026-03-08T16:00:00.000Z'],
  ['2026-11-01T12:00', 'America/New_York', '2026-11-01T17:00:00.000Z'],
  ['2026-03-02T17:00', 'Asia/Kolkata', '2026-03-02T11:30:00.000Z'],
])('%s in %s is %s', (wall, zone, at) => {
  expect(new Date(momentOf(wall, zone)).toISOString()).toBe(at);
});
