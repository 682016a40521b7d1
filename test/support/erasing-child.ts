import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { wavHeader } from '../../src/audio/wav.ts';
import { CallJournal } from '../../src/call/log/call-journal.ts';
import { reserveFixture } from '../../src/rehearsal/replay/fixture-file.ts';
import { readEnvironment } from '../../src/config/env.ts';
import { loadConfig } from '../../src/config/load.ts';
import { deliverEndedCalls, keepEndedCall, deliverRecordings, keepRecording } from '../../src/records/after-call/call-ended.ts';
import { OutboxPump } from '../../src/records/outbox/outbox-pump.ts';
import type { JobRun } from '../../src/records/queue/port.ts';
import { postCallJob } from '../../src/records/after-call/post-call-job.ts';
import { RecordingCoder } from '../../src/audio/recording/recording-coder.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { writeFileAtomic } from '../../src/kernel/temporary.ts';
import { silentLogger } from '../../src/observability/logger.ts';
import { openRecords } from '../../src/hosts/records.ts';
import { callRecordOf } from './call-records.ts';
import { hangs } from './patience.ts';

/** A gateway's way of keeping calls, one call after the other on four lines, until it is killed. Words and number are arguments. */
const [number = '', words = '', sound = ''] = process.argv.slice(2);
const config = loadConfig({ env: readEnvironment(), files: [] });
const { dataDir } = config.settings;
const records = await openRecords({ config, clock: systemClock, logger: silentLogger });
const { store, queue, dispatcher, recordings, outbox, recordingOutbox, seals } = records;
const journal = new CallJournal(join(dataDir, 'calls'), () => undefined);
const common = { clock: systemClock, logger: silentLogger };
const sealing = new OutboxPump({ outbox: recordingOutbox, deliver: deliverRecordings(records), ...common });
const sealLater = (record: Parameters<typeof keepRecording>[2]) => keepRecording(recordingOutbox, sealing, record);
const deliver = deliverEndedCalls({ store, queue, dispatcher, ...(seals ? { sealLater } : {}) });
const pump = new OutboxPump({ outbox, deliver, ...common });
const transcribe = async (): Promise<never> =>
  ({ text: words, segments: [{ startS: 0, endS: 1, text: words }], words: [], requestId: 'r' }) as never;
const job = postCallJob({
  store,
  recordings,
  dispatcher,
  transcriber: { transcribe, transcribeMedical: transcribe },
  coder: new RecordingCoder(),
  clock: systemClock,
  workFolder: join(dataDir, 'work'),
});
const run = (payload: JobRun['payload']): JobRun => ({
  name: 'post-call',
  id: 'j',
  payload,
  attempt: 1,
  isLast: true,
  signal: hangs(),
});

/** Each sample twice, left and right: the text can be looked for in both channels together and in one. */
function recordingOf(text: string): Buffer {
  const samples = Buffer.from(text.repeat(2_000));
  const stereo = Buffer.alloc(samples.length * 2);
  for (let at = 0; at + 1 < samples.length; at += 2) {
    samples.copy(stereo, 2 * at, at, at + 2);
    samples.copy(stereo, 2 * at + 2, at, at + 2);
  }
  return Buffer.concat([wavHeader({ rateHz: 8000, channels: 2, dataBytes: stereo.length, encoding: 'pcm16' }), stereo]);
}

/** Told of so that a kill can be counted out. */
const step = (): void => void process.stdout.write('.\n');

async function keepOne(id: string): Promise<void> {
  const recordingPath = join(dataDir, 'recordings', '2026-01-01', `${id}.wav`);
  const [start, said] = callRecordOf().turns;
  const turns = [start!, { ...said!, callerText: words, botHeardText: words }];
  const record = callRecordOf({ id, from: number, recordingPath, turns, variables: { said: words }, recordingWanted: 'flac' });
  journal.keep(id, record);
  await mkdir(dirname(recordingPath), { recursive: true });
  await writeFile(recordingPath, recordingOf(sound));
  journal.keep(id, { ...record, revision: 2 });
  step();
  await using place = await reserveFixture(
    join(dataDir, 'fixtures'),
    { tenantId: 'default', callId: id },
    seals ? (...asked) => store.privacy.audioKey(...asked) : undefined,
  );
  await keepEndedCall(outbox, pump, record);
  step();
  if (!seals) await writeFileAtomic(recordingPath.replace(/wav$/u, 'call.json'), JSON.stringify(record));
  await journal.forget(id);
  const audio = recordingOf(sound);
  await place.keep({ expiresAtMs: null, callerAudio: audio, botAudio: audio, said: words } as never);
  step();
  await pump.drained();
  await sealing.drained();
  step();
  await job(run({ tenantId: 'default', callId: id }));
  step();
  await job(run({ tenantId: 'default', callId: id, recordingAs: 'flac' }));
  step();
}

await Promise.all(
  [1, 2, 3, 4].map(async (line) => {
    for (let index = 0; ; index += 1) await keepOne(`call_${process.pid}_${line}_${index}`);
  }),
);
