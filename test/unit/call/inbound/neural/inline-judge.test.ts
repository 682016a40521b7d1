import { expect, it } from 'vitest';
import { inlineJudge } from '../../../../../src/call/inbound/neural/inline-judge.ts';
import { compareCalls } from '../../../../../src/rehearsal/replay/compare.ts';
import { replayCall } from '../../../../../src/rehearsal/replay/replay-call.ts';
import { parts, recordCall } from '../../../rehearsal/replay/recorded-call.ts';

/** A network that finds every frame as likely, and remembers how many lines are open. */
function sure(likelihood: number) {
  const lines = { open: 0, opened: 0 };
  const model = {
    open() {
      lines.open += 1;
      lines.opened += 1;
      return { judge: () => likelihood, close: () => void (lines.open -= 1) };
    },
  };
  return { lines, model };
}

it('answers a frame when the next one comes, or as many frames later as it is told', () => {
  for (const late of [1, 3]) {
    const line = inlineJudge(sure(0.4).model, late).open();
    const answers = Array.from({ length: 6 }, () => {
      line.write(new Int16Array(160));
      const now: (number | 'none')[] = [];
      for (let answer = line.read(); answer !== undefined; answer = line.read()) now.push(answer);
      return now.length;
    });
    expect(answers).toEqual(Array.from({ length: 6 }, (_, frame) => (frame < late ? 0 : 1)));
  }
});

it('lets a call that was kept be run again as if its bot had had the neural detector', async () => {
  const fixture = await recordCall({
    dialog: async function* ({ input }) {
      if (input.kind === 'start') yield { type: 'say', text: 'Hello, how can I help you today? Please speak after the tone.' };
    },
    caller: [{ quietMs: 1_000 }, { voiceMs: 900, says: 'no wednesday' }, { quietMs: 3_000 }],
  });
  const again = async (likelihood: number, detector: 'energy' | 'neural') => {
    const { lines, model } = sure(likelihood);
    const withJudge = { ...parts, speechJudge: inlineJudge(model) };
    const report = compareCalls(fixture, await replayCall(fixture, withJudge, { bot: (bot) => ({ ...bot, detector }) }));
    return { divergence: report.divergence, ...lines };
  };
  // Neither denied nor confirmed: the built-in detector's word stands.
  expect(await again(0.4, 'neural')).toEqual({ divergence: undefined, open: 0, opened: 1 });
  expect(await again(0.05, 'energy')).toEqual({ divergence: undefined, open: 0, opened: 0 });
  const denied = await again(0.05, 'neural');
  expect(denied.divergence?.was?.type).toBe('clear');
  expect(denied.divergence?.is?.type).not.toBe('clear');
});
