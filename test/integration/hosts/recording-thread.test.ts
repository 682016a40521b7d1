import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parseWav } from '../../../src/audio/wav.ts';
import { RecordingThread } from '../../../src/call/recording/recording-thread.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { eventually } from '../../support/eventually.ts';

let folder: string;
let thread: RecordingThread;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'offhook-recording-'));
  thread = new RecordingThread(systemClock);
});
afterAll(async () => {
  await thread[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

/** 200 stereo samples of one value. */
const block = (value: number): Uint8Array<ArrayBuffer> => new Uint8Array(Int16Array.from({ length: 400 }, () => value).buffer);

it('writes the recordings of many calls, each playable while it grows', async () => {
  const files = Array.from({ length: 20 }, (_, call) => ({ call, path: join(folder, `day-${call % 3}`, `${call}.wav`) }));
  const open = files.map(({ path }) => thread.create(path, 8_000));
  for (let part = 0; part < 3; part += 1) open.forEach((file, call) => file.write(part * 800, block(100 * call + part)));
  await eventually('the first blocks', () => files.every(({ path }) => existsSync(path) && statSync(path).size === 44 + 3 * 800));
  expect(parseWav(readFileSync(files[7]!.path)).samples[0]).toHaveLength(600);
  open[7]!.write(3 * 800, block(9));
  expect(await Promise.all(open.map((file) => file.finish()))).toEqual(Array(20).fill(true));
  const [left] = parseWav(readFileSync(files[7]!.path)).samples;
  expect([left![0], left![200], left![400], left![600], left!.length]).toEqual([700, 701, 702, 9, 800]);
  expect(statSync(files[7]!.path).mode & 0o777).toBe(0o600);
});

it('leaves silence for the parts not recorded, and no file for an empty recording', async () => {
  const [late, never] = [thread.create(join(folder, 'late.wav'), 8_000), thread.create(join(folder, 'never.wav'), 8_000)];
  late.write(1_600, block(5));
  expect(await Promise.all([late.finish(), never.finish()])).toEqual([true, false]);
  const [left] = parseWav(readFileSync(join(folder, 'late.wav'))).samples;
  expect([left![0], left![399], left![400]]).toEqual([0, 0, 5]);
});

it('takes blocks that fill its memory and blocks that are larger, copied before it returns', async () => {
  const path = join(folder, 'large.wav');
  const file = thread.create(path, 8_000);
  const sizes = [50_000, 30_000, 90_000, 120_000, 200];
  const lent = new Int16Array(120_000);
  let atByte = 0;
  for (const [index, samples] of sizes.entries()) {
    lent.fill(index + 1);
    file.write(atByte, new Uint8Array(lent.buffer, 0, 2 * samples));
    atByte += 2 * samples;
  }
  lent.fill(99);
  expect(await file.finish()).toBe(true);
  const [left] = parseWav(readFileSync(path)).samples;
  const expected = sizes.flatMap((samples, index) => Array.from({ length: samples / 2 }, () => index + 1));
  expect(left!.length).toBe(expected.length);
  expect(left!.every((sample, at) => sample === expected[at])).toBe(true);
});

it('remembers what the disk refused, and goes on with the other calls', async () => {
  writeFileSync(join(folder, 'a-file'), '');
  const [bad, good] = [thread.create(join(folder, 'a-file', 'x.wav'), 8_000), thread.create(join(folder, 'good.wav'), 8_000)];
  bad.write(0, block(1));
  good.write(0, block(1));
  expect(await Promise.all([bad.finish(), good.finish()])).toEqual([false, true]);
  expect(bad.failure).toMatch(/ENOTDIR|EEXIST/u);
  expect(good.failure).toBeUndefined();
});

it('fails every open file when the thread is gone, and lets no call wait', async () => {
  const gone = new RecordingThread(systemClock);
  const file = gone.create(join(folder, 'gone.wav'), 8_000);
  await gone[Symbol.asyncDispose]();
  file.write(0, block(1));
  expect(await file.finish()).toBe(false);
  expect(file.failure).toContain('has ended');
});
