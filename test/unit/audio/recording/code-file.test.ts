import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, test } from 'vitest';
import { CompressedAudioError } from '../../../../src/audio/errors.ts';
import { parseWav, WavError, wavHeader } from '../../../../src/audio/wav.ts';
import { codeFile } from '../../../../src/audio/recording/code-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'offhook-code-file-'));
const [wav, coded, back] = ['call.wav', 'call.coded', 'back.wav'].map((name) => join(folder, name)) as [string, string, string];

/** Two people who speak in turn, 8 kHz stereo, as a recording is written. */
function record(frames: number, headerSays = frames * 4): Buffer {
  const samples = Int16Array.from({ length: frames * 2 }, (_, at) => {
    const [frame, side] = [at >> 1, at % 2];
    return (frame >> 12) % 2 === side ? Math.round(6000 * Math.sin(frame / (5 + side))) & ~3 : 0;
  });
  const file = Buffer.concat([
    wavHeader({ rateHz: 8000, channels: 2, dataBytes: headerSays, encoding: 'pcm16' }),
    Buffer.from(samples.buffer),
  ]);
  writeFileSync(wav, file);
  return file;
}

describe('codeFile', () => {
  afterAll(() => rmSync(folder, { recursive: true }));

  test.each([0, 1, 4095, 4096, 40_000])('gives a recording of %i samples back as it was, from FLAC', async (frames) => {
    const file = record(frames);
    await codeFile({ type: 'compress', format: 'flac', inputPath: wav, outputPath: coded });
    await codeFile({ type: 'restore', format: 'flac', inputPath: coded, outputPath: back });
    expect(readFileSync(back).equals(file)).toBe(true);
    expect(statSync(coded).mode & 0o777).toBe(0o600);
    if (frames > 10_000) expect(statSync(coded).size).toBeLessThan(file.length / 2);
  });

  test.each([0, 1, 161, 40_000])(
    'gives a recording of %i samples back as long as it was, each side on its own, from Opus',
    async (frames) => {
      const file = record(frames);
      await codeFile({ type: 'compress', format: 'opus', inputPath: wav, outputPath: coded });
      await codeFile({ type: 'restore', format: 'opus', inputPath: coded, outputPath: back });
      expect(statSync(back).size).toBe(file.length);
      if (frames < 10_000) return;
      expect(statSync(coded).size).toBeLessThan(file.length / 6);
      const [left, right] = parseWav(readFileSync(back)).samples;
      const loud = (samples: Int16Array, from: number): number => Math.max(...samples.subarray(from, from + 2000).map(Math.abs));
      expect([loud(left!, 1000), loud(right!, 5096)].every((peak) => peak > 4000)).toBe(true);
      expect([loud(right!, 1000), loud(left!, 5500)].every((peak) => peak < 200)).toBe(true);
    },
  );

  it('restores a FLAC recording of a rate that has no code', async () => {
    const file = record(5000);
    file.writeUInt32LE(12_000, 24);
    file.writeUInt32LE(48_000, 28);
    writeFileSync(wav, file);
    await codeFile({ type: 'compress', format: 'flac', inputPath: wav, outputPath: coded });
    await codeFile({ type: 'restore', format: 'flac', inputPath: coded, outputPath: back });
    expect(readFileSync(back).equals(file)).toBe(true);
  });

  it('reads the samples of a recording whose process died before it wrote the header', async () => {
    record(5000, 0);
    await codeFile({ type: 'compress', format: 'flac', inputPath: wav, outputPath: coded });
    await codeFile({ type: 'restore', format: 'flac', inputPath: coded, outputPath: back });
    expect(readFileSync(back).subarray(44).equals(readFileSync(wav).subarray(44))).toBe(true);
  });

  it('puts nothing damaged back: a FLAC file that was changed anywhere is refused', async () => {
    record(9000);
    await codeFile({ type: 'compress', format: 'flac', inputPath: wav, outputPath: coded });
    const whole = readFileSync(coded);
    for (const spoil of [30, 60, whole.length - 1]) {
      const file = Buffer.from(whole);
      file[spoil]! ^= 4;
      writeFileSync(coded, file);
      const restored = codeFile({ type: 'restore', format: 'flac', inputPath: coded, outputPath: back });
      await expect(restored).rejects.toThrow(CompressedAudioError);
    }
    writeFileSync(coded, whole.subarray(0, whole.length / 2));
    await expect(codeFile({ type: 'restore', format: 'flac', inputPath: coded, outputPath: back })).rejects.toThrow(
      CompressedAudioError,
    );
  });

  it('refuses what is no recording', async () => {
    writeFileSync(wav, 'not a recording');
    await expect(codeFile({ type: 'compress', format: 'flac', inputPath: wav, outputPath: coded })).rejects.toThrow(WavError);
    const mulaw = wavHeader({ rateHz: 8000, channels: 1, dataBytes: 100, encoding: 'mulaw' });
    writeFileSync(wav, Buffer.concat([mulaw, Buffer.alloc(100)]));
    await expect(codeFile({ type: 'compress', format: 'opus', inputPath: wav, outputPath: coded })).rejects.toThrow(
      CompressedAudioError,
    );
  });
});
