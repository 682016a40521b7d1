import { existsSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { masterKeyCheck } from '../../../src/cli/doctor/stores.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { readMasterKey } from '../../../src/config/master-key.ts';
import { Secret } from '../../../src/config/secrets.ts';
import { deliverEndedCalls, keepEndedCall } from '../../../src/records/after-call/call-ended.ts';
import { Outbox } from '../../../src/records/outbox/outbox.ts';
import { OutboxPump } from '../../../src/records/outbox/outbox-pump.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { silentLogger } from '../../../src/observability/logger.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { type Database, openDatabase, storeOn } from '../../../src/records/database.ts';
import { MasterKeys } from '../../../src/records/privacy/master-keys.ts';
import { callRecordOf } from '../../support/call-records.ts';
import { onProblem, temporaryFolder } from '../../support/databases.ts';
import { eventually } from '../../support/eventually.ts';

describe('a store that was sealed under a master key', () => {
  const other = new Secret(Buffer.alloc(32, 'other').toString('base64'));
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  const open = (...masterKeys: readonly Secret[]): Promise<Database> =>
    openDatabase({ url: undefined, dataDir: folder.path, masterKeys, clock: systemClock, onProblem });
  const doctor = (masterKey?: Secret) => {
    const key = masterKey === undefined ? {} : { OFFHOOK_MASTER_KEY: masterKey.reveal() };
    return masterKeyCheck(loadConfig({ env: { OFFHOOK_DATA_DIR: folder.path, ...key }, files: [] }), systemClock);
  };

  beforeEach(async () => {
    folder = await temporaryFolder();
  });
  afterEach(() => folder[Symbol.asyncDispose]());

  it('does not open with a missing or different key, names the key it needs, and creates none', async () => {
    expect(await doctor().run(new AbortController().signal)).toEqual({ ok: true, detail: 'there is no store yet' });
    await (await open()).close();
    const path = join(folder.path, 'master-key');
    expect(await doctor().run(new AbortController().signal)).toEqual({ ok: true, detail: `${path} opens what the store holds` });
    const opening = open(other);
    await expect(opening).rejects.toMatchObject({ code: 'OFFHOOK_MASTER_KEY' });
    await expect(opening).rejects.toThrow(/sealed under another master key than the one of OFFHOOK_MASTER_KEY/);
    await expect(doctor(other).run(new AbortController().signal)).rejects.toThrow(/sealed under another master key/);
    await rename(path, `${path}.away`);
    await expect(open()).rejects.toThrow(`${path} is missing`);
    await expect(doctor().run(new AbortController().signal)).rejects.toThrow(`${path} is missing`);
    expect(existsSync(path)).toBe(false);
    await rename(`${path}.away`, path);
    await (await open()).close();
  });

  it('opens with the new key before the old one, then with the new one alone; the doctor names calls it cannot read', async () => {
    const database = await open();
    await storeOn(database).calls.upsert(callRecordOf({ id: 'call_old' }));
    await database.close();
    const old = readMasterKey(folder.path);
    if (old === undefined) throw new Error('the first start makes a master key');
    await (await open(other, old)).close();
    await (await open(other)).close();
    expect(await doctor(other).run(new AbortController().signal)).toMatchObject({
      ok: false,
      detail: expect.stringContaining('call_old') as unknown,
    });
  });

  it('keeps an ended call in the outbox while another key seals the store, and stores it with the right key', async () => {
    await (await open()).close();
    const right = await open();
    // As a process with a wrong key that started on an empty database before this one did.
    const wrong = storeOn({ ...right, masterKeys: new MasterKeys([other]) });
    const queue = { enqueue: async () => undefined } as never;
    const clock = new ManualClock();
    const outbox = await Outbox.open(join(folder.path, 'outbox'), () => clock.wallMs());
    const logger = { ...silentLogger, warn: (facts: object) => void warnings.push(facts) };
    const warnings: object[] = [];
    const lost = new OutboxPump({ outbox, deliver: deliverEndedCalls({ store: wrong, queue }), clock, logger });
    await keepEndedCall(outbox, lost, callRecordOf({ id: 'call_1' }));
    await eventually('it to be tried', () => warnings.length > 0);
    expect(warnings[0]).toMatchObject({ error: { code: 'OFFHOOK_MASTER_KEY' } });
    await lost.stop();
    expect(await outbox.allNames()).toEqual([expect.not.stringContaining('rejected')]);
    const store = storeOn(right);
    const pump = new OutboxPump({ outbox, deliver: deliverEndedCalls({ store, queue }), clock, logger: silentLogger });
    await pump.drained();
    await pump.stop();
    expect((await store.calls.get('default', 'call_1'))?.id).toBe('call_1');
    await store.close();
  });
});
