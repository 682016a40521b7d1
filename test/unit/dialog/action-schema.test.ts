import { describe, expect, it } from 'vitest';
import { DialogAnswerError, parseAction } from '../../../src/dialog/action-schema.ts';

describe('a sound', () => {
  it('is accepted in the form of the documents', () => {
    const play = { type: 'play', source: 'a.wav', text: 'Ding.', loop: 3, preemptible: true, interruptible: 'keypad' };
    expect(parseAction(play)).toEqual(play);
    expect(parseAction({ type: 'play', source: 'https://example.org/a.wav' })).toEqual({
      type: 'play',
      source: 'https://example.org/a.wav',
    });
  });

  it.each([{ source: '' }, {}, { source: 'a.wav', loop: 0 }, { source: 'a.wav', loop: 1_001 }])('is refused: %j', (play) => {
    expect(() => parseAction({ type: 'play', ...play })).toThrow(DialogAnswerError);
  });
});

describe('the contract of a gather', () => {
  it('is accepted in the form of the documents', () => {
    const gather = { type: 'gather', contract: { kind: 'digits', length: 6, check: 'luhn', readBack: 'always' } };
    expect(parseAction(gather)).toEqual(gather);
    expect(parseAction({ type: 'gather', contract: { kind: 'otp' } })).toEqual({
      type: 'gather',
      contract: { kind: 'otp', length: 6 },
    });
  });

  it.each([{ kind: 'digits', length: 0 }, { kind: 'number' }, { kind: 'code', pattern: 'a' }, 'phone'])(
    'is refused: %j',
    (contract) => {
      expect(() => parseAction({ type: 'gather', contract })).toThrow(DialogAnswerError);
      expect(() => parseAction({ type: 'gather', contract })).toThrow(/contract/);
    },
  );
});

describe('a wish for a call', () => {
  it.each(['2026-03-05T17:00', '2026-03-05T17:00:00+05:30', '2026-03-05T11:30Z'])('is accepted at %s', (at) => {
    expect(parseAction({ type: 'call-back', at })).toEqual({ type: 'call-back', at });
    expect(parseAction({ type: 'call-back' })).toEqual({ type: 'call-back' });
  });

  it.each(['tomorrow at five', '2026-03-05', '17:00', ''])('is refused at "%s", with what is accepted', (at) => {
    expect(() => parseAction({ type: 'call-back', at })).toThrow(/2026-03-05T17:00 \(the person's own time\)/u);
  });
});
