import { existsSync } from 'node:fs';
import { open, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { rmsLevelDb } from '../../src/audio/level.ts';
import { sine } from '../../src/audio/tone.ts';
import { readWavLayout } from '../../src/audio/wav.ts';
import { Recording } from '../../src/call/recording/recording.ts';
import { directRecordingFiles } from '../../src/call/recording/recording-file.ts';
import { analyseCall } from '../../src/records/after-call/analyse-call.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { storeOn } from '../../src/records/database.ts';
import { callRecordOf } from '../support/call-records.ts';
import { embeddedDatabases, prepareCluster, temporaryFolder } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { MemoryWatch } from './memory-watch.ts';

const MINUTES = 75;
const MINUTE_MS = 60_000;
const FRAME_MS = 20;
const MS = 8;
/** A word of the caller and one of the bot in each minute. */
const CALLER_AT_MS = 10_000;
const BOT_AT_MS = 40_000;
const SAID_MS = 2_000;

beforeAll(prepareCluster);

it('records a call of 75 minutes and hands it to the analysis, in the memory of a short one', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'call_1.wav');
  const recorded = new MemoryWatch();
  const recording = new Recording(path, 'call_1', 'always', directRecordingFiles, SAID_MS);
  await feed(recording, path);
  await recording.finish(MINUTES * MINUTE_MS);
  expect(recording.failure).toBeUndefined();
  const recordedMb = recorded.grownMb;
  expect(recordedMb).toBeLessThan(40);

  const { size } = await stat(path);
  const head = readWavLayout(await partOf(path, 0, 4_096), size);
  expect(head).toMatchObject({ format: 'pcm16', rateHz: 8_000, channels: 2, dataBytes: size - 44 });
  expect(Math.abs(head.dataBytes / 32 - MINUTES * MINUTE_MS)).toBeLessThanOrEqual(FRAME_MS);
  const sidecar: unknown = JSON.parse(await readFile(path.replace('.wav', '.recording.json'), 'utf8'));
  expect(sidecar).toMatchObject({ gaps: [], lostSamples: 0 });
  // The last minute stands where it was said, to the frame.
  for (const [channel, atMs] of [CALLER_AT_MS, BOT_AT_MS].entries()) {
    const fromMs = (MINUTES - 1) * MINUTE_MS + atMs;
    expect(await levelOf(path, channel, fromMs + FRAME_MS, SAID_MS - 2 * FRAME_MS)).toBeGreaterThan(-20);
    expect(await levelOf(path, channel, fromMs - 1_000, 1_000 - FRAME_MS)).toBeLessThan(-90);
    expect(await levelOf(path, channel, fromMs + SAID_MS + FRAME_MS, 1_000)).toBeLessThan(-90);
  }

  await using databases = await embeddedDatabases();
  await using database = await databases.open();
  const store = storeOn(database);
  await store.calls.upsert(callRecordOf({ recordingPath: path }));
  const uploads: { channels: number; seconds: number }[] = [];
  const transcriber = {
    async transcribe(wavPath: string) {
      const layout = readWavLayout(await partOf(wavPath, 0, 4_096), (await stat(wavPath)).size);
      uploads.push({ channels: layout.channels, seconds: layout.dataBytes / 16_000 });
      return { text: 'a long story', segments: [], requestId: undefined };
    },
  };
  const analysed = new MemoryWatch();
  const subject = { tenantId: 'default', callId: 'call_1' };
  const analysis = await analyseCall(
    { store, transcriber, clock: systemClock, workFolder: dirname(path) },
    subject,
    new AbortController().signal,
  );
  const analysedMb = analysed.grownMb;
  console.log(`most memory above the start, in MB: recording ${recordedMb.toFixed(1)}, analysis ${analysedMb.toFixed(1)}`);
  expect(analysedMb).toBeLessThan(60);
  expect(uploads).toHaveLength(1);
  expect(uploads[0]!.channels).toBe(1);
  expect(uploads[0]!.seconds).toBeCloseTo(MINUTES * 60, 1);
  const spokenS = (MINUTES * SAID_MS) / 1_000;
  expect(Math.abs(analysis.durations.callerSpeechS - spokenS)).toBeLessThan(spokenS * 0.02);
  expect(Math.abs(analysis.durations.botSpeechS - spokenS)).toBeLessThan(spokenS * 0.02);
  expect(analysis.talkRatio).toBeCloseTo(0.5, 2);
});

/** The whole call, frame by frame, as fast as the disk takes it. */
async function feed(recording: Recording, path: string): Promise<void> {
  const silence = new Int16Array(FRAME_MS * MS);
  const word = sine(300, SAID_MS, 8_000);
  const bot = sine(600, SAID_MS, 8_000);
  for (let atMs = 0; atMs < MINUTES * MINUTE_MS; atMs += FRAME_MS) {
    const inMinuteMs = atMs % MINUTE_MS;
    const saidMs = inMinuteMs - CALLER_AT_MS;
    const speaks = saidMs >= 0 && saidMs < SAID_MS;
    recording.caller(speaks ? word.subarray(saidMs * MS, (saidMs + FRAME_MS) * MS) : silence, atMs, atMs, atMs);
    if (inMinuteMs === BOT_AT_MS) recording.bot(bot, atMs, atMs);
    if (inMinuteMs % 10_000 !== 0 || atMs === 0) continue;
    // No more than it may keep waiting for the disk.
    await eventually('the disk', async () => (await sizeOf(path)) >= (atMs - 1_000) * 32);
  }
}

async function sizeOf(path: string): Promise<number> {
  return existsSync(path) ? (await stat(path)).size : 0;
}

async function partOf(path: string, position: number, length: number): Promise<Uint8Array> {
  await using file = await open(path, 'r');
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position);
  return buffer.subarray(0, bytesRead);
}

async function levelOf(path: string, channel: number, fromMs: number, durationMs: number): Promise<number> {
  const bytes = await partOf(path, 44 + fromMs * 32, durationMs * 32);
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  return rmsLevelDb(Int16Array.from({ length: durationMs * MS }, (_, index) => view.getInt16(index * 4 + channel * 2, true)));
}
