import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { CallJournal } from '../../../src/call/call-journal.ts';
import { endOrphans } from '../../../src/jobs/call-keeping.ts';
import { Outbox } from '../../../src/jobs/outbox.ts';
import { silentLogger } from '../../../src/observability/logger.ts';
import { ManualClock } from '../../../src/sim/manual-clock.ts';

const folders: string[] = [];
/** A process number that no running process has. */
const DEAD = 2 ** 22 + 1;

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'offhook-journal-'));
  folders.push(made);
  return made;
}

afterEach(() => {
  for (const made of folders.splice(0)) rmSync(made, { recursive: true, force: true });
});

const fail = (callId: string, error: unknown): void => {
  throw new Error(`${callId}: ${String(error)}`);
};

it('lets one process own a call', () => {
  const path = folder();
  expect(new CallJournal(path, process.pid, fail).lease('call_1')).toBe(true);
  expect(new CallJournal(path, DEAD, fail).lease('call_1')).toBe(false);
});

it('takes over the lease of a process that is dead, and finds what it left behind once', async () => {
  const path = folder();
  const before = new CallJournal(path, DEAD, fail);
  before.lease('call_1');
  before.keep('call_1', { turns: 1 });
  before.keep('call_1', { turns: 2 });
  await expect.poll(() => readdirSync(path)).toContain('call_1.json');
  const after = new CallJournal(path, process.pid, fail);
  await expect.poll(async () => readdirSync(path).some((name) => name.endsWith('.new'))).toBe(false);
  expect(await after.orphans()).toEqual([{ callId: 'call_1', document: { turns: 2 } }]);
  expect(await after.orphans()).toEqual([]);
  await after.forget('call_1');
  expect(readdirSync(path)).toEqual([]);
});

it('takes over a lease with its own number that it did not take: in a container every process is number 1', () => {
  const path = folder();
  writeFileSync(join(path, 'call_1.lease'), String(process.pid));
  expect(new CallJournal(path, process.pid, fail).lease('call_1')).toBe(true);
});

it('leaves the calls of living processes alone', async () => {
  const path = folder();
  writeFileSync(join(path, 'call_1.lease'), String(process.ppid));
  writeFileSync(join(path, 'call_1.json'), '{}');
  expect(await new CallJournal(path, process.pid, fail).orphans()).toEqual([]);
});

it('reports a journal that cannot be read and hands it out as unknown', async () => {
  const path = folder();
  writeFileSync(join(path, 'call_1.json'), '{"turns":');
  const problems: string[] = [];
  const journal = new CallJournal(path, process.pid, (callId) => void problems.push(callId));
  expect(await journal.orphans()).toEqual([{ callId: 'call_1', document: undefined }]);
  expect(problems).toHaveLength(1);
});

it('keeps a journal that cannot be read for a person to look at, and hands it out no more', async () => {
  const path = folder();
  writeFileSync(join(path, 'call_1.json'), '{"turns":');
  const journal = new CallJournal(path, process.pid, () => undefined);
  await endOrphans(
    journal,
    { outbox: await Outbox.open(join(path, 'outbox'), () => 0), pump: undefined },
    new ManualClock(),
    silentLogger,
  );
  expect(readdirSync(path).filter((name) => name.startsWith('call_1'))).toEqual(['call_1.json.unreadable']);
  expect(await new CallJournal(path, process.pid, fail).orphans()).toEqual([]);
});

it('hands out no call whose owner forgot it since it was seen', async () => {
  const path = folder();
  const owner = new CallJournal(path, process.ppid, fail);
  owner.lease('call_1');
  owner.keep('call_1', {});
  await expect.poll(() => readdirSync(path)).toContain('call_1.json');
  class Late extends CallJournal {
    override lease(callId: string): boolean {
      for (const name of readdirSync(path)) rmSync(join(path, name));
      return super.lease(callId);
    }
  }
  expect(await new Late(path, process.pid, fail).orphans()).toEqual([]);
  expect(readdirSync(path)).toEqual([]);
});
