import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseWav, wavFile } from '../../../../src/audio/wav.ts';
import { quietestFrame, splitWav } from '../../../../src/speech/asr/split-wav.ts';

const RATE_HZ = 8_000;

/** A second of noise with 0.4 s of silence in it, from the given place on. */
function noisy(seconds: number, silentFromS: number): Int16Array {
  const pcm = Int16Array.from({ length: seconds * RATE_HZ }, (_, index) => ((index * 7919) % 8_000) - 4_000);
  return pcm.fill(0, silentFromS * RATE_HZ, (silentFromS + 0.4) * RATE_HZ);
}

async function pcmOf(blob: Blob): Promise<Int16Array> {
  return parseWav(new Uint8Array(await blob.arrayBuffer())).samples[0]!;
}

describe('splitting a long WAV file', () => {
  it('cuts inside the pause [154]', async () => {
    const pcm = noisy(3, 1.2);
    const parts = await splitWav(new Blob([new Uint8Array(wavFile(pcm, RATE_HZ))]), 44 + 2 * 2 * RATE_HZ);
    expect(parts).toHaveLength(2);
    expect(parts[1]!.startS).toBeGreaterThan(1.25);
    expect(parts[1]!.startS).toBeLessThan(1.55);
  });

  it('puts every sample into one part, no part being over the limit', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 40_000 }),
        fc.integer({ min: 2_000, max: 30_000 }),
        fc.integer({ min: 1, max: 2 }),
        async (length, maxBytes, channels) => {
          const pcm = Int16Array.from({ length: length * channels }, (_, index) => (index * 31) % 3_001);
          const file = new Blob([new Uint8Array(wavFile(pcm, RATE_HZ, channels))]);
          const parts = await splitWav(file, maxBytes);
          let at = 0;
          for (const { blob, startS } of parts) {
            expect(blob.size).toBeLessThanOrEqual(maxBytes);
            expect(Math.round(startS * RATE_HZ)).toBe(at);
            for (const [index, sample] of (await pcmOf(blob)).entries())
              if (sample !== pcm[(at + index) * channels]) expect.fail(`sample ${at + index} is another`);
            at += (await pcmOf(blob)).length;
          }
          expect(at).toBe(length);
        },
      ),
      { numRuns: 30 },
    );
  });

  it('finds no quiet place in less audio than one', () => {
    expect(quietestFrame(new Int16Array(100), 160)).toBeUndefined();
  });
});
