import fc from 'fast-check';
import { expect, it } from 'vitest';
import { measurePeaks } from '../../../src/audio/peaks.ts';
import { wavFile } from '../../../src/audio/wav.ts';

async function* inPieces(file: Uint8Array, lengths: readonly number[]): AsyncIterable<Uint8Array> {
  let at = 0;
  for (let index = 0; at < file.length; index += 1) {
    const length = lengths[index % lengths.length] ?? file.length;
    yield file.subarray(at, at + length);
    at += length;
  }
}

/** The loudest of every 160 samples, counted in the simplest way. */
function counted(pcm: Int16Array, side: 0 | 1): number[] {
  const points = Array.from({ length: Math.ceil(pcm.length / 2 / 160) }, () => 0);
  for (let frame = 0; frame * 2 < pcm.length; frame += 1) {
    const level = Math.min(255, Math.abs(pcm[frame * 2 + side] ?? 0) >> 7);
    points[Math.floor(frame / 160)] = Math.max(points[Math.floor(frame / 160)] ?? 0, level);
  }
  return points;
}

it('finds the loudest sample of each interval on both sides, whatever the pieces', async () => {
  const samples = fc.int16Array({ minLength: 0, maxLength: 2_000 }).map((pcm) => pcm.subarray(0, pcm.length - (pcm.length % 2)));
  const lengths = fc.array(fc.integer({ min: 1, max: 700 }), { minLength: 1, maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(samples, lengths, async (pcm, cuts) => {
      const file = wavFile(pcm, 8_000, 2);
      const { channels, intervalMs } = await measurePeaks(inPieces(file, cuts), file.length);
      expect(intervalMs).toBe(20);
      expect(channels.map((channel) => [...channel])).toEqual([counted(pcm, 0), counted(pcm, 1)]);
    }),
  );
});

it('takes longer intervals for long calls, so that an hour has no more points than a screen can show', async () => {
  // Two hours of nothing, of which the file has only the header.
  const header = wavFile(new Int16Array(0), 8_000, 2);
  const dataBytes = 2 * 3600 * 8_000 * 4;
  new DataView(header.buffer).setUint32(40, dataBytes, true);
  const { durationMs, intervalMs, channels } = await measurePeaks(inPieces(header, [44]), 44 + dataBytes);
  expect([durationMs, intervalMs, channels[0]?.length]).toEqual([7_200_000, 100, 72_000]);
});
