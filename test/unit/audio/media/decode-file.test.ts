import fc from 'fast-check';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { decodeAudio } from '../../../../src/audio/codec.ts';
import { rmsLevelDb } from '../../../../src/audio/level.ts';
import { containerOf } from '../../../../src/audio/media/container.ts';
import { decodeFile } from '../../../../src/audio/media/decode-file.ts';
import { MediaNeedsFfmpegError, MediaTooLongError, MediaUnreadableError } from '../../../../src/audio/errors.ts';
import { tinyHours } from './tiny-hours.ts';
import { thorough } from '../../../support/thorough.ts';

const fixtures = join(import.meta.dirname, '../../../fixtures/audio');
const folder = mkdtempSync(join(tmpdir(), 'offhook-media-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const inputPath = join(folder, 'in');
const outputPath = join(folder, 'out');

async function decode(bytes: Uint8Array, maxSeconds = 60): Promise<Int16Array> {
  writeFileSync(inputPath, bytes);
  rmSync(outputPath, { force: true });
  await decodeFile({ inputPath, outputPath, container: containerOf(bytes) ?? 'wav', maxSeconds });
  return decodeAudio('pcm16', readFileSync(outputPath));
}

const read = ['tones.mp3', 'tones.flac', 'tones-opus.ogg', 'tones-vorbis.ogg', 'tones.webm', 'tones.mkv', 'tones-vorbis.webm'];

describe('containers by their content', () => {
  it.each([
    ['tones.mp3', 'mp3'],
    ['tones.flac', 'flac'],
    ['tones-opus.ogg', 'ogg'],
    ['tones.webm', 'webm'],
    ['tones.m4a', 'mp4'],
    ['tones.mp4', 'mp4'],
    ['tones.aac', 'aac'],
    ['tones.wma', 'asf'],
  ])('%s is %s', (name, container) => {
    expect(containerOf(readFileSync(join(fixtures, name)))).toBe(container);
  });

  it('text and nothing are no container', () => {
    for (const text of ['', 'hello', '<html>', '{"a":1}']) expect(containerOf(Buffer.from(text))).toBeUndefined();
  });
});

describe('decoding', () => {
  it.each(read)('%s becomes a second of 16 kHz mono with sound where it was', async (name) => {
    const pcm = await decode(readFileSync(join(fixtures, name)));
    expect(Math.abs(pcm.length / 16_000 - 1)).toBeLessThan(0.02);
    const level = (fromS: number, toS: number): number => rmsLevelDb(pcm.subarray(fromS * 16_000, toS * 16_000));
    expect(level(0, 0.15)).toBeLessThan(-45);
    for (const [fromS, toS] of [
      [0.25, 0.45],
      [0.65, 0.85],
    ] as const)
      expect(level(fromS, toS)).toBeGreaterThan(-25);
  });

  it.each([...read, 'tones.m4a', 'tones.mp4'])('%s cut off anywhere is unreadable', async (name) => {
    const bytes = readFileSync(join(fixtures, name));
    for (const share of [0.05, 0.3, 0.5, 0.77, 0.9, 0.99]) {
      await expect(decode(bytes.subarray(0, Math.floor(bytes.length * share)))).rejects.toThrow(MediaUnreadableError);
    }
  });

  it.each(['tones.m4a', 'tones.aac', 'tones.wma'])('%s is said to need ffmpeg', async (name) => {
    await expect(decode(readFileSync(join(fixtures, name)))).rejects.toThrow(MediaNeedsFfmpegError);
  });

  it('stops at the limit, however small the file that holds hours', async () => {
    const bytes = tinyHours(5);
    expect(bytes.length).toBeLessThan(500_000);
    await expect(decode(bytes, 20)).rejects.toThrow(MediaTooLongError);
    expect(statSync(outputPath).size).toBeLessThanOrEqual(20 * 32_000);
  });

  it.each(read)('%s with damaged bytes is decoded or refused, and nothing else', async (name) => {
    const bytes = readFileSync(join(fixtures, name));
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat(bytes.length - 1), fc.nat(255)), { minLength: 1, maxLength: 8 }),
        async (edits) => {
          const damaged = Uint8Array.from(bytes);
          for (const [at, value] of edits) damaged[at] = value;
          const outcome = await decode(damaged).then(
            () => 'decoded',
            (error: unknown) => (error as Error).constructor.name,
          );
          expect(['decoded', 'MediaUnreadableError', 'MediaNeedsFfmpegError', 'MediaTooLongError']).toContain(outcome);
        },
      ),
      { numRuns: thorough(3, 8), seed: 1 },
    );
  });

  it('leaves open no file', () => {
    expect(readdirSync(folder).sort()).toEqual(['in', 'out']);
  });
});
