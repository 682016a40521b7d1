import { describe, expect, it } from 'vitest';
import type { DialogAction, DialogTurn } from '../../../src/dialog/port.ts';
import { CallBench } from './call-bench.ts';

/** Greets, and repeats what was said. */
async function* parrot(turn: DialogTurn): AsyncIterable<DialogAction> {
  if (turn.input.kind === 'start') yield { type: 'say', text: 'Hello, how can I help you today?' };
  if (turn.input.kind === 'spoken') yield { type: 'say', text: `You said ${turn.input.text}.` };
}

/** After the greeting, which takes 1.92 s. */
async function greeted(): Promise<CallBench> {
  const bench = await new CallBench(parrot).start();
  return bench.quiet(2_500);
}

describe('a caller who talks over the bot while the process stalls', () => {
  it('is not answered by a bot that speaks on, whatever frame the line begins with again', async () => {
    using bench = await new CallBench(parrot).start();
    await bench.quiet(600);
    await bench.voice(160);
    expect(bench.floor()).toEqual(['hold', 'clear']);
    for (let stall = 0; stall < 2; stall += 1) {
      await bench.wait(200);
      await bench.burst('.vvvvvvvvv');
    }
    await bench.voice(400);
    expect(bench.floor()).toEqual(['hold', 'clear']);
  });

  it('is still let alone when all they did was to cough', async () => {
    using bench = await new CallBench(parrot).start();
    await bench.quiet(600);
    await bench.voice(160);
    await bench.wait(200);
    await bench.burst('..........');
    await bench.quiet(200);
    expect(bench.floor()).toEqual(['hold', 'clear', 'restore']);
  });
});

describe('a caller whose last words come out of a stall', () => {
  it.each([
    ['ends in the stall', 'vvvvv.....', 100],
    ['ends with it', 'vvvvvvvvvv', 0],
    ['began to end before it', '..........', 200],
  ])('is answered as soon as the silence is long enough: one that %s', async (_, burst, quietMs) => {
    using bench = await greeted();
    await bench.voice(600);
    await bench.wait(200);
    await bench.burst(burst);
    await bench.quiet(580 - quietMs);
    expect(bench.commits).toBe(0);
    await bench.quiet(20);
    expect(bench.commits).toBe(1);
  });

  it('is answered at once when all of the silence had to wait', async () => {
    using bench = await greeted();
    await bench.voice(600);
    await bench.quiet(200);
    await bench.wait(460);
    expect(bench.commits).toBe(0);
    await bench.burst('.'.repeat(23));
    expect(bench.commits).toBe(1);
  });
});

it('answers both sentences of a caller who spoke again while the process stalled', async () => {
  using bench = await greeted();
  await bench.voice(600);
  // The tick ends the turn, and the frames that waited say that the caller has begun anew since.
  await bench.quiet(620);
  await bench.wait(400);
  await bench.burst('..........vvvvvvvvvv');
  bench.recognised(0, 'on tuesday');
  await bench.says(1, 'at ten', 200, 600, 700);
  expect(bench.asked.at(-1)?.input).toMatchObject({ kind: 'spoken', text: 'on tuesday at ten' });
  expect(bench.asked.filter(({ input }) => input.kind === 'spoken').map(({ index }) => index)).toEqual([1]);
});

describe('a line that comes to be behind for good', () => {
  it.each([100, 200, 300, 400])('by %i ms has nobody interrupted', async (behindMs) => {
    using bench = await greeted();
    await bench.voice(600);
    await bench.wait(behindMs);
    await bench.voice(4_000);
    expect(bench.commits).toBe(0);
  });

  it.each([100, 200, 300, 400])('by %i ms has the end of what is said noticed in time', async (behindMs) => {
    using bench = await greeted();
    await bench.voice(600);
    await bench.wait(behindMs);
    await bench.voice(100);
    await bench.quiet(500);
    expect(bench.commits).toBe(0);
    await bench.quiet(100);
    expect(bench.commits).toBe(1);
    bench.recognised(0, 'tuesday');
    await bench.quiet(400);
    expect(bench.asked.map(({ input }) => input.kind)).toEqual(['start', 'spoken']);
  });

  it.each([100, 200])('by %i ms has a caller who goes on right after their turn was committed be heard', async (behindMs) => {
    using bench = await greeted();
    await bench.voice(600);
    await bench.wait(behindMs);
    await bench.voice(100);
    while (bench.commits === 0) await bench.quiet(20);
    await bench.voice(400);
    bench.recognised(0, 'tuesday');
    await bench.voice(200);
    expect(bench.asked).toHaveLength(1);
    await bench.quiet(700);
    expect(bench.commits).toBe(2);
  });
});
