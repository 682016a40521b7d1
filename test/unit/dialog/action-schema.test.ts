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
