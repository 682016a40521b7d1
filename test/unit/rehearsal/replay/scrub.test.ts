import { expect, it } from 'vitest';
import { decodeMulaw } from '../../../../src/audio/g711.ts';
import { compareCalls } from '../../../../src/rehearsal/replay/compare.ts';
import { replayCall } from '../../../../src/rehearsal/replay/replay-call.ts';
import type { DialogAction, DialogTurn } from '../../../../src/dialog/port.ts';
import { type CallerAct, parts, recordCall } from './recorded-call.ts';

async function* asksNumber({ input }: DialogTurn): AsyncIterable<DialogAction> {
  if (input.kind === 'start') yield { type: 'say', text: 'Hello, which number?' };
  if (input.kind === 'spoken' || input.kind === 'keyed') {
    yield { type: 'say', text: `So it is ${input.kind === 'spoken' ? input.text : input.digits}, at 9.` };
    yield { type: 'set', variables: { phone: '98765' } };
    yield { type: 'note', text: 'number 98765' };
  }
}

const keys = (digits: string): CallerAct[] => Array.from(digits, (key) => ({ key }));

it('takes every digit out of a call in which a number was said, and the call decides the same without them', async () => {
  const fixture = await recordCall({
    dialog: asksNumber,
    caller: [{ quietMs: 2_000 }, { voiceMs: 900, says: '98765 43210 room 7' }, { quietMs: 4_000 }],
  });
  expect(fixture.digitsMasked).toBe(true);
  const text = JSON.stringify({ ...fixture, callerAudio: 0, botAudio: 0 });
  for (const part of ['98765', '43210', 'room 7', '+1555010000', 'a secret', 'CA1', 'MZ1'])
    expect([part, text.includes(part)]).toEqual([part, false]);
  expect(text.includes('99999 99999 room 9')).toBe(true);
  expect(compareCalls(fixture, await replayCall(fixture, parts)).divergence).toBeUndefined();
});

it('takes keys out that may be a secret, and leaves those of a menu', async () => {
  const pin = await recordCall({
    dialog: asksNumber,
    caller: [{ quietMs: 2_000 }, ...keys('4821#'), { quietMs: 3_000 }],
  });
  expect(JSON.stringify({ ...pin, callerAudio: 0, botAudio: 0 }).includes('4821')).toBe(false);
  expect(pin.log.flatMap((entry) => (entry.k === 'digit' ? [entry.digit] : [])).join('')).toBe('9999#');
  expect(compareCalls(pin, await replayCall(pin, parts)).divergence).toBeUndefined();

  const menu = await recordCall({ dialog: asksNumber, caller: [{ quietMs: 2_000 }, ...keys('2'), { quietMs: 3_000 }] });
  expect(menu.digitsMasked).toBe(false);
  expect(menu.log.flatMap((entry) => (entry.k === 'digit' ? [entry.digit] : []))).toEqual(['2']);
});

it('keeps neither the keys nor the tones of a password', async () => {
  const fixture = await recordCall({
    async *dialog({ input }): AsyncIterable<DialogAction> {
      if (input.kind === 'start') {
        yield { type: 'gather', contract: { kind: 'otp', length: 6 } };
        yield { type: 'say', text: 'Please key in the six digits that we sent to you.' };
      } else yield { type: 'say', text: 'Thank you. That is all.' };
    },
    caller: [
      { voiceMs: 200 },
      { quietMs: 3_000 },
      ...Array.from('730419', (key) => ({ key, toneMs: 100 })),
      { quietMs: 3_000 },
      { voiceMs: 400, says: 'thank you' },
      { quietMs: 2_000 },
    ],
  });
  expect(JSON.stringify({ ...fixture, callerAudio: 0, botAudio: 0 }).includes('730419')).toBe(false);
  expect(fixture.decisions.some(({ type, detail }) => type === 'ask' && detail.includes('999999'))).toBe(true);
  const loudAt = decodeMulaw(fixture.callerAudio).reduce<number[]>(
    (ms, sample, index) => (Math.abs(sample) > 500 ? [...ms, index / 8] : ms),
    [],
  );
  // From the question to the last key there is silence, and then the caller's own voice.
  expect(loudAt.filter((ms) => ms < 6_700)).toEqual([]);
  expect(loudAt.length).toBeGreaterThan(1_000);
  expect(compareCalls(fixture, await replayCall(fixture, parts)).divergence).toBeUndefined();
});

it('takes the digits out of hints too, and the recogniser that was given them hears the same words', async () => {
  const fixture = await recordCall({
    async *dialog(turn) {
      yield* asksNumber(turn);
      yield { type: 'gather', hints: ['room 7', `floor ${turn.index + 1}`] };
    },
    caller: [{ quietMs: 2_000 }, { voiceMs: 900, says: '98765 43210' }, { quietMs: 4_000 }],
    recogniser: (inner) => ({
      capabilities: inner.capabilities,
      open: (options, listener) => Object.assign(inner.open(options, listener), { listenFor: () => undefined }),
    }),
  });
  expect(JSON.stringify(fixture.log)).not.toMatch(/room 7|floor 1/u);
  const { standIns } = await replayCall(fixture, parts);
  expect(standIns).toEqual([]);
});

it('hears the same words in a session that was opened with hints of digits', async () => {
  const fixture = await recordCall({
    async *dialog(turn) {
      yield* asksNumber(turn);
      yield { type: 'gather', contract: { kind: 'choice', options: [{ name: 'a', phrases: ['room 7', 'suite'] }] } };
    },
    caller: [{ quietMs: 2_000 }, { voiceMs: 900, says: '98765 43210' }, { quietMs: 4_000 }],
  });
  expect(fixture.recognitions.flatMap(({ boostPhrases }) => boostPhrases)).toContain('room 9');
  const { standIns } = await replayCall(fixture, parts);
  expect(standIns).toEqual([]);
});
