import { mkdir, readFile, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import { verifyChain } from '../../../src/outbound/gate/chain.ts';
import { wavHeader } from '../../../src/audio/wav.ts';
import { loadConfig } from '../../../src/config/load.ts';
import {
  deliverEndedCalls,
  keepEndedCall,
  keepEvent,
  deliverRecordings,
  keepRecording,
} from '../../../src/records/after-call/call-ended.ts';
import { OutboxPump } from '../../../src/records/outbox/outbox-pump.ts';
import { postCallJob } from '../../../src/records/after-call/post-call-job.ts';
import { POST_CALL } from '../../../src/records/queue/port.ts';
import { retentionJob } from '../../../src/records/retention/retention.ts';
import { callStarted } from '../../../src/records/webhooks/webhook-event.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { silentLogger } from '../../../src/observability/logger.ts';
import { openRecords, type Records } from '../../../src/hosts/records.ts';
import { yesToEach } from '../../support/attempt-records.ts';
import { callRecordOf } from '../../support/call-records.ts';
import { keeping, temporaryFolder } from '../../support/databases.ts';
import { startRedis } from '../../support/redis-server.ts';
import { requireTool } from '../../support/requires.ts';
import { S3_CREDENTIALS, startS3 } from '../../support/s3-server.ts';
import { startReceiver } from '../../support/webhook-receiver.ts';
import { hangs } from '../../support/patience.ts';

const redisProgram = requireTool('redis-server');
const NUMBER = '+15550123456';
const OTHERS_NUMBER = '+15550987654';
/** What is said by the person who is erased, in every place where words can stand. */
const WORDS = ['zebrafinch', 'कठपुतली', 'quincunx', 'marzipan', 'tomfoolery', '90210777'];
const OTHERS_WORD = 'evergreen';

const sayings = (words: readonly string[]) => ({
  digits: words[5] ?? '1',
  turns: [{ ...callRecordOf().turns[1]!, callerText: `${words[0]} ${words[1]}`, botHeardText: words[2] ?? '' }],
  timeline: [{ atMs: 0, type: 'note', text: words[3] }],
  variables: { what: words[4] ?? '' },
});

/** Every byte of every file below a folder. */
async function bytesOf(folder: string): Promise<Buffer> {
  const names = await readdir(folder, { recursive: true });
  const pieces = await Promise.all(
    names.map(async (name) => {
      const path = join(folder, name);
      return [Buffer.from(name), (await stat(path)).isFile() ? await readFile(path) : Buffer.alloc(0)];
    }),
  );
  return Buffer.concat(pieces.flat());
}

async function redisText(url: string): Promise<string> {
  const redis = new Redis(url);
  const texts: string[] = [];
  for (const key of await redis.keys('*')) {
    const read: Record<string, () => Promise<unknown>> = {
      hash: () => redis.hgetall(key),
      zset: () => redis.zrange(key, '0', '-1'),
      list: () => redis.lrange(key, 0, -1),
      set: () => redis.smembers(key),
      stream: () => redis.xrange(key, '-', '+'),
      string: () => redis.get(key),
    };
    const value = await read[await redis.type(key)]!();
    texts.push(`${key} ${JSON.stringify(value)}`);
  }
  redis.disconnect();
  return texts.join('\n');
}

/** Which of these the bytes hold: as they are, or as JSON or a database's text output would write them. */
function findsIn(bytes: Buffer, secrets: readonly string[]): string[] {
  return secrets.filter((secret) => bytes.includes(secret) || bytes.includes(Buffer.from(secret).toString('hex')));
}

/** A WAV whose samples are a text, so that it can be looked for. */
const wavSaying = (text: string): Buffer => {
  const data = Buffer.from(text.repeat(500).slice(0, 40_000).padEnd(40_000));
  return Buffer.concat([wavHeader({ rateHz: 8000, channels: 2, dataBytes: data.length, encoding: 'pcm16' }), data]);
};

describe.each([
  { place: 'a folder, with jobs in the store', isRemote: false, installed: true },
  { place: 'a bucket, with jobs in Redis', isRemote: true, installed: redisProgram !== undefined },
])('erasing a number, recordings in $place', ({ isRemote, installed }) => {
  it.runIf(installed)('removes its number and words from store, objects, outbox, jobs and files', async () => {
    await using folder = await temporaryFolder();
    await using s3 = await startS3();
    await using redis = isRemote ? await startRedis(redisProgram!) : undefined;
    await using receiver = await startReceiver('whatever');
    await writeFile(
      join(folder.path, 'hooks.yaml'),
      JSON.stringify({
        endpoints: [
          { name: 'crm', url: receiver.url, secretEnv: 'CRM_SECRET', words: true, numbers: 'full', allowPrivate: true },
        ],
      }),
    );
    const dataDir = join(folder.path, 'data');
    const bucket = {
      OFFHOOK_RECORDINGS__S3_ENDPOINT: s3.url,
      OFFHOOK_RECORDINGS__S3_BUCKET: 'calls',
      OFFHOOK_RECORDINGS__S3_REGION: S3_CREDENTIALS.region,
      OFFHOOK_S3_ACCESS_KEY_ID: S3_CREDENTIALS.accessKeyId,
      OFFHOOK_S3_SECRET_ACCESS_KEY: S3_CREDENTIALS.secretAccessKey,
    };
    const env = {
      OFFHOOK_DATA_DIR: dataDir,
      OFFHOOK_RECORDINGS__SEAL: 'always',
      OFFHOOK_WEBHOOKS__ENDPOINTS: join(folder.path, 'hooks.yaml'),
      CRM_SECRET: 'whatever',
      ...(isRemote ? { ...bucket, REDIS_URL: redis!.url } : {}),
    };
    const config = loadConfig({ env, files: [] });
    expect(config.problems).toEqual([]);
    const records = await openRecords({ config, clock: systemClock, logger: silentLogger });
    try {
      await keepCalls(records, join(dataDir, 'recordings', '2026-01-01'));
      const before = await bytesOf(join(dataDir, 'outbox'));
      // The outbox still holds words and number: what looks for them finds them.
      expect(findsIn(before, [NUMBER, ...WORDS])).toEqual([NUMBER, ...WORDS]);
      expect((await records.store.calls.search('default', { limit: 9, text: 'zebrafinch कठपुतली' })).calls).toHaveLength(1);
      if (isRemote) expect([...s3.objects.keys()].filter((key) => key.includes('sealed'))).toHaveLength(2);

      const erasure = await records.eraser.eraseNumber('default', '+1 (555) 012-3456');
      expect({ ...erasure, erased: erasure.erased.toSorted() }).toEqual({
        erased: ['gone', 'queued'],
        held: [],
        live: [],
        missing: [],
        suppressions: 0,
        consents: 0,
        contacts: 0,
      });
      expect((await records.store.calls.search('default', { limit: 9, number: NUMBER })).calls).toEqual([]);
      const kept = await records.store.calls.get('default', 'kept');
      expect(kept).toMatchObject({ from: OTHERS_NUMBER, turns: [{ callerText: `${OTHERS_WORD} undefined` }] });
      const recording = await records.recordings.open(kept!);
      const opened: Uint8Array[] = [];
      for await (const part of recording!.read()) opened.push(part);
      expect(Buffer.concat(opened)).toEqual(wavSaying(OTHERS_WORD));
      const gone = await records.store.calls.get('default', 'gone');
      expect(await records.recordings.open(gone!)).toBeUndefined();
      if (isRemote) expect([...s3.objects.keys()].map((key) => key.split('/').at(-1))).toEqual(['kept.wav.sealed']);
    } finally {
      await records.close();
    }
    const redisLeft = isRemote ? await redisText(redis!.url) : '';
    const left = Buffer.concat([await bytesOf(dataDir), Buffer.from(redisLeft), ...s3.objects.values()]);
    expect(findsIn(left, [NUMBER, NUMBER.slice(1), ...WORDS])).toEqual([]);
  });
});

/** Three calls: one that went all the way, one that is still in the outboxes, and somebody else's. */
async function keepCalls(records: Records, day: string): Promise<void> {
  const { store, queue, dispatcher, outbox, recordingOutbox } = records;
  await mkdir(day, { recursive: true });
  const call = async (id: string, from: string, words: readonly string[]) => {
    const recordingPath = join(day, `${id}.wav`);
    await writeFile(recordingPath, wavSaying(words[0]!));
    return callRecordOf({ id, from, recordingPath, recordingSidecarPath: join(day, `${id}.recording.json`), ...sayings(words) });
  };
  const common = { clock: systemClock, logger: silentLogger };
  const sealing = new OutboxPump({ outbox: recordingOutbox, deliver: deliverRecordings(records), ...common });
  const sealLater = (record: Parameters<typeof keepRecording>[2]) => keepRecording(recordingOutbox, sealing, record);
  const pump = new OutboxPump({ outbox, deliver: deliverEndedCalls({ store, queue, dispatcher, sealLater }), ...common });
  await keepEndedCall(outbox, pump, await call('gone', NUMBER, WORDS));
  await keepEndedCall(outbox, pump, await call('kept', OTHERS_NUMBER, [OTHERS_WORD]));
  await pump.drained();
  await sealing.drained();
  await pump.stop();
  await sealing.stop();
  expect((await queue.counts(POST_CALL)).waiting).toBe(2);
  expect((await store.webhooks.page('default', { limit: 9, callId: 'gone' })).deliveries).toHaveLength(3);
  const document = { text: WORDS.join(' ') };
  await store.analyses.put({
    tenantId: 'default',
    callId: 'gone',
    version: 1,
    createdAtMs: 1,
    document,
    searchText: document.text,
  });
  await writeFile(join(day, 'gone.analysis.json'), JSON.stringify(document));
  const queued = await call('queued', NUMBER, WORDS);
  await keepEvent(outbox, undefined, callStarted(queued));
  await keepEndedCall(outbox, undefined, queued);
  await outbox.reject((await outbox.names())[0]!, new Error('set aside'));
}

describe('erasing', () => {
  it("leaves another tenant's calls alone: their recordings, what is held, what is live and what is on its way", async () => {
    await using kept = await keeping();
    const { records, folder } = kept;
    const { store, eraser, outbox } = records;
    const day = join(folder.path, 'recordings', '2026-01-01');
    await mkdir(day, { recursive: true });
    await mkdir(join(folder.path, 'calls'), { recursive: true });
    const ids = ['held', 'live', 'queued', 'stored'];
    for (const id of ids) await writeFile(join(day, `${id}.wav`), 'x');
    for (const id of ['held', 'stored']) await store.calls.upsert(callRecordOf({ id, recordingPath: join(day, `${id}.wav`) }));
    await store.calls.setLegalHold('default', 'held', true);
    await writeFile(join(folder.path, 'calls', 'live.json'), JSON.stringify(callRecordOf({ id: 'live' })));
    await keepEndedCall(outbox, undefined, callRecordOf({ id: 'queued' }));
    for (const id of ids) {
      expect(await eraser.eraseCall('other', id)).toEqual({
        erased: [],
        held: [],
        live: [],
        missing: [id],
        suppressions: 0,
        consents: 0,
        contacts: 0,
      });
    }
    expect((await readdir(day)).toSorted()).toEqual(ids.map((id) => `${id}.wav`));
    expect([await outbox.names(), (await store.calls.get('default', 'stored'))?.from]).toEqual([
      [expect.any(String)],
      callRecordOf().from,
    ]);

    // What was erased once is known: where files were left by a death in its middle, they go now.
    expect(await eraser.eraseCall('default', 'queued')).toMatchObject({ erased: ['queued'] });
    await writeFile(join(day, 'queued.wav'), 'left');
    expect(await eraser.eraseCall('default', 'queued')).toMatchObject({ erased: ['queued'] });
    expect(await readdir(day)).not.toContain('queued.wav');
  });

  it.each([
    ['while it is transcribed', 'transcribed'],
    ['between the last question to the store and the writing of its document', 'asked'],
  ])('leaves no document of a call that is erased %s', async (_when, moment) => {
    await using kept = await keeping();
    const { records, folder } = kept;
    const { store, eraser, recordings } = records;
    const day = join(folder.path, 'recordings', '2026-01-01');
    const recordingPath = join(day, 'call_1.wav');
    await mkdir(day, { recursive: true });
    await writeFile(recordingPath, wavSaying(WORDS[0]!));
    await store.calls.upsert(callRecordOf({ recordingPath }));
    const erased: unknown[] = [];
    const erase = async (): Promise<void> => void erased.push(await eraser.eraseCall('default', 'call_1'));
    const transcribe = async () => {
      if (moment === 'transcribed') await erase();
      return { text: WORDS[0], segments: [{ startS: 0, endS: 1, text: WORDS[0] }], words: [], requestId: 'r' } as never;
    };
    let asked = 0;
    const calls: typeof store.calls = Object.assign(Object.create(store.calls), {
      async get(...of: Parameters<typeof store.calls.get>) {
        const call = await store.calls.get(...of);
        asked += 1;
        if (moment === 'asked' && asked === 2) await erase();
        return call;
      },
    });
    const job = postCallJob({
      store: { ...store, calls },
      recordings,
      transcriber: { transcribe, transcribeMedical: transcribe },
      clock: systemClock,
      workFolder: join(folder.path, 'work'),
    });
    const payload = { tenantId: 'default', callId: 'call_1' };
    await job({ name: POST_CALL, id: 'j', payload, attempt: 1, isLast: false, signal: hangs() });
    expect(erased).toEqual([{ erased: ['call_1'], held: [], live: [], missing: [], suppressions: 0, consents: 0, contacts: 0 }]);
    expect([await readdir(day), await readdir(join(folder.path, 'work'))]).toEqual([[], []]);
    expect(await store.analyses.list('default', 'call_1')).toEqual([]);
  });

  it('leaves what a legal hold protects and what is still being said, and expires the rest by bot', async () => {
    await using kept = await keeping();
    const { records, folder } = kept;
    const { store, eraser } = records;
    const day = join(folder.path, 'recordings', '2026-01-01');
    await mkdir(day, { recursive: true });
    await mkdir(join(folder.path, 'calls'), { recursive: true });
    const endedAtMs = Date.now() - 10 * 86_400_000;
    for (const [id, botName] of [
      ['held', 'short'],
      ['old', 'short'],
      ['words', 'quiet'],
      ['other', 'unnamed'],
    ] as const) {
      const recordingPath = join(day, `${id}.wav`);
      for (const ending of ['wav', 'recording.json', 'analysis.json', 'call.json'])
        await writeFile(join(day, `${id}.${ending}`), 'x');
      await store.calls.upsert(callRecordOf({ id, botName, endedAtMs, recordingPath }));
    }
    // Attempts that nobody answered have no call.
    const numbers = ['+12127365001', '+12127365002'];
    const about = { numbers, sinceMs: 0, lease: { owner: 'test', untilMs: 1 } };
    const nameOf = (number: string) => (number === numbers[0] ? 'rung' : 'kept');
    await store.attempts.decide('default', about, yesToEach('default', nameOf, { botName: 'quiet' }));
    for (const [id, at] of [
      ['rung', endedAtMs],
      ['kept', Date.now()],
    ] as const)
      await store.attempts.advance('default', id, ['queued'], 'ended', {
        endedAtMs: at,
        placedAtMs: at,
        disposition: 'no-answer',
      });
    await store.calls.setLegalHold('default', 'held', true);
    await writeFile(join(folder.path, 'calls', 'live.json'), JSON.stringify(callRecordOf({ id: 'live' })));
    expect(await eraser.eraseCall('default', 'held')).toMatchObject({ erased: [], held: ['held'] });
    expect(await eraser.eraseCall('default', 'live')).toMatchObject({ erased: [], live: ['live'] });

    const fixturesFolder = join(folder.path, 'fixtures');
    await mkdir(fixturesFolder);
    const header = { format: 'offhook-sealed-fixture', version: 1, tenantId: 'default' };
    for (const [callId, expiresAtMs] of Object.entries({ over: 1, alive: null }))
      await writeFile(
        join(fixturesFolder, `${callId}.fixture.sealed`),
        `${JSON.stringify({ ...header, callId, expiresAtMs })}\n`,
      );

    const job = retentionJob({
      store,
      fixturesFolder,
      dataDir: folder.path,
      uploads: { remove: async () => undefined },
      eraser,
      bots: () =>
        new Map([
          ['short', { audioDays: 5, textDays: 9 }],
          ['quiet', { audioDays: 0, textDays: 9 }],
        ]),
      byDefault: { audioDays: 30, textDays: 0 },
      clock: systemClock,
      logger: silentLogger,
    });
    const run = { name: 'retention', id: 'r', payload: {}, attempt: 1, isLast: false, signal: new AbortController().signal };
    await job(run);
    await job(run);
    expect((await readdir(day)).sort()).toEqual([
      ...['analysis.json', 'call.json', 'recording.json', 'wav'].map((ending) => `held.${ending}`),
      ...['analysis.json', 'call.json', 'recording.json', 'wav'].map((ending) => `other.${ending}`),
      'words.recording.json',
      'words.wav',
    ]);
    expect(await readdir(fixturesFolder)).toEqual(['alive.fixture.sealed']);
    const textOf = async (id: string) => (await store.calls.get('default', id))?.turns[1]?.callerText;
    expect([await textOf('held'), await textOf('old'), await textOf('words'), await textOf('other')]).toEqual([
      'मंगलवार',
      '',
      '',
      'मंगलवार',
    ]);
    expect(await store.attempts.get('default', 'rung')).toMatchObject({ to: '', variables: {}, disposition: 'no-answer' });
    expect(await store.attempts.get('default', 'kept')).toMatchObject({ to: '+12127365002', variables: { name: 'Asha' } });
    expect(await verifyChain(store.attempts.decisions('default'), 'default')).toMatchObject({ entries: 2, faultCount: 0 });
  });

  it('erases a person from attempts, consents and lists of numbers, who stays suppressed and in the log of decisions', async () => {
    await using kept = await keeping();
    const { records, folder } = kept;
    const { store, eraser } = records;
    const about = { numbers: [NUMBER, OTHERS_NUMBER], sinceMs: 0, lease: { owner: 'test', untilMs: 1 } };
    const idOf = (number: string) => (number === NUMBER ? 'theirs' : 'anothers');
    const made = { createdAtMs: 5, variables: { said: WORDS[0]! } };
    await store.attempts.decide('default', about, yesToEach('default', idOf, made));
    const ids = [NUMBER, OTHERS_NUMBER].map(idOf);
    for (const id of ids) await store.attempts.advance('default', id, ['queued'], 'placing', { placedAtMs: 6 });
    const entry = { list: 'own', addedAtMs: 1, source: 'caller', note: `${WORDS[1]} ${NUMBER}` };
    await store.suppressions.add('default', [{ ...entry, number: NUMBER }]);
    const evidence = `${WORDS[2]} of ${NUMBER}`;
    const consent = { id: 'c1', level: 'written', purposes: ['service'], givenAtMs: 1, evidence, registeredId: 'R1' } as const;
    await store.consents.put('default', NUMBER, [consent]);

    expect(await eraser.eraseNumber('default', NUMBER)).toMatchObject({ live: [ids[0]], suppressions: 1, consents: 1 });
    for (const id of ids)
      await store.attempts.advance('default', id, ['placing'], 'ended', { endedAtMs: 7, disposition: 'busy' });
    expect(await eraser.eraseNumber('default', '+1 (555) 012-3456')).toMatchObject({ erased: [ids[0]], live: [], consents: 0 });

    expect(await store.attempts.get('default', ids[0]!)).toMatchObject({ to: '', variables: {}, disposition: 'busy' });
    expect(await store.attempts.get('default', ids[1]!)).toMatchObject({ to: OTHERS_NUMBER });
    expect(await store.suppressions.of('default', NUMBER)).toMatchObject([{ list: 'own', number: undefined, note: undefined }]);
    expect(await store.consents.of('default', NUMBER)).toEqual([]);
    expect(await verifyChain(store.attempts.decisions('default'), 'default')).toMatchObject({ entries: 2, faultCount: 0 });
    expect((await eraser.eraseCall('default', ids[1]!)).erased).toEqual([ids[1]]);
    const bytes = await bytesOf(folder.path);
    for (const word of [...WORDS.slice(0, 3), NUMBER, NUMBER.slice(2)])
      expect([word, bytes.includes(word)]).toEqual([word, false]);
  });
});
