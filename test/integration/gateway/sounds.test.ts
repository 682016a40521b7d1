import { afterAll, beforeAll, expect, it } from 'vitest';
import { rmsLevelDb } from '../../../src/audio/level.ts';
import { sine } from '../../../src/audio/tone.ts';
import { wavFile } from '../../../src/audio/wav.ts';
import { ScriptedCaller } from '../../../src/sim/caller.ts';
import { sayTones } from '../platform/tone-engines.ts';
import { type GatewayBench, startGatewayBench } from './gateway-bench.ts';

let bench: GatewayBench;

beforeAll(async () => {
  bench = await startGatewayBench({
    bot: 'ambience: { room: office, levelDb: -56 }\n',
    files: { 'ding.wav': wavFile(sine(1_000, 1_500, 44_100), 44_100) },
  });
});
afterAll(() => bench[Symbol.asyncDispose]());

const FRAME = 160;

function crossings(pcm: Int16Array): number {
  return pcm.reduce((sum, sample, index) => sum + (index > 0 && pcm[index - 1]! < 0 && sample >= 0 ? 1 : 0), 0);
}

it('a caller hears the room of the bot, a sound of it, and words in place of one that may not be fetched', async () => {
  const call = await bench.dial();
  const session = bench.sessionOf(call);
  await new ScriptedCaller(call.stream).run([
    { kind: 'press', digits: '3' },
    { kind: 'say', text: 'charlie', pcm: sayTones(['charlie'], 8_000).subarray(1_600) },
    { kind: 'wait-for-end' },
  ]);
  const { turns } = await session.ended;
  expect(turns.map(({ botHeardText }) => botHeardText).slice(0, 2)).toEqual([
    'Hello there, please say a word.',
    '[audio ding.wav] Ding dong.',
  ]);
  const { heard } = call.stream.buffer;
  const frames = Array.from({ length: Math.floor(heard.length / FRAME) }, (_, at) =>
    heard.subarray(at * FRAME, (at + 1) * FRAME),
  );
  const dings = frames.filter((frame) => Math.abs(crossings(frame) - 19.5) < 1 && rmsLevelDb(frame) > -30);
  expect(dings.length * 20).toBeGreaterThan(1_300);
  const begun = frames.findIndex((frame) => rmsLevelDb(frame) > -90);
  const pauses = frames
    .slice(begun)
    .map((frame) => rmsLevelDb(frame))
    .filter((level) => level < -42)
    .toSorted((a, b) => a - b);
  expect(pauses.length).toBeGreaterThan(50);
  expect(pauses[Math.floor(pauses.length / 2)]).toBeGreaterThan(-61);
  expect(pauses[Math.floor(pauses.length / 2)]).toBeLessThan(-51);
});
