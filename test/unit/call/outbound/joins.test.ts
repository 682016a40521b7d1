import { expect, it } from 'vitest';
import { encodeMulaw } from '../../../../src/audio/g711.ts';
import { sine } from '../../../../src/audio/tone.ts';
import type { DialogAction, DialogTurn } from '../../../../src/dialog/port.ts';
import { CallBench } from '../call-bench.ts';
import { largestStep } from '../../../support/largest-step.ts';

/**
 * What is heard where one stretch of the bot's voice ends and the next begins. A click is a step that the voice around it does
 * not make: from one sample to the next, or of energy within a millisecond.
 */
const MS = 8;

async function* greeting(turn: DialogTurn): AsyncIterable<DialogAction> {
  if (turn.input.kind === 'start') yield { type: 'say', text: 'Hello, how can I help you today with all of this?' };
}

/** A call whose bot speaks a steady tone, in which nothing hides a step, and is in the middle of its greeting. */
async function speaking(): Promise<CallBench> {
  const bench = new CallBench(greeting);
  // A message of 100 ms ends in the middle of a wave.
  bench.voiceOf = (text) => encodeMulaw(sine(308, text.length * 60, 8_000, 0.3));
  await bench.start();
  return bench.quiet(600);
}

it('goes on after a hold without a click', async () => {
  using bench = await speaking();
  // Noise with a little voice in it holds the bot for so long that the carrier runs dry.
  bench.speechLike = 0;
  await bench.voice(180);
  bench.speechLike = 1;
  await bench.voice(20);
  bench.speechLike = 0;
  await bench.voice(240);
  await bench.quiet(1_500);
  expect(bench.floor()).toEqual(['hold', 'resume']);
  const { heard } = bench.attachment;
  const join = firstJoin(heard, 10_000 * MS);
  const steady = heard.subarray(join + 20 * MS, join + 60 * MS);
  expectSoftOnset(heard, join);
  // A hold lets the carrier run dry, and not at full level.
  const stop = heard.subarray(0, join).findLastIndex((sample) => Math.abs(sample) > 50);
  expect(largestStep(heard.subarray(stop - 2, stop + 3))).toBeLessThanOrEqual(largestStep(steady) * 1.1);
});

it('goes on after a false interruption without a click', async () => {
  using bench = await speaking();
  await bench.says(0, '', 1_500, 400, 660 + 800);
  expect(bench.floor()).toEqual(['hold', 'clear', 'restore']);
  const { heard } = bench.attachment;
  expectSoftOnset(heard, firstJoin(heard, 10_000 * MS));
});

/** A tone that begins at once has all its energy in the first millisecond. */
function expectSoftOnset(heard: Int16Array, join: number): void {
  const steady = heard.subarray(join + 20 * MS, join + 60 * MS);
  expect(largestStep(heard.subarray(join - MS, join + 20 * MS))).toBeLessThanOrEqual(largestStep(steady) * 1.1);
  expect(rms(heard.subarray(join, join + MS))).toBeLessThan(rms(steady) * 0.25);
}

/** First sample with sound in it after a silence of 10 ms that itself follows sound. */
function firstJoin(heard: Int16Array, from: number): number {
  let [sounded, silent] = [false, 0];
  for (const [at, sample] of heard.entries()) {
    if (at < from) continue;
    if (Math.abs(sample) <= 50) silent += 1;
    else if (sounded && silent >= 10 * MS) return at;
    else [sounded, silent] = [true, 0];
  }
  throw new Error('the bot did not fall silent and speak on');
}

function rms(pcm: Int16Array): number {
  return Math.sqrt(pcm.reduce((sum, sample) => sum + sample * sample, 0) / pcm.length);
}
