import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transcriberOn } from '../../src/hosts/backlog.ts';
import { AnalysisProfiles } from '../../src/records/analysis/analysis-profiles.ts';
import { analyseCall } from '../../src/records/after-call/analyse-call.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { SpeechPlatform } from '../../src/speech/platform.ts';
import type { Store } from '../../src/records/port.ts';
import { callRecordOf } from '../../test/support/call-records.ts';
import { conversation } from './conversation.ts';
import { startStandIn } from './stand-in.ts';

const MINUTES = 5;
const WARM_UP = 3;
const CALLS = 12;

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
  await writeFile(recordingPath, conversation(MINUTES));
  await using standIn = await startStandIn();
  try {
    await using speech = new SpeechPlatform(standIn.speech);
    const profiles = await AnalysisProfiles.load(fileURLToPath(new URL('../../config/analysis', import.meta.url)), {});
    const parts = { store, transcriber: transcriberOn(speech), clock: systemClock, profiles, workFolder: dirname(recordingPath) };
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
    await rm(folder, { recursive: true, force: true });
  }
}
