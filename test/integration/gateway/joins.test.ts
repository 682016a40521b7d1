import { afterAll, beforeAll, expect, it } from 'vitest';
import { noise, seededRandom, sine } from '../../../src/audio/tone.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { silentLogger } from '../../../src/observability/logger.ts';
import { startSynthesizer } from '../../../src/platform/engines/synth/synthesizer.ts';
import { type CallerStep, ScriptedCaller } from '../../../src/sim/caller.ts';
import { sayTones, ToneRecogniser } from '../platform/tone-engines.ts';
import { type GatewayBench, startGatewayBench } from './gateway-bench.ts';

/**
 * What is heard where one stretch of the bot's voice ends and the next begins, measured on the carrier's playout buffer.
 * A click is a step that the voice around it does not make: from one sample to the next, or of energy within a
 * millisecond.
 */
const MS = 8;

/** Speaks a steady tone, in which nothing hides a step. */
let tones: GatewayBench;
/** Speaks as the embedded platform does. */
let voices: GatewayBench;
let synthesis: Awaited<ReturnType<typeof startSynthesizer>>;

beforeAll(async () => {
  tones = await startGatewayBench();
  synthesis = await startSynthesizer({ clock: systemClock, logger: silentLogger });
  voices = await startGatewayBench({ platform: { engines: { recognition: new ToneRecogniser(), synthesis } } });
});
afterAll(async () => {
  await tones[Symbol.asyncDispose]();
  await voices[Symbol.asyncDispose]();
  await synthesis[Symbol.asyncDispose]();
});

const alpha: CallerStep = { kind: 'say', text: 'alpha', pcm: sayTones(['alpha'], 8_000).subarray(1_600) };
const charlie: CallerStep = { kind: 'say', text: 'charlie', pcm: sayTones(['charlie'], 8_000).subarray(1_600) };

const random = seededRandom(5);
const rattle = Int16Array.of(...noise(180, 8_000, 0.2, random), ...sine(200, 20, 8_000, 0.2), ...noise(250, 8_000, 0.2, random));

it.concurrent.each([
  // Noise with a little voice in it holds the bot for so long that the carrier runs dry; a hum takes the floor and turns out to
  // be no word.
  ['goes on after a hold', 'resume', rattle],
  ['goes on after a false interruption', 'restore', sine(600, 300, 8_000, 0.2)],
] as const)('the bot %s without a click', async (_what, expected, pcm) => {
  const call = await tones.dial();
  const session = tones.sessionOf(call);
  const caller = new ScriptedCaller(call.stream);
  const reports = await caller.run([alpha, { kind: 'cough', pcm, afterMs: 1_000 }, charlie, { kind: 'wait-for-end' }]);
  const record = await session.ended;
  expect(record.turns.map(({ callerText }) => callerText)).toEqual(['', 'alpha', 'charlie']);
  const floor = tones.news.flatMap((item) => (item.type === 'floor' && item.callId === session.id ? [item.what] : []));
  expect(floor).toContain(expected);

  const { heard } = call.stream.buffer;
  const join = firstJoin(heard, reports[1]!.atMs * MS);
  const steady = heard.subarray(join + 20 * MS, join + 60 * MS);
  const onset = heard.subarray(join - MS, join + 20 * MS);
  expect(largestStep(onset)).toBeLessThanOrEqual(largestStep(steady) * 1.1);
  // A hold lets the carrier run dry, and not at full level. A clear cuts at the carrier, where nothing can fade.
  if (expected === 'resume') {
    const stop = heard.subarray(0, join).findLastIndex((sample) => Math.abs(sample) > 50);
    expect(largestStep(heard.subarray(stop - 2, stop + 3))).toBeLessThanOrEqual(largestStep(steady) * 1.1);
  }
  // A tone that begins at once has all its energy in the first millisecond.
  expect(rms(heard.subarray(join, join + MS))).toBeLessThan(rms(steady) * 0.25);
});

it.concurrent('one sentence follows another without a click', async () => {
  const call = await voices.dial();
  const session = voices.sessionOf(call);
  await new ScriptedCaller(call.stream).run([{ kind: 'press', digits: '9' }, charlie, { kind: 'wait-for-end' }]);
  const { sentences } = await session.ended;
  expect(sentences.length).toBeGreaterThanOrEqual(5);
  const { heard, markSamples } = call.stream.buffer;
  const ends = [...markSamples].flatMap(([name, sample]) => (name.endsWith('.end') ? [sample] : []));
  expect(ends).toHaveLength(sentences.length);
  for (const end of ends) {
    const join = heard.subarray(end - 5 * MS, end + 5 * MS);
    const around = heard.subarray(Math.max(0, end - 600 * MS), end + 600 * MS);
    expect(largestStep(join)).toBeLessThanOrEqual(largestStep(around) * 0.5);
  }
  expect(call.stream.buffer.underruns).toEqual([]);
});

/** First sample with sound in it after a silence of 10 ms that itself follows sound. */
function firstJoin(heard: Int16Array, from: number): number {
  const isSound = (at: number): boolean => Math.abs(heard[at]!) > 50;
  for (let at = Math.round(from), silent = 0; at < heard.length; at += 1) {
    if (!isSound(at)) silent += 1;
    else if (silent >= 10 * MS) return at;
    else silent = 0;
  }
  throw new Error('the bot did not fall silent and speak on');
}

function largestStep(pcm: Int16Array): number {
  let largest = 0;
  for (let at = 1; at < pcm.length; at += 1) largest = Math.max(largest, Math.abs(pcm[at]! - pcm[at - 1]!));
  return largest;
}

function rms(pcm: Int16Array): number {
  return Math.sqrt(pcm.reduce((sum, sample) => sum + sample * sample, 0) / pcm.length);
}
