import { expect, it } from 'vitest';
import type { DialogAction, DialogTurn } from '../../../src/dialog/port.ts';
import { sleep } from '../../../src/kernel/waiting.ts';
import { CallBench } from './call-bench.ts';

type Kind = 'optional' | 'empty';

/** Greets, answers words, and leaves keys without an answer: at once, or after the eight seconds that an answer could have taken. */
function dialog(kind: Kind, bench: () => CallBench) {
  return async function* answer({ input }: DialogTurn, signal: AbortSignal): AsyncIterable<DialogAction> {
    if (input.kind === 'start') yield { type: 'say', text: 'Hello.' };
    if (input.kind === 'spoken') yield { type: 'say', text: `You said ${input.text}.` };
    if (input.kind === 'no-input') yield { type: 'say', text: 'Are you there?' };
    if (input.kind !== 'keyed' || kind === 'empty') return;
    yield { type: 'listen' };
    await sleep(bench().clock, 8_000, signal);
  };
}

async function started(kind: Kind): Promise<CallBench> {
  const bench: CallBench = new CallBench(dialog(kind, () => bench));
  await bench.start();
  return bench.quiet(2_000);
}

async function press(bench: CallBench, digit: string): Promise<void> {
  bench.attachment.emit({ type: 'digit', digit });
  // Longer than the pause that ends the keys.
  await bench.quiet(3_000);
}

const texts = async (bench: CallBench): Promise<readonly string[]> => {
  return (await bench.hangUp('done')).sentences.map(({ text }) => text);
};

it.each<Kind>(['optional', 'empty'])(
  'says neither "One moment" nor an apology to keys that nothing answers (%s)',
  async (kind) => {
    using bench = await started(kind);
    for (const digit of '4271') await press(bench, digit);
    const record = bench.session;
    expect(bench.asked.map(({ input }) => input.kind)).toEqual(['start', 'keyed', 'keyed', 'keyed', 'keyed']);
    expect(await texts(bench)).toEqual(['Hello.']);
    const { timeline } = await record.ended;
    expect(timeline.filter(({ type }) => type === 'filler' || type === 'problem')).toEqual([]);
  },
);

it('hears the caller, who speaks while an answer to keys might still come', async () => {
  using bench = await started('optional');
  await press(bench, '4');
  await bench.voice(600);
  await bench.quiet(660);
  await bench.recognised(0, 'tuesday').settle();
  await bench.quiet(2_000);
  expect(await texts(bench)).toEqual(['Hello.', 'You said tuesday.']);
});

it('asks whether the caller is there as if they had the floor since the keys', async () => {
  using bench = await started('optional');
  const before = bench.asked.length;
  await press(bench, '4');
  const keyedMs = bench.clock.nowMs();
  while (!bench.asked.slice(before).some(({ input }) => input.kind === 'no-input')) await bench.quiet(100);
  expect(bench.clock.nowMs() - keyedMs).toBeLessThan(8_500);
});

it('speaks an answer to keys that comes late', async () => {
  using bench: CallBench = new CallBench(async function* (turn, signal) {
    if (turn.input.kind === 'start') yield { type: 'say', text: 'Hello.' };
    if (turn.input.kind !== 'keyed') return;
    yield { type: 'listen' };
    await sleep(bench.clock, 4_000, signal);
    yield { type: 'say', text: 'You pressed four.' };
  });
  await bench.start(2_000);
  await press(bench, '4');
  await bench.quiet(5_000);
  expect(bench.asked).toHaveLength(2);
  expect(await texts(bench)).toEqual(['Hello.', 'You pressed four.']);
});

it('hangs up behind words that a bot had not finished when it ended the call', async () => {
  using bench = new CallBench(async function* ({ input }) {
    if (input.kind !== 'start') return;
    yield { type: 'say', text: 'Thank you. Good', more: true };
    yield { type: 'say', text: 'bye', more: true };
    yield { type: 'hangup', reason: 'the bot ended the call' };
  });
  await bench.start(6_000);
  const { endReason, turns } = await bench.session.ended;
  expect([endReason, turns[0]?.botHeardText]).toEqual(['the bot ended the call', 'Thank you. Goodbye']);
});
