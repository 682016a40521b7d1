import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseWav, wavFile } from '../../../src/audio/wav.ts';
import { deliverEndedCalls, keepEndedCall } from '../../../src/records/after-call/call-ended.ts';
import { Outbox } from '../../../src/records/outbox/outbox.ts';
import { OutboxPump } from '../../../src/records/outbox/outbox-pump.ts';
import { callAnalysis } from '../../../src/records/analysis/document.ts';
import { postCallJob } from '../../../src/records/after-call/post-call-job.ts';
import { postCallJobId } from '../../../src/records/after-call/job.ts';
import { POST_CALL } from '../../../src/records/queue/catalog.ts';
import type { BatchTranscriber } from '../../../src/records/analysis/transcriber.ts';
import type { JobQueue } from '../../../src/records/queue/port.ts';
import { openQueue } from '../../../src/records/queue/bull-queue.ts';
import { JobSubjectError } from '../../../src/records/job-errors.ts';
import { sweep } from '../../../src/records/sweep.ts';
import { WebhookDispatcher } from '../../../src/records/webhooks/webhook-dispatcher.ts';
import { startWorker } from '../../../src/records/queue/worker.ts';
import { OffhookError } from '../../../src/kernel/errors.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { createEvents } from '../../../src/observability/events.ts';
import { createMetrics } from '../../../src/observability/metrics.ts';
import { silentLogger } from '../../../src/observability/logger.ts';
import { type Database, storeOn } from '../../../src/records/database.ts';
import type { Store } from '../../../src/records/port.ts';
import { callRecordOf } from '../../support/call-records.ts';
import { type TestDatabases, embeddedDatabases, onProblem, temporaryFolder } from '../../support/databases.ts';
import { eventually } from '../../support/eventually.ts';

class SlotsTakenError extends OffhookError {
  readonly code = 'OFFHOOK_TEST_SLOTS';
  readonly retryable = true;
}

const RATE_HZ = 8000;

/** Caller: a 300 Hz tone in second 1; bot: 600 Hz in seconds 3 and 4; five seconds in all. */
function stereoRecording(): Uint8Array {
  const tone = (hz: number, n: number): number => Math.round(6_000 * Math.sin((2 * Math.PI * hz * n) / RATE_HZ));
  const pcm = new Int16Array(5 * RATE_HZ * 2);
  for (let n = 0; n < 5 * RATE_HZ; n += 1) {
    const second = Math.floor(n / RATE_HZ);
    if (second === 1) pcm[n * 2] = tone(300, n);
    if (second >= 3) pcm[n * 2 + 1] = tone(600, n);
  }
  return wavFile(pcm, RATE_HZ, 2);
}

describe('after a call', () => {
  let databases: TestDatabases;
  let database: Database;
  let store: Store;
  let queue: JobQueue;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;

  beforeAll(async () => {
    databases = await embeddedDatabases();
    database = await databases.open();
    store = storeOn(database);
    const retry = { attempts: 3, backoff: { firstMs: 1, factor: 1, maxMs: 1, jitter: 0 } };
    queue = openQueue({ redisUrl: undefined, database, clock: systemClock, onProblem, retry });
    folder = await temporaryFolder();
  });

  afterAll(async () => {
    await queue.close();
    await store.close();
    await databases[Symbol.asyncDispose]();
    await folder[Symbol.asyncDispose]();
  });

  const worker = (transcriber: BatchTranscriber) =>
    startWorker({
      queue,
      handlers: { [POST_CALL]: postCallJob({ store, transcriber, clock: systemClock, workFolder: join(folder.path, 'work') }) },
      logger: silentLogger,
      events: createEvents(silentLogger, createMetrics(), systemClock),
      clock: systemClock,
      concurrency: 2,
    });

  it('goes from the outbox through store and queue to one analysis, however often it is said to have ended', async () => {
    const recordingPath = join(folder.path, 'call_1.wav');
    await writeFile(recordingPath, stereoRecording());
    const sent: { wav: Uint8Array; language: string }[] = [];
    await using _work = worker({
      async transcribe(wavPath, { language }) {
        sent.push({ wav: await readFile(wavPath), language });
        if (sent.length === 1) throw new SlotsTakenError('try later');
        return { text: 'tuesday', segments: [{ startS: 1, endS: 2, text: 'tuesday' }], requestId: 'r1' };
      },
    });
    const outbox = await Outbox.open(join(folder.path, 'outbox'), () => Date.now());
    await using pump = new OutboxPump({
      outbox,
      deliver: deliverEndedCalls({ store, queue }),
      clock: systemClock,
      logger: silentLogger,
    });
    const record = callRecordOf({ recordingPath });
    await keepEndedCall(outbox, pump, record);
    await keepEndedCall(outbox, pump, record);
    await pump.drained();
    const [analysis] = await eventually('the analysis', async () => {
      const found = await store.analyses.list('default', 'call_1');
      return found.length > 0 && found;
    });
    await eventually('the job to be done', async () => (await queue.counts(POST_CALL)).completed === 1);

    const document = callAnalysis.parse(analysis?.document);
    expect(document).toMatchObject({
      version: 1,
      callId: 'call_1',
      channels: [
        { role: 'caller', text: 'tuesday', segments: [{ startS: 1, endS: 2, text: 'tuesday' }], source: 'asr' },
        { role: 'bot', text: 'Hello, how Tuesday, thank you. Goodbye.', source: 'ledger' },
      ],
      durations: { totalS: 5 },
    });
    expect(document.durations.callerSpeechS).toBeCloseTo(1, 1);
    expect(document.durations.botSpeechS).toBeCloseTo(2, 1);
    expect(document.talkRatio).toBeCloseTo(1 / 3, 1);
    expect(JSON.parse(await readFile(join(folder.path, 'call_1.analysis.json'), 'utf8'))).toEqual(document);
    expect((await readdir(folder.path)).filter((name) => name.includes('.tmp'))).toEqual([]);

    expect(sent).toHaveLength(2);
    expect(sent[1]?.language).toBe('en');
    const heard = parseWav(sent[1]?.wav ?? new Uint8Array(0));
    expect([heard.channels, heard.rateHz, heard.samples[0]?.length]).toEqual([1, RATE_HZ, 5 * RATE_HZ]);
    // The caller's channel: sound in second 1, none where the bot spoke.
    const loudest = (from: number, to: number): number =>
      Math.max(...(heard.samples[0]?.subarray(from * RATE_HZ, to * RATE_HZ) ?? []));
    expect(loudest(1, 2)).toBeGreaterThan(5_000);
    expect(loudest(3, 5)).toBe(0);
  });

  it.each([
    ['was never recorded', () => undefined],
    ['lost its recording', () => join(folder.path, 'lost.wav')],
  ])('concludes the analysis of a call that %s, from the words of the call itself', async (how, path) => {
    await using _work = worker({ transcribe: () => Promise.reject(new Error('nothing to hear')) });
    const callId = `unrecorded-${how.length}`;
    await store.calls.upsert(callRecordOf({ id: callId, recordingPath: path() }));
    const subject = { tenantId: 'default', callId };
    await queue.enqueue(POST_CALL, postCallJobId(subject), subject);
    const found = await eventually('the analysis', () => store.analyses.get('default', callId, 1));
    expect(callAnalysis.parse(found.document)).toMatchObject({
      channels: [
        { role: 'caller', source: 'live', text: 'मंगलवार', segments: [{ startS: 4, endS: 4 }] },
        {
          role: 'bot',
          source: 'ledger',
          text: 'Hello, how Tuesday, thank you. Goodbye.',
          segments: [{ startS: 0.5, endS: 1.5 }, {}],
        },
      ],
      talkRatio: null,
      unknown: [{ what: 'talk-ratio', reason: 'there is no recording' }],
      durations: { totalS: 0 },
      measuredFrom: 'nothing',
      problems: [expect.stringContaining('no recording')],
    });
    expect((await store.calls.get('default', callId))?.keeping.analysisState).toBe('done');
  });

  it('gives up the analysis of a call whose job failed without saying so, as when its workers were killed', async () => {
    await store.calls.upsert(callRecordOf({ id: 'killed' }));
    const subject = { tenantId: 'default', callId: 'killed' };
    {
      await using _work = queue.work(POST_CALL, () => Promise.reject(new JobSubjectError('killed', false, {})));
      await queue.enqueue(POST_CALL, postCallJobId(subject), subject);
      await eventually('the job to fail', async () => (await queue.failed(POST_CALL)).length === 1);
    }
    const stateOf = async () => (await store.calls.get('default', 'killed'))?.keeping.analysisState;
    expect(await stateOf()).toBe('pending');
    await sweep({
      store,
      queue,
      dispatcher: new WebhookDispatcher({ endpoints: [], store, queue, clock: systemClock }),
      clock: systemClock,
    });
    expect(await stateOf()).toBe('failed');
  });

  it('fails for good, with its reason, on a recording that is none, and later on one that is not there', async () => {
    await using _work = worker({ transcribe: () => Promise.reject(new Error('not reached')) });
    const recordingPath = join(folder.path, 'text.wav');
    await writeFile(recordingPath, 'not audio');
    await store.calls.upsert(callRecordOf({ id: 'bad', recordingPath }));
    await store.calls.upsert(callRecordOf({ id: 'gone', recordingPath: join(folder.path, 'away', 'gone.wav') }));
    for (const callId of ['bad', 'gone', 'never']) {
      const subject = { tenantId: 'default', callId };
      await queue.enqueue(POST_CALL, postCallJobId(subject), subject);
    }
    await queue.enqueue(POST_CALL, 'shapeless', 'nothing');
    const failed = await eventually('all to fail', async () => {
      const jobs = await queue.failed(POST_CALL);
      return jobs.length === 5 && jobs;
    });
    const facts = failed.map(({ id, attempts, reason }) => [id, attempts, reason.split(':')[0]]);
    expect(facts.sort((a, b) => String(a[0]).localeCompare(String(b[0])))).toEqual([
      ['post-call:default:bad:1', 1, 'OFFHOOK_WAV_INVALID'],
      ['post-call:default:gone:1', 3, 'OFFHOOK_JOB_SUBJECT'],
      ['post-call:default:killed:1', 1, 'OFFHOOK_JOB_SUBJECT'],
      ['post-call:default:never:1', 3, 'OFFHOOK_JOB_SUBJECT'],
      ['shapeless', 1, 'OFFHOOK_JOB_SUBJECT'],
    ]);
  });
});
