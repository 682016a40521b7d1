import { expect, it } from 'vitest';
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
  await bench.start();
  await bench.quiet(GREETING_MS - 160);
  expect(bench.attachment.playing).toBe(true);
  await bench.voice(100);
  expect(bench.floor()).toEqual(['hold']);
  expect(bench.attachment.playing).toBe(false);
  await bench.voice(500);
  await bench.quiet(660);
  bench.recognised(0, 'tuesday');
  const before = bench.attachment.sentBytes;
  await bench.quiet(400);
  expect(bench.asked).toHaveLength(2);
  expect(bench.attachment.sentBytes).toBeGreaterThan(before);
});

it('listens on, and asks again in time, when an interruption with a filler in it was nothing', async () => {
  using bench = new CallBench(parrot);
  await bench.start();
  await bench.quiet(600);
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
    await bench.start();
    await bench.quiet(600);
    await bench.voice(beforeMs);
    // Ticks come, and what the caller says waits in the socket.
    await bench.wait(200);
    const voice = Uint8Array.from({ length: 160 }, (_, index) => (index % 40 < 20 ? 0x20 : 0xa0));
    for (let frame = 0; frame < 10; frame += 1) bench.attachment.emit({ type: 'audio', payload: voice, timestampMs: undefined });
    await bench.voice(200);
    expect(bench.floor()).toEqual(['hold', 'clear']);
  },
);
