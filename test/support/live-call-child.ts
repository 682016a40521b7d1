import { join } from 'node:path';
import { CallJournal } from '../../src/call/log/call-journal.ts';
import { DrainLease } from '../../src/records/outbox/outbox-pump.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { callRecordOf } from './call-records.ts';

/** What a gateway on the data folder of its first argument holds while it has a live call: the drain lease, and the call's journal. */
const [, , dataDir = ''] = process.argv;
const fail = (...problem: readonly unknown[]): never => {
  throw new Error(problem.join(': '));
};
const lease = new DrainLease(join(dataDir, 'outbox', 'lease'), systemClock, fail);
const journal = new CallJournal(join(dataDir, 'calls'), fail);
journal.keep('call_live', callRecordOf({ id: 'call_live' }));
process.stdout.write(`${(await lease.held()) ? 'holds' : 'waits'}\n`);
setInterval(() => undefined, 60_000);
