// A model behind the embedded platform, as calls and files reach it.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { wavFile } from '../../src/audio/wav.ts';
import { type PlatformProcess, startPlatformProcess } from '../../src/cli/setup/platform-process.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { sleep } from '../../src/kernel/waiting.ts';
import { silentLogger } from '../../src/observability/logger.ts';
import { SpeechPlatform } from '../../src/speech/platform.ts';
import { WordErrorCount } from '../../src/sim/caller/word-errors.ts';
import { usageOf } from '../capacity/processor.ts';
import { quantiles, type Quantiles, round } from '../document.ts';
import type { Clip } from '../recordings.ts';

/** Silence after which a caller's turn is committed, as in a call. */
export const ENDPOINT_MS = 640;
const FRAME = 160;
const FRAME_MS = 20;

export interface ModelPlatform extends AsyncDisposable {
  readonly process: PlatformProcess;
  readonly speech: SpeechPlatform;
}

/** Starts the embedded platform with one model, used for one language. @param threads that recognise; 0 for the platform's default */
export async function startWith(modelsFolder: string, name: string, language: string, threads = 0): Promise<ModelPlatform> {
  const dataDir = mkdtempSync(join(tmpdir(), 'offhook-bench-recogniser-'));
  const folder = join(dataDir, 'models');
  mkdirSync(folder);
  symlinkSync(resolve(modelsFolder, name), join(folder, name));
  writeFileSync(join(folder, 'used.json'), JSON.stringify({ recognition: { [language]: name } }));
  const process = await startPlatformProcess({
    port: 0,
    profile: 'plain',
    dataDir,
    vocabularyFolder: new URL('../../config/platform', import.meta.url).pathname,
    modelsFolder: folder,
    threads,
    clock: systemClock,
    logger: silentLogger,
    startTimeoutMs: 300_000,
  });
  const speech = new SpeechPlatform({ ...process.urls, apiKey: process.apiKey }, { clock: systemClock, logger: silentLogger });
  return {
    process,
    speech,
    async [Symbol.asyncDispose]() {
      await speech[Symbol.asyncDispose]();
      await process[Symbol.asyncDispose]();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

export interface Missed {
  readonly said: string;
  readonly heard: string;
}

export interface Measured {
  readonly wordErrorPercent: number;
  /** The texts with an error. */
  readonly missed: readonly Missed[];
}

/** Each clip as a file of its own. */
export async function asFiles({ speech }: ModelPlatform, clips: readonly Clip[], language: string): Promise<Measured> {
  const count = new WordErrorCount();
  const missed: Missed[] = [];
  const never = new AbortController().signal;
  for (const { pcm, text, name } of clips) {
    const { text: heard } = await speech.transcribe({ bytes: wavFile(pcm, 8_000), name }, { language }, never);
    tally(count, missed, text, heard);
  }
  return { wordErrorPercent: round(count.percent), missed };
}

export interface LiveMeasured extends Measured {
  readonly streams: number;
  readonly msFromCommitToFinal: Quantiles;
  /** Processor time of the platform for a second of a stream, and how many streams take a core. */
  readonly coreMsPerSecond: number;
  readonly callsACore: number;
  readonly residentMb: number;
}

/** Clips one after the other on each of some streams at once, in real time, each committed after as much silence as in a call. */
export async function asStreams(
  { speech, process }: ModelPlatform,
  clips: readonly Clip[],
  {
    language,
    streams,
    quiet,
  }: { readonly language: string; readonly streams: number; readonly quiet: (ms: number) => Int16Array },
): Promise<LiveMeasured> {
  const count = new WordErrorCount();
  const missed: Missed[] = [];
  const finalMs: number[] = [];
  const waiting = [...clips];
  const before = usageOf(process.pid ?? 0);
  const stream = async (): Promise<number> => {
    await using session = speech.recognise({ language, sampleRateHz: 8_000 }, new AbortController().signal);
    const pace = startPace();
    const send = async (pcm: Int16Array): Promise<void> => {
      for (let at = 0; at < pcm.length; at += FRAME) {
        session.send(pcm.slice(at, at + FRAME));
        await pace.frame();
      }
    };
    for (let clip = waiting.shift(); clip !== undefined; clip = waiting.shift()) {
      await send(quiet(300));
      await send(clip.pcm);
      await send(quiet(ENDPOINT_MS));
      const startMs = performance.now();
      const { text } = await session.commit();
      finalMs.push(performance.now() - startMs);
      tally(count, missed, clip.text, text);
    }
    return pace.sentS;
  };
  const seconds = (await Promise.all(Array.from({ length: streams }, stream))).reduce((sum, each) => sum + each, 0);
  const after = usageOf(process.pid ?? 0);
  const coreMsPerSecond = (after.cpuMs - before.cpuMs) / seconds;
  return {
    streams,
    wordErrorPercent: round(count.percent),
    msFromCommitToFinal: quantiles(finalMs),
    coreMsPerSecond: round(coreMsPerSecond),
    callsACore: Math.floor(1_000 / coreMsPerSecond),
    residentMb: Math.round(after.rssKb / 1_024),
    missed,
  };
}

/** Frames in real time: one that is late is followed by the next at once, as on a line. */
function startPace(): { readonly frame: () => Promise<void>; readonly sentS: number } {
  const startMs = performance.now();
  let frames = 0;
  return {
    async frame() {
      frames += 1;
      const waitMs = startMs + frames * FRAME_MS - performance.now();
      if (waitMs > 0) await sleep(systemClock, waitMs);
    },
    get sentS() {
      return (frames * FRAME_MS) / 1_000;
    },
  };
}

export function tally(count: WordErrorCount, missed: Missed[], said: string, heard: string): void {
  const before = count.errors;
  count.add(said, heard);
  if (count.errors > before) missed.push({ said, heard });
}
