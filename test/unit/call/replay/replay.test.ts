import { describe, expect, it } from 'vitest';
import { compareCalls } from '../../../../src/call/replay/compare.ts';
import type { CallFixture } from '../../../../src/call/replay/fixture.ts';
import { decodeFixture, encodeFixture } from '../../../../src/call/replay/fixture-file.ts';
import { replayCall, type ReplayChange } from '../../../../src/call/replay/replay-call.ts';
import type { DialogAction, DialogTurn } from '../../../../src/dialog/port.ts';
import { parts, recordCall, type Script } from './recorded-call.ts';

async function* parrot({ input }: DialogTurn): AsyncIterable<DialogAction> {
  if (input.kind === 'start') yield { type: 'say', text: 'Hello, how can I help you today? Please speak after the tone.' };
  else if (input.kind === 'spoken') {
    yield { type: 'say', text: `You said ${input.text}. That is a good thing to say.` };
    yield { type: 'gather', noInputMs: 3_000 };
  } else if (input.kind === 'keyed') yield { type: 'say', text: `You pressed ${input.digits}.` };
  else yield { type: 'say', text: 'Are you there?' };
  if (input.kind === 'keyed' && input.digits === '7') yield { type: 'hangup', reason: 'pressed seven' };
}

const script: Script = {
  dialog: parrot,
  caller: [
    { quietMs: 5_000 },
    { voiceMs: 700, says: 'next tuesday please' },
    { quietMs: 2_200 },
    // A cough, then an interruption.
    { voiceMs: 80 },
    { quietMs: 1_200 },
    { voiceMs: 900, says: 'no wednesday' },
    { quietMs: 8_000 },
    { key: '4' },
    { key: '2' },
    { quietMs: 6_000 },
    { key: '7' },
    { quietMs: 4_000 },
  ],
};

async function replay(fixture: CallFixture, change: ReplayChange = {}) {
  return compareCalls(fixture, await replayCall(fixture, parts, change));
}

describe('a call that is kept and run again', () => {
  it('decides the same at the same moments, as often as it is run', async () => {
    for (const seed of [1, 2]) {
      const fixture = await recordCall({ ...script, seed, jitterMs: 11 });
      expect(fixture.decisions.map(({ type }) => type)).toEqual(
        expect.arrayContaining(['ask', 'speak', 'reply', 'hold', 'resume', 'clear', 'commit', 'end']),
      );
      for (let time = 0; time < 2; time += 1) {
        const report = await replay(fixture);
        expect(report.divergence).toBeUndefined();
        expect(report.standIns).toEqual([]);
        expect(
          report.turns.every(({ standing, was, is }) => standing === 'equal' && JSON.stringify(was) === JSON.stringify(is)),
        ).toBe(true);
      }
    }
  });

  it('decides the same when it was read back from a file', async () => {
    const fixture = await recordCall(script);
    const read = await decodeFixture(await encodeFixture(fixture), 0);
    expect((await replay(read)).divergence).toBeUndefined();
  });
});
