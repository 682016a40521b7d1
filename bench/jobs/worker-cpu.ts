import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { resample } from '../../src/audio/resample.ts';
import { wavFile } from '../../src/audio/wav.ts';
import { transcriberOn } from '../../src/backlog.ts';
import { ProfileBook } from '../../src/jobs/analysis/profile-book.ts';
import { analyseCall } from '../../src/jobs/post-call/analyse-call.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { SpeechPlatform } from '../../src/speech/platform.ts';
import type { Store } from '../../src/store/port.ts';
import { callRecordOf } from '../../test/support/call-records.ts';
import { buzz } from '../../test/support/buzz.ts';

const MINUTES = 5;
const WARM_UP = 3;
const CALLS = 12;
const RATE_HZ = 8000;

export interface WorkerCpu {
  readonly profile: string;
  readonly calls: number;
  readonly recordedMinutes: number;
  readonly cpuMsPerMinute: number;
}

/** CPU of this process alone, while it analyses recordings by the platform that answers at once. */
export async function workerCpu(store: Store): Promise<WorkerCpu[]> {
  const folder = await mkdtemp(join(tmpdir(), 'offhook-bench-'));
  const recordingPath = join(folder, 'call.wav');
  await writeFile(recordingPath, conversation());
  const { url, child } = await startStandIn();
  try {
    await using speech = new SpeechPlatform({ asrUrl: url, ttsUrl: url, token: 'bench' });
    const profiles = await ProfileBook.load(fileURLToPath(new URL('../../config/analysis', import.meta.url)), {});
    const parts = { store, transcriber: transcriberOn(speech), clock: systemClock, profiles };
    const results: WorkerCpu[] = [];
    for (const profile of ['default', 'support']) {
      const one = async (index: number): Promise<void> => {
        const callId = `${profile}_${index}`;
        await store.calls.upsert(callRecordOf({ id: callId, recordingPath }));
        await analyseCall(parts, { tenantId: 'default', callId, profile }, AbortSignal.timeout(60_000));
      };
      for (let index = 0; index < WARM_UP; index += 1) await one(index);
      const before = process.cpuUsage();
      for (let index = 0; index < CALLS; index += 1) await one(WARM_UP + index);
      const { user, system } = process.cpuUsage(before);
      const recordedMinutes = CALLS * MINUTES;
      const cpuMsPerMinute = Math.round((user + system) / 100 / recordedMinutes) / 10;
      results.push({ profile, calls: CALLS, recordedMinutes, cpuMsPerMinute });
    }
    return results;
  } finally {
    child.stdin?.end();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Two voices in turn, with line noise below them: five minutes of stereo at 8 kHz, as live calls are recorded. */
function conversation(): Uint8Array {
  const low = resample(buzz({ hz: 110, formants: [600, 1100, 2400], seconds: 4, wobble: 1 }), 16_000, RATE_HZ);
  const high = resample(buzz({ hz: 210, formants: [500, 1700, 2600], seconds: 3, wobble: 2 }), 16_000, RATE_HZ);
  const frames = MINUTES * 60 * RATE_HZ;
  const pcm = new Int16Array(frames * 2);
  for (let index = 0; index < pcm.length; index += 1) pcm[index] = Math.round((Math.random() - 0.5) * 60);
  const put = (voice: Int16Array, channel: 0 | 1, fromS: number): void => {
    const from = Math.round(fromS * RATE_HZ);
    for (let at = 0; at < voice.length && from + at < frames; at += 1) pcm[(from + at) * 2 + channel]! += voice[at]!;
  };
  for (let second = 1; second < MINUTES * 60 - 8; second += 8) {
    put(low, 0, second);
    put(high, 1, second + 4.4);
  }
  return wavFile(pcm, RATE_HZ, 2);
}

async function startStandIn(): Promise<{ url: string; child: ChildProcess }> {
  const program = fileURLToPath(new URL('stand-in-platform.ts', import.meta.url));
  const child = spawn(process.execPath, ['--import', 'tsx', program], { stdio: ['pipe', 'pipe', 'inherit'] });
  for await (const line of createInterface({ input: child.stdout })) {
    return { url: z.object({ url: z.string() }).parse(JSON.parse(line)).url, child };
  }
  throw new Error('the stand-in platform did not start');
}
