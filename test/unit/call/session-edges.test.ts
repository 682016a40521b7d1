import { expect, it } from 'vitest';
import { decodeMulaw } from '../../../src/audio/g711.ts';
import type { DialogAction, DialogTurn } from '../../../src/dialog/port.ts';
import { CallBench } from './call-bench.ts';

/** Greets, and repeats what was said. */
async function* parrot(turn: DialogTurn): AsyncIterable<DialogAction> {
  if (turn.input.kind === 'start') yield { type: 'say', text: 'Hello, how can I help you today?' };
  if (turn.input.kind === 'spoken') yield { type: 'say', text: `You said ${turn.input.text}.` };
  if (turn.input.kind === 'keyed') yield { type: 'say', text: `You pressed ${turn.input.digits}.` };
  if (turn.input.kind === 'no-input') yield { type: 'say', text: 'Are you there?' };
}

/** The greeting: 32 characters of 60 ms each, which start with the first frame. */
const GREETING_MS = 1_920;

it('speaks its next reply although the caller began in the last moment of the one before', async () => {
  using bench = new CallBench(parrot);
  await bench.start(GREETING_MS - 160);
  expect(bench.attachment.playing).toBe(true);
  await bench.voice(100);
  expect(bench.floor()).toEqual(['hold']);
  expect(bench.attachment.playing).toBe(false);
  await bench.says(0, 'tuesday', 0, 500);
  const before = bench.attachment.sentSamples;
  await bench.quiet(400);
  expect(bench.asked).toHaveLength(2);
  expect(bench.attachment.sentSamples).toBeGreaterThan(before);
});

it('listens on, and asks again in time, when an interruption with a filler in it was nothing', async () => {
  using bench = new CallBench(parrot);
  await bench.start(600);
  await bench.voice(400);
  await bench.quiet(660 + 800);
  await bench.voice(100);
  await bench.quiet(660);
  bench.recognised(0, '').recognised(1, '');
  await bench.quiet(9_000);
  expect(bench.floor()).toEqual(['hold', 'clear', 'restore']);
  expect(bench.asked.map(({ input }) => input.kind)).toEqual(['start', 'no-input']);
});

it.each([60, 140, 300])(
  'lets a caller who has spoken for %i ms have the floor although a stall keeps the rest back',
  async (beforeMs) => {
    using bench = new CallBench(parrot);
    await bench.start(600);
    await bench.voice(beforeMs);
    // Ticks come, and what the caller says waits in the socket.
    await bench.wait(200);
    const voice = decodeMulaw(Uint8Array.from({ length: 160 }, (_, index) => (index % 40 < 20 ? 0x20 : 0xa0)));
    for (let frame = 0; frame < 10; frame += 1) bench.attachment.emit({ type: 'audio', pcm: voice, timestampMs: undefined });
    await bench.voice(200);
    expect(bench.floor()).toEqual(['hold', 'clear']);
  },
);

it('says its "one moment" beside what the dialog says in parts, and cuts none of that in two', async () => {
  using bench: CallBench = new CallBench(async function* ({ input }) {
    if (input.kind === 'start') return yield { type: 'say', text: 'Hello.' };
    yield { type: 'say', text: 'Your reserv', more: true };
    await new Promise<void>((resolve) => bench.clock.after(2_000, resolve));
    yield { type: 'say', text: 'ation is for Tuesday at ten.', more: true };
  });
  await bench.start(1_000);
  await bench.says(0, 'tuesday', 7_000);
  const { sentences } = await bench.hangUp('done');
  expect(sentences.map(({ text }) => text)).toEqual(['Hello.', 'One moment, please.', 'Your reservation is for Tuesday at ten.']);
});

it('takes a yes over the end of a question for its answer, and over a statement for listening', async () => {
  for (const [text, answered] of [
    ['Would you like me to book that for you?', true],
    ['I will now book that for you, as you said.', false],
  ] as const) {
    using bench = new CallBench(async function* ({ input }) {
      yield { type: 'say', text: input.kind === 'start' ? text : 'Booked.' };
    });
    await bench.start(text.length * 60 - 500);
    await bench.voice(340);
    bench.partial(0, 'yes');
    await bench.quiet(660);
    bench.recognised(0, 'yes');
    await bench.quiet(300);
    expect(bench.asked.some(({ input }) => input.kind === 'spoken' && input.text === 'yes')).toBe(answered);
  }
});

it('tells the dialog the carrier’s own id of the call', async () => {
  using bench = new CallBench(async function* () {
    yield { type: 'say', text: 'Hello.' };
  });
  await bench.start();
  expect(bench.asked[0]?.call).toMatchObject({ callId: 'call_bench', carrierCallId: 'CA1' });
  await bench.hangUp('done');
});
