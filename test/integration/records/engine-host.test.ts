import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { systemClock } from '../../../src/kernel/clock.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { openDatabase, storeOn } from '../../../src/records/database.ts';
import { EngineHost } from '../../../src/records/embedded/engine.ts';
import { queryMessage } from '../../../src/records/embedded/wire.ts';
import { callRecordOf } from '../../support/call-records.ts';
import { onProblem, temporaryFolder } from '../../support/databases.ts';

/** A closed store. Each test leaves it as whole as it found it. */
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
const open = () => openDatabase({ url: undefined, dataDir: folder.path, clock: systemClock, onProblem });
beforeAll(async () => {
  folder = await temporaryFolder();
  await (await open()).close();
});
afterAll(() => folder[Symbol.asyncDispose]());

it('restarts a dead engine with every committed row', async () => {
  const problems: Error[] = [];
  await using host = await EngineHost.start(join(folder.path, 'store'), systemClock, (error) => problems.push(error));
  await host.exec(queryMessage(`CREATE TABLE public.kept AS SELECT 'yes' AS answer`));
  // An order that is none takes the thread down, as any error outside a query does.
  const broken: unknown = 'not bytes';
  await expect(host.exec(broken as Uint8Array)).rejects.toThrow();
  const reply = Buffer.from(await host.exec(queryMessage('SELECT answer FROM kept')));
  expect(reply.toString()).toContain('yes');
  expect(problems).toHaveLength(1);
  await host.close();

  await using again = await open();
  await storeOn(again).calls.upsert(callRecordOf());
});

it('replaces an engine that never answers', async () => {
  const clock = new ManualClock();
  const problems: Error[] = [];
  await using host = await EngineHost.start(join(folder.path, 'store'), clock, (error) => problems.push(error));
  const endless = host.exec(queryMessage('DO $$ BEGIN LOOP END LOOP; END $$'));
  const refused = expect(endless).rejects.toThrow('did not answer within 30000 ms');
  clock.advance(30_000);
  await refused;
  const reply = Buffer.from(await host.exec(queryMessage(`SELECT 'yes' AS answer`)));
  expect(reply.toString()).toContain('yes');
  expect(problems).toHaveLength(1);
});

it('backs off between failing engine starts', async () => {
  const clock = new ManualClock();
  const tries: Error[] = [];
  const store = join(folder.path, 'store');
  await using host = await EngineHost.start(store, clock, (error) => tries.push(error));
  const broken: unknown = 'not bytes';
  await expect(host.exec(broken as Uint8Array)).rejects.toThrow();
  // Of a version that this Postgres refuses at once.
  const versionFile = join(store, 'PG_VERSION');
  const version = await readFile(versionFile);
  await writeFile(versionFile, '1\n');
  for (const [waitMs, tried] of [
    [0, 1],
    [999, 1],
    [1, 2],
    [1_999, 2],
  ] as const) {
    clock.advance(waitMs);
    await expect(host.exec(queryMessage('SELECT 1'))).rejects.toThrow();
    expect(tries).toHaveLength(tried);
  }
  await writeFile(versionFile, version);
  clock.advance(1);
  await host.exec(queryMessage('SELECT 1'));
});
