import { sleep } from '../../src/kernel/waiting.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { openDatabase, storeOn } from '../../src/records/database.ts';
import { callRecordOf } from './call-records.ts';

/**
 * A process that opens the store of the folder in its first argument, says where it is, writes the call named by its
 * second one every few milliseconds under rising ids until told to stop, and prints each id once it is stored. The third
 * is how long it waits for a store that another process has, in ms.
 */
const [dataDir = '', prefix = '', waitMs = '30000'] = process.argv.slice(2);
const database = await openDatabase({ url: undefined, dataDir, clock: systemClock, onProblem: () => {}, waitMs: Number(waitMs) });
const store = storeOn(database);
process.stdout.write(`${database.place}\n`);
const stopping = new AbortController();
process.once('SIGTERM', () => stopping.abort());
for (let index = 0; !stopping.signal.aborted; index += 1) {
  const id = `${prefix}${index}`;
  await store.calls.upsert(callRecordOf({ id }));
  process.stdout.write(`${id}\n`);
  await sleep(systemClock, 5);
}
await store.close();
process.exit(0);
