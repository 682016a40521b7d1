import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { cutWords, HeardLedger } from '../../../../src/call/outbound/heard-ledger.ts';

function ledgerWith(text: string, audioMs: number): HeardLedger {
  const ledger = new HeardLedger(8_000);
  ledger.queued({ unitId: 'a', turnIndex: 1, text });
  ledger.audio('a', audioMs * 8);
  ledger.complete('a');
  return ledger;
}

describe('what was heard', () => {
  it('is the whole sentence when its last mark came back', () => {
    const ledger = ledgerWith('good morning', 800);
    ledger.played('a', true);
    expect(ledger.sentences()[0]).toMatchObject({
      heardText: 'good morning',
      heard: { sureMs: 800, likelyMs: 800 },
      unheardText: '',
    });
  });

  it('is an interval at an interruption: sure by marks, likely by the clock', () => {
    const ledger = ledgerWith('one two three four', 1_600);
    ledger.cut('a', 450 * 8, 800 * 8);
    const [sentence] = ledger.sentences();
    expect(sentence).toMatchObject({ heard: { sureMs: 450, likelyMs: 800 }, heardText: 'one two', unheardText: 'four' });
    expect(ledger.heardText(1)).toBe('one two three—');
    expect(ledger.wasCut(1)).toBe(true);
  });

  it('has times for the words of a sentence that was cut, and says how far they may be off', () => {
    const ledger = ledgerWith('one two three four', 1_900);
    expect(ledger.sentences()[0]).toMatchObject({ errorMs: 171 });
    expect(ledger.sentences()[0]?.words).toBeUndefined();
    ledger.cut('a', 450 * 8, 800 * 8);
    expect(ledger.sentences()[0]).toMatchObject({
      timing: 'estimated',
      errorMs: 171,
      words: [
        { text: 'one', startMs: 0, endMs: 400 },
        { text: 'two', startMs: 400, endMs: 800 },
        { text: 'three', startMs: 800, endMs: 1_400 },
        { text: 'four', startMs: 1_400, endMs: 1_900 },
      ],
    });
    ledger.played('a', true);
    expect(ledger.sentences()[0]).toMatchObject({ errorMs: 0 });
    // How long it would have been nobody knows.
    const early = new HeardLedger(8_000);
    early.queued({ unitId: 'b', turnIndex: 1, text: 'one two three four' });
    early.audio('b', 200 * 8);
    early.cut('b', 0, 100 * 8);
    expect(early.sentences()[0]?.errorMs).toBe(591);
  });

  it('is nothing while the sentence waits, and nothing of a sentence that never started', () => {
    const ledger = ledgerWith('good morning', 800);
    expect(ledger.heardText(1)).toBe('');
    ledger.cut('a', 0, 0);
    expect(ledger.heardText(1)).toBe('');
    expect(ledger.sentText(1)).toBe('good morning');
  });

  it('is written on when a cut sentence is spoken to its end after all', () => {
    const ledger = ledgerWith('good morning', 800);
    ledger.cut('a', 0, 300 * 8);
    ledger.played('a', true);
    expect(ledger.heardText(1)).toBe('good morning');
    expect(ledger.wasCut(1)).toBe(false);
  });

  it.each([
    { note: 'nothing of a sentence that could not be spoken', audioMs: 0, heard: '', unheard: 'one two three four' },
    { note: 'the beginning of one whose sound broke off', audioMs: 560, heard: 'one two', unheard: 'three four' },
  ])('is $note', ({ audioMs, heard, unheard }) => {
    const ledger = new HeardLedger(8_000);
    ledger.queued({ unitId: 'a', turnIndex: 1, text: 'one two three four' });
    ledger.audio('a', audioMs * 8);
    ledger.broken('a');
    ledger.played('a', true);
    expect(ledger.sentences()[0]).toMatchObject({ heardText: heard, unheardText: unheard });
    expect(ledger.heardText(1)).toBe(heard);
    expect(ledger.wasCut(1)).toBe(false);
  });

  it('is an estimate alone where the carrier has no marks', () => {
    const ledger = ledgerWith('good morning', 800);
    ledger.played('a', false);
    expect(ledger.sentences()[0]).toMatchObject({ heardText: 'good morning', heard: { sureMs: 0, likelyMs: 800 } });
  });

  it('is never taken back once it was played', () => {
    const ledger = ledgerWith('good morning', 800);
    ledger.played('a', true);
    ledger.cut('a', 0, 0);
    expect(ledger.heardText(1)).toBe('good morning');
  });

  it('uses the usual speaking rate while the length of a sentence is not known', () => {
    const ledger = new HeardLedger(8_000);
    ledger.queued({ unitId: 'a', turnIndex: 0, text: 'x'.repeat(13) + ' ' + 'y'.repeat(14) });
    ledger.audio('a', 400 * 8);
    ledger.cut('a', 0, 400 * 8);
    expect(ledger.heardText(0)).toBe(`${'x'.repeat(13)}—`);
  });
});

test.each([
  { share: 0, heard: '', half: undefined, rest: 'one two three' },
  { share: 0.5, heard: 'one', half: 'two', rest: 'three' },
  { share: 1, heard: 'one two three', half: undefined, rest: '' },
  { share: 2, heard: 'one two three', half: undefined, rest: '' },
])('after $share of the sound "$heard" was heard', ({ share, heard, half, rest }) => {
  expect(cutWords('one two three', share)).toEqual({ heardText: heard, halfHeardWord: half, unheardText: rest });
});

it('cuts any text so that no word is lost, repeated or out of place', () => {
  fc.assert(
    fc.property(
      fc.array(fc.stringMatching(/^[a-zक-ह]{1,12}$/u), { minLength: 1, maxLength: 12 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (words, share) => {
        const { heardText, halfHeardWord, unheardText } = cutWords(words.join(' '), share);
        const parts = [heardText, halfHeardWord ?? '', unheardText].filter((part) => part !== '');
        expect(parts.join(' ')).toBe(words.join(' '));
      },
    ),
  );
});
