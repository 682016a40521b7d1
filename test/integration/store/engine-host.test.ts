import { join } from 'node:path';
import { expect, it } from 'vitest';
import { systemClock } from '../../../src/kernel/clock.ts';
import { openDatabase } from '../../../src/store/database.ts';
import { EngineHost } from '../../../src/store/embedded/engine-host.ts';
import { queryMessage } from '../../../src/store/embedded/wire-messages.ts';
import { storeOn } from '../../../src/store/postgres-store.ts';
import { callRecordOf } from '../../support/call-records.ts';
import { onProblem, temporaryFolder } from '../../support/databases.ts';

it('starts another engine after one has died, with everything that was committed', async () => {
  await using folder = await temporaryFolder();
  const options = { url: undefined, dataDir: folder.path, clock: systemClock, onProblem };
  const first = await openDatabase(options);
  await first.close();

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

  await using again = await openDatabase(options);
  await storeOn(again).calls.upsert(callRecordOf());
});
