import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { expect, it } from 'vitest';
import { seededRandom } from '../../src/audio/tone.ts';
import { parseWav, wavHeader } from '../../src/audio/wav.ts';
import { CallJournal } from '../../src/call/log/call-journal.ts';
import { loadConfig } from '../../src/config/load.ts';
import { deliverEndedCalls, keepEndedCall, deliverRecordings, keepRecording } from '../../src/records/after-call/call-ended.ts';
import { endOrphans } from '../../src/records/after-call/orphan-watch.ts';
import { Outbox } from '../../src/records/outbox/outbox.ts';
import { OutboxPump } from '../../src/records/outbox/outbox-pump.ts';
import { thisProcess } from '../../src/kernel/process-identity.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { silentLogger } from '../../src/observability/logger.ts';
import { openRecords } from '../../src/hosts/records.ts';
import { callRecordOf } from '../support/call-records.ts';
import { temporaryFolder } from '../support/databases.ts';
import { startPostgres } from '../support/postgres-server.ts';
import { eventually } from '../support/eventually.ts';
import { type Running, run } from '../support/processes.ts';
import { startRedis } from '../support/redis-server.ts';
import { requireTool } from '../support/requires.ts';
import { startReceiver } from '../support/webhook-receiver.ts';

const CHILD = fileURLToPath(new URL('../support/backlog-child.ts', import.meta.url));
const CALLS = Number(process.env.OFFHOOK_TEST_CALLS ?? 200);
const seed = Number(process.env.OFFHOOK_TEST_SEED ?? Date.now() % 1_000_000);
const SECRET = `whsec_${Buffer.alloc(32, 'f').toString('base64')}`;
const [redisProgram, postgresProgram] = [requireTool('redis-server'), requireTool('postgres')];

const recordingBytes = (): Buffer => {
  const samples = Int16Array.from({ length: 8000 * 2 }, (_, at) => (at % 40 < 20 ? 8000 : -8000));
  return Buffer.concat([
    wavHeader({ rateHz: 8000, channels: 2, dataBytes: samples.byteLength, encoding: 'pcm16' }),
    Buffer.from(samples.buffer),
  ]);
};

it.runIf(redisProgram !== undefined && postgresProgram !== undefined)(
  'brings every call to one record, one analysis and its webhooks, whatever happens to workers, Redis, Postgres and the disk',
  async () => {
    console.log(`OFFHOOK_TEST_SEED=${seed}`);
    const random = seededRandom(seed);
    await using folder = await temporaryFolder();
    await using redis = await startRedis(redisProgram!);
    await using postgres = await startPostgres(postgresProgram!);
    await using receiver = await startReceiver(SECRET);
    const dataDir = join(folder.path, 'data');
    const hooks = join(folder.path, 'hooks.yaml');
    const endpoint = { name: 'all', url: receiver.url, secretEnv: 'HOOK_SECRET', allowPrivate: true };
    await writeFile(hooks, JSON.stringify({ endpoints: [{ ...endpoint, events: ['call.ended', 'analysis.completed'] }] }));
    const own = {
      OFFHOOK_DATA_DIR: dataDir,
      DATABASE_URL: postgres.url,
      REDIS_URL: redis.url,
      OFFHOOK_RECORDINGS__SEAL: 'always',
      OFFHOOK_WEBHOOKS__ENDPOINTS: hooks,
      OFFHOOK_JOBS__FIRST_RETRY_MS: '200',
      HOOK_SECRET: SECRET,
    };
    const config = loadConfig({ env: own, files: [] });
    expect(config.problems).toEqual([]);
    const records = await openRecords({ config, clock: systemClock, logger: silentLogger });
    const { store, queue, dispatcher, recordings, recordingOutbox } = records;

    let refusals = 0;
    const outbox = await Outbox.open(
      join(dataDir, 'outbox'),
      () => Date.now(),
      undefined,
      async (path, bytes) => {
        if (random() < 0.1) {
          refusals += 1;
          // Half of it is there when the disk is full.
          await writeFile(path, bytes.subarray(0, bytes.length / 2));
          throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
        }
        await writeFile(path, bytes, { flag: 'wx', flush: true });
      },
    );
    const common = { clock: systemClock, logger: silentLogger };
    const sealing = new OutboxPump({ outbox: recordingOutbox, deliver: deliverRecordings(records), ...common });
    const sealLater = (record: Parameters<typeof keepRecording>[2]) => keepRecording(recordingOutbox, sealing, record);
    const pump = new OutboxPump({ outbox, deliver: deliverEndedCalls({ store, queue, dispatcher, sealLater }), ...common });
    const workers = new Set<Running>();
    const spawn = (): void => void workers.add(run(process.execPath, ['--import', 'tsx', CHILD], {}, { ...process.env, ...own }));
    let kills = 0;
    const killOne = async (): Promise<void> => {
      const [worker] = workers;
      if (worker === undefined) return;
      workers.delete(worker);
      await worker.stop('SIGKILL');
      kills += 1;
      spawn();
    };
    try {
      spawn();
      spawn();
      const day = join(dataDir, 'recordings', '2026-01-01');
      await mkdir(day, { recursive: true });
      // What a gateway cannot put into the outbox stays in its journal, and its next start ends it.
      const dead = new CallJournal(join(dataDir, 'calls'), () => undefined, { owner: { ...thisProcess(), pid: 999_999_999 } });
      const [flushAt, restartAt] = [Math.floor(CALLS * (0.2 + 0.2 * random())), Math.floor(CALLS * (0.6 + 0.2 * random()))];
      const faults: Promise<void>[] = [];
      for (let index = 0; index < CALLS; index += 1) {
        const id = `call_${index}`;
        const recordingPath = join(day, `${id}.wav`);
        await writeFile(recordingPath, recordingBytes());
        const record = callRecordOf({ id, recordingPath, turns: [], endedAtMs: Date.now() });
        await keepEndedCall(outbox, pump, record).catch(() => dead.keep(id, record));
        if (random() < 8 / CALLS) await killOne();
        if (index === flushAt) {
          const client = new Redis(redis.url);
          await eventually('jobs to be there', async () => (await client.dbsize()) > 3, 60_000);
          await client.flushall();
          client.disconnect();
        }
        if (index === restartAt) faults.push(postgres.restart());
        await new Promise((resolve) => setTimeout(resolve, random() * 60));
      }
      await Promise.all(faults);
      await killOne();
      await eventually('the journal of the dead to be written', () => refusals > 0, 5_000);
      await dead[Symbol.asyncDispose]();
      const journal = new CallJournal(join(dataDir, 'calls'), () => undefined);
      const again = { outbox: await Outbox.open(join(dataDir, 'outbox'), () => Date.now()), pump };
      await endOrphans(journal, again, systemClock, { logger: silentLogger, events: { callEnded: () => undefined } });

      const told = (type: string): Set<unknown> =>
        new Set(receiver.received.filter(({ body }) => body.type === type).map(({ body }) => body.data['callId']));
      await eventually(
        'all to be told',
        () => told('call.ended').size === CALLS && told('analysis.completed').size === CALLS,
        300_000,
      ).catch(async (error: unknown) => {
        const counts = { posts: await queue.counts('post-call'), hooks: await queue.counts('webhooks') };
        const sizes = { ended: told('call.ended').size, analysed: told('analysis.completed').size };
        throw new Error(JSON.stringify({ ...sizes, ...counts, waiting: outbox.size, sealing: recordingOutbox.size }), {
          cause: error,
        });
      });
      console.log(`${CALLS} calls, ${kills} kills, ${refusals} refused writes, ${receiver.received.length} deliveries`);
      expect(receiver.unbelieved).toEqual([]);
      const ids: string[] = [];
      let before: string | undefined;
      do {
        const page = await store.calls.search('default', { limit: 200, before });
        ids.push(...page.calls.map(({ id }) => id));
        before = page.next;
      } while (before !== undefined);
      expect(ids.toSorted()).toEqual(Array.from({ length: CALLS }, (_, index) => `call_${index}`).sort());
      for (const id of ids) {
        expect(await store.analyses.list('default', id)).toHaveLength(1);
        const call = await store.calls.get('default', id);
        expect(call?.keeping).toMatchObject({ analysisState: 'done', recordingObject: expect.any(String) });
        const parts: Uint8Array[] = [];
        for await (const part of (await recordings.open(call!))!.read()) parts.push(part);
        expect(parseWav(Buffer.concat(parts)).samples).toHaveLength(2);
      }
    } finally {
      await Promise.all([...workers].map((worker) => worker.stop('SIGKILL')));
      await pump.stop();
      await sealing.stop();
      await records.close();
    }
  },
);
