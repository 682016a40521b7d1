import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { CallJournal } from '../../../src/call/log/call-journal.ts';
import { DrainLease } from '../../../src/records/outbox/drain-lease.ts';
import { OrphanWatch } from '../../../src/records/after-call/orphan-watch.ts';
import { Outbox } from '../../../src/records/outbox/outbox.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { silentLogger } from '../../../src/observability/logger.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { temporaryFolder } from '../../support/databases.ts';
import { eventually } from '../../support/eventually.ts';
import { run } from '../../support/processes.ts';
import { nodeArguments } from '../../support/program.ts';

const otherGateway = fileURLToPath(new URL('../../support/live-call-child.ts', import.meta.url));

it("leaves another gateway's live calls alone, and ends them once it is killed", async () => {
  await using folder = await temporaryFolder();
  const other = run(process.execPath, [...(await nodeArguments(otherGateway)), folder.path]);
  try {
    await eventually('the other gateway', () => other.output().includes('holds'));
    const journalled = join(folder.path, 'calls', 'call_live.json');
    await eventually('the journal of its call', () => existsSync(journalled));
    const fail = (...problem: readonly unknown[]): never => {
      throw new Error(problem.join(': '));
    };
    const clock = new ManualClock(0, Date.now());
    const outbox = await Outbox.open(join(folder.path, 'outbox'), () => clock.wallMs());
    const lease = new DrainLease(join(folder.path, 'outbox', 'lease'), systemClock, fail);
    await using journal = new CallJournal(join(folder.path, 'calls'), fail);
    const ended: unknown[] = [];
    await using watch = new OrphanWatch({
      journal,
      keeping: { outbox, pump: undefined, mayDrain: () => lease.held() },
      clock,
      logger: silentLogger,
      events: { callEnded: (fact) => void ended.push(fact) },
    });
    await watch.start();
    expect([await lease.held(), ended]).toEqual([false, []]);
    await other.stop('SIGKILL');
    await eventually('its call to be ended', () => {
      clock.advance(1_000);
      return ended.length > 0;
    });
    expect(ended).toEqual([expect.objectContaining({ callId: 'call_live', reason: 'process-died' })]);
    const [name = ''] = await outbox.names();
    expect(await outbox.read(name)).toMatchObject({ kind: 'call-ended', body: { id: 'call_live', endReason: 'process-died' } });
    expect(existsSync(journalled)).toBe(false);
    await lease.release();
  } finally {
    await other.stop('SIGKILL');
  }
});
