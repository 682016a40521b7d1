import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { joinSamples } from '../../../../../src/audio/samples.ts';
import { sine } from '../../../../../src/audio/tone.ts';
import { cough } from '../../../../../src/sim/caller/cough.ts';
import { systemClock } from '../../../../../src/kernel/clock.ts';
import { RecognitionThread } from '../../../../../src/platform/engines/models/recognition-thread.ts';
import { SegmentModel } from '../../../../../src/platform/engines/models/segment-model.ts';
import type { OfflineStream } from '../../../../../src/platform/engines/models/sherpa.ts';

const RATE_HZ = 16_000;

/** Answers each segment with its length, in tenths of a second. */
function measuringModel(longestS?: number): SegmentModel {
  const lengths = new WeakMap<OfflineStream, number>();
  const recognizer = {
    createStream: (): OfflineStream => {
      const stream: OfflineStream = { acceptWaveform: ({ samples }) => void lengths.set(stream, samples.length) };
      return stream;
    },
    decode: () => undefined,
    getResult: (stream: OfflineStream) => ({ text: ((lengths.get(stream) ?? 0) / RATE_HZ).toFixed(1) }),
  };
  return new SegmentModel({ languages: ['en'] }, recognizer, systemClock, longestS === undefined ? {} : { longestS });
}

/** Lengths of the segments of one turn, in seconds. */
async function segmentsOf(model: SegmentModel, pcm: Int16Array): Promise<readonly number[]> {
  const thread = new RecognitionThread([{ languages: ['en'], model }], systemClock, () => undefined);
  const failures: unknown[] = [];
  const outputs = { emit: () => undefined, fail: (error: unknown) => void failures.push(error) };
  const session = thread.open({ language: 'en', rateHz: 8_000, boostPhrases: [] }, outputs);
  for (let at = 0; at < pcm.length; at += 160) {
    session.push(pcm.subarray(at, at + 160));
    while (thread.turn());
  }
  const answer = Promise.resolve(session.commit());
  const waiting = { isOver: false };
  void answer.finally(() => (waiting.isOver = true));
  while (!waiting.isOver) {
    thread.turn();
    await setImmediate();
  }
  expect(failures).toEqual([]);
  const results = await answer;
  return results.flatMap(({ text }) => (text === '' ? [] : text.split(' ').map(Number)));
}

const voice = (ms: number, level = 0.3): Int16Array => sine(300, ms, 8_000, level);

describe('a segment that gets longer than its model decodes', () => {
  it('is cut where the voice is quietest, and loses nothing', async () => {
    // Half as loud for a tenth of a second: no pause, so the gate stays open.
    const spoken = joinSamples([voice(6_500), voice(100, 0.02), voice(6_400), voice(100, 0.02), voice(2_900)]);
    const lengths = await segmentsOf(measuringModel(8), spoken);
    expect(lengths).toHaveLength(3);
    expect(lengths[0]).toBeCloseTo(6.5, 0);
    expect(lengths[1]).toBeCloseTo(6.5, 0);
    const heardS = lengths.reduce((sum, each) => sum + each, 0);
    expect(Math.abs(heardS - spoken.length / 8_000)).toBeLessThan(0.5);
    for (const length of lengths) expect(length).toBeLessThanOrEqual(8);
  });

  it('leaves nothing to decode of the silence after the voice', async () => {
    const spoken = joinSamples([new Int16Array(8_000), voice(7_300), new Int16Array(8_000)]);
    expect(await segmentsOf(measuringModel(8), spoken)).toEqual([expect.closeTo(8, 0)]);
  });

  it('stays whole up to 28 s for a model without a limit of its own', async () => {
    const spoken = voice(20_000);
    expect(await segmentsOf(measuringModel(), spoken)).toHaveLength(1);
  });
});

describe('a short sound', () => {
  it('is not decoded when it has no pitch, as a cough has none', async () => {
    const around = (pcm: Int16Array): Int16Array => joinSamples([new Int16Array(8_000), pcm, new Int16Array(8_000)]);
    for (const seed of [1, 2, 3, 4, 5]) expect(await segmentsOf(measuringModel(), around(cough(300, seed)))).toEqual([]);
    expect(await segmentsOf(measuringModel(), around(voice(200)))).toHaveLength(1);
  });

  it('is followed by silence up to half a second, since models fail with less than some frames', async () => {
    const [heardS] = await segmentsOf(measuringModel(), voice(120));
    expect(heardS).toBe(0.5);
  });
});
