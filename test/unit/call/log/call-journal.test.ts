import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { CallJournal } from '../../../../src/call/log/call-journal.ts';
import { readJournal } from '../../../../src/call/log/journal-file.ts';
import { endOrphans } from '../../../../src/records/after-call/orphan-watch.ts';
import { Outbox } from '../../../../src/records/outbox/outbox.ts';
import { type ProcessIdentity, processIdentity, startTicksOf, thisProcess } from '../../../../src/kernel/process-identity.ts';
import { silentLogger } from '../../../../src/observability/logger.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { HANGS_MS } from '../../../support/patience.ts';

const folders: string[] = [];
const journals: CallJournal[] = [];
/** A process number that no running process has. */
const DEAD = 2 ** 22 + 1;

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'offhook-journal-'));
  folders.push(made);
  return made;
}

afterEach(async () => {
  for (const opened of journals.splice(0)) await opened[Symbol.asyncDispose]();
  for (const made of folders.splice(0)) rmSync(made, { recursive: true, force: true });
});

const fail = (callId: string, error: unknown): void => {
  throw new Error(`${callId}: ${String(error)}`);
};

/** Its files are closed after the test. */
function journalOf(path: string, owner: Partial<ProcessIdentity> = {}, onError = fail, clock?: ManualClock): CallJournal {
  const options = { owner: { ...thisProcess(), ...owner }, ...(clock === undefined ? {} : { clock }) };
  const opened = new CallJournal(path, onError, options);
  journals.push(opened);
  return opened;
}

/** The parent of this process: it is alive, and not this one. */
const parent = (): ProcessIdentity => ({ ...thisProcess(), pid: process.ppid, startTicks: startTicksOf(process.ppid) });

it('lets one process own a call', () => {
  const path = folder();
  expect(journalOf(path).lease('call_1')).toBe(true);
  expect(journalOf(path, { pid: DEAD }).lease('call_1')).toBe(false);
});

it('takes over the lease of a process that is dead, and finds what it left behind once', async () => {
  const path = folder();
  const before = journalOf(path, { pid: DEAD });
  before.lease('call_1');
  before.keep('call_1', { turns: 1 });
  before.keep('call_1', { turns: 2 });
  await before[Symbol.asyncDispose]();
  const after = journalOf(path);
  expect(await after.orphans()).toEqual([{ callId: 'call_1', document: { turns: 2 } }]);
  expect(await after.orphans()).toEqual([]);
  await after.forget('call_1');
  expect(readdirSync(path)).toEqual([]);
});

it('hands out no call that it is forgetting', async () => {
  const path = folder();
  const journal = journalOf(path);
  journal.lease('call_1');
  journal.keep('call_1', { turns: 1 });
  await expect.poll(() => readdirSync(path)).toContain('call_1.json');
  const forgotten = journal.forget('call_1');
  // The last file to go is the lease.
  const looks = [];
  while (existsSync(join(path, 'call_1.lease'))) looks.push(await journal.orphans());
  await forgotten;
  expect(looks.flat()).toEqual([]);
  expect(readdirSync(path)).toEqual([]);
});

it('finds what a process left behind whose number another one has now', async () => {
  const path = folder();
  const before = journalOf(path, { ...parent(), startTicks: 'other' });
  before.lease('call_1');
  before.keep('call_1', { turns: 1 });
  await before[Symbol.asyncDispose]();
  const after = journalOf(path);
  expect(await after.elsewhere('call_1')).toBeUndefined();
  expect(await after.orphans()).toEqual([{ callId: 'call_1', document: { turns: 1 } }]);
});

it('names the owner in the lease as locks name theirs', () => {
  const path = folder();
  journalOf(path, parent()).lease('call_1');
  expect(processIdentity.parse(JSON.parse(readFileSync(join(path, 'call_1.lease'), 'utf8')))).toEqual(parent());
  expect(journalOf(path).lease('call_1')).toBe(false);
});

it.each([
  { note: 'a pid that runs', lease: () => `${parent().pid}`, isFree: false },
  {
    note: 'a process that runs',
    lease: () => `${parent().pid} ${parent().bootId}.${parent().startTicks} ${parent().pidNamespace}`,
    isFree: false,
  },
  {
    note: 'a process that started at another time',
    lease: () => `${parent().pid} ${parent().bootId}.1 ${parent().pidNamespace}`,
    isFree: process.platform === 'linux',
  },
  { note: 'a pid that does not run', lease: () => `${DEAD}`, isFree: true },
  { note: 'nothing', lease: () => '', isFree: true },
  { note: 'half a lease', lease: () => '{"pid":', isFree: true },
])('reads a lease that an older version wrote, or that was cut off: $note', ({ lease, isFree }) => {
  const path = folder();
  writeFileSync(join(path, 'call_1.lease'), lease());
  expect(journalOf(path).lease('call_1')).toBe(isFree);
});

it('gives the last state that is whole, whatever a crash or a full disk has cut off', async () => {
  const path = folder();
  const owner = journalOf(path, { pid: DEAD });
  owner.lease('call_1');
  owner.keep('call_1', { turns: 1 });
  await owner[Symbol.asyncDispose]();
  const file = join(path, 'call_1.json');
  const whole = readFileSync(file, 'utf8');
  appendFileSync(file, whole.slice(0, -3));
  expect(await readJournal(file)).toEqual({ turns: 1 });
  appendFileSync(file, whole.replace('1', '2'));
  expect(await journalOf(path).orphans()).toEqual([{ callId: 'call_1', document: { turns: 2 } }]);
});

it('keeps the last state of a call of any length in a file that does not grow without end', async () => {
  const path = folder();
  const before = journalOf(path, { pid: DEAD });
  const file = join(path, 'call_1.json');
  before.lease('call_1');
  const text = 'said '.repeat(2_000);
  const sizes: number[] = [];
  for (let turns = 1; turns <= 60; turns += 1) {
    before.keep('call_1', { turns, text });
    const written = (): boolean => existsSync(file) && readFileSync(file, 'utf8').endsWith(JSON.stringify({ turns, text }));
    await expect.poll(written, { interval: 2 }).toBe(true);
    sizes.push(statSync(file).size);
  }
  expect(Math.max(...sizes)).toBeLessThanOrEqual(256 * 1024);
  expect(sizes.filter((size) => size < 11_000)).toHaveLength(3);
  await before[Symbol.asyncDispose]();
  expect(await journalOf(path).orphans()).toEqual([{ callId: 'call_1', document: { turns: 60, text } }]);
  expect(readdirSync(path)).toEqual(['call_1.json', 'call_1.lease']);
});

it('leaves the calls of another container alone while that one touches their leases, and takes them over after that', async () => {
  const path = folder();
  const clock = new ManualClock(0, Date.now());
  // Process 1 of another container; here that number is somebody else, who is alive.
  const there = journalOf(path, { pid: 1, pidNamespace: 'pid:[1]' }, fail, clock);
  there.lease('call_1');
  there.keep('call_1', { turns: 1 });
  const here = journalOf(path, {}, fail, clock);
  await expect.poll(() => existsSync(join(path, 'call_1.json'))).toBe(true);
  for (let passedMs = 0; passedMs < 12_000; passedMs += 1_000) {
    clock.advance(1_000);
    const touched = (): boolean => Math.abs(statSync(join(path, 'call_1.lease')).mtimeMs - clock.wallMs()) < 2;
    await expect.poll(touched, { interval: 2 }).toBe(true);
    expect(await here.orphans()).toEqual([]);
    expect(await here.elsewhere('call_1')).toEqual({ turns: 1 });
  }
  await there[Symbol.asyncDispose]();
  clock.advance(21_000);
  expect(await here.orphans()).toEqual([{ callId: 'call_1', document: { turns: 1 } }]);
});

it('lets one of several processes take a dead lease that begin to at once', () => {
  const path = folder();
  const clock = new ManualClock(0, Date.now());
  writeFileSync(join(path, 'call_1.lease'), JSON.stringify({ ...thisProcess(), pid: DEAD }));
  // Another one is about to remove it.
  writeFileSync(join(path, 'call_1.lease.taken'), '');
  const here = journalOf(path, {}, fail, clock);
  expect(here.lease('call_1')).toBe(false);
  clock.advance(6_000);
  expect(here.lease('call_1')).toBe(true);
  expect(readdirSync(path)).toEqual(['call_1.lease']);
});

it('waits until an owner in another container is silent before a call goes on, and no longer where it is alive', async () => {
  const path = folder();
  const clock = new ManualClock(0, Date.now());
  const there = journalOf(path, { pid: 1, pidNamespace: 'pid:[1]' }, fail, clock);
  there.lease('call_1');
  there.keep('call_1', { turns: 1 });
  there.keepState('call_1', { step: 'one' });
  await expect.poll(() => readdirSync(path)).toEqual(['call_1.json', 'call_1.lease', 'call_1.state']);
  const here = journalOf(path, {}, fail, clock);
  let isKnown = false;
  const asked = async (): Promise<unknown> => {
    isKnown = false;
    const left = await here.left('call_1');
    isKnown = true;
    return left;
  };
  const ofLiving = asked();
  await expect.poll(() => clock.advance(100) ?? isKnown).toBe(true);
  expect(await ofLiving).toBeUndefined();
  await there[Symbol.asyncDispose]();
  const ofDead = asked();
  await expect.poll(() => clock.advance(100) ?? isKnown, { timeout: HANGS_MS, interval: 5 }).toBe(true);
  expect(await ofDead).toEqual({ document: { turns: 1 }, state: { step: 'one' } });
});

it('takes over a lease with its own number that it did not take: in a container every process is number 1', () => {
  const path = folder();
  writeFileSync(join(path, 'call_1.lease'), String(process.pid));
  expect(journalOf(path).lease('call_1')).toBe(true);
});

it('leaves the calls of living processes alone', async () => {
  const path = folder();
  writeFileSync(join(path, 'call_1.lease'), String(process.ppid));
  writeFileSync(join(path, 'call_1.json'), '{}');
  expect(await journalOf(path).orphans()).toEqual([]);
});

it('removes the lease of a dead process whose call never began, and of no living one', async () => {
  const path = folder();
  const clock = new ManualClock(0, Date.now());
  journalOf(path, { pid: DEAD }, fail, clock).lease('call_dead');
  journalOf(path, parent(), fail, clock).lease('call_alive');
  const here = journalOf(path, {}, fail, clock);
  here.lease('call_ours');
  const leases = ['call_alive.lease', 'call_dead.lease', 'call_ours.lease'];
  // It was just written: perhaps its owner is about to say who it is.
  await here.orphans();
  expect(readdirSync(path).toSorted()).toEqual(leases);
  for (const opened of journals) await opened[Symbol.asyncDispose]();
  clock.advance(21_000);
  expect(await here.orphans()).toEqual([]);
  expect(readdirSync(path).toSorted()).toEqual(leases.filter((name) => name !== 'call_dead.lease'));
});

it('reports a journal that cannot be read and hands it out as unknown', async () => {
  const path = folder();
  writeFileSync(join(path, 'call_1.json'), '{"turns":');
  const problems: string[] = [];
  const journal = journalOf(path, {}, (callId) => void problems.push(callId));
  expect(await journal.orphans()).toEqual([{ callId: 'call_1', document: undefined }]);
  expect(problems).toHaveLength(1);
});

it('keeps a journal that cannot be read for a person to look at, and hands it out no more', async () => {
  const path = folder();
  writeFileSync(join(path, 'call_1.json'), '{"turns":');
  const journal = journalOf(path, {}, () => undefined);
  await endOrphans(journal, { outbox: await Outbox.open(join(path, 'outbox'), () => 0), pump: undefined }, new ManualClock(), {
    logger: silentLogger,
    events: { callEnded: () => undefined },
  });
  expect(readdirSync(path).filter((name) => name.startsWith('call_1'))).toEqual(['call_1.json.unreadable']);
  expect(await journalOf(path).orphans()).toEqual([]);
});

it('hands out no call whose owner forgot it since it was seen', async () => {
  const path = folder();
  const owner = journalOf(path, parent());
  owner.lease('call_1');
  owner.keep('call_1', {});
  await expect.poll(() => readdirSync(path)).toContain('call_1.json');
  class Late extends CallJournal {
    override lease(callId: string): boolean {
      for (const name of readdirSync(path)) rmSync(join(path, name));
      return super.lease(callId);
    }
  }
  expect(await new Late(path, fail).orphans()).toEqual([]);
  expect(readdirSync(path)).toEqual([]);
});

it('takes a call that the disk refuses a lease for, and journals it from when the disk takes one', async () => {
  const path = folder();
  const refusals: string[] = [];
  const opened = journalOf(path, {}, (callId) => void refusals.push(callId));
  rmSync(path, { recursive: true });
  expect(opened.lease('call_1')).toBe(true);
  opened.keep('call_1', { turns: 1 });
  expect(refusals).toEqual(['call_1', 'call_1']);
  mkdirSync(path);
  opened.keep('call_1', { turns: 2 });
  await opened[Symbol.asyncDispose]();
  expect(JSON.parse(readFileSync(join(path, 'call_1.lease'), 'utf8'))).toEqual(thisProcess());
  expect(await readJournal(join(path, 'call_1.json'))).toEqual({ turns: 2 });
});

it('leaves a call whose carrier may bring it back alone for the grace time, and hands it out after that', async () => {
  const path = folder();
  const dead = journalOf(path, { pid: DEAD });
  for (const callId of ['call_back', 'call_gone']) dead.keep(callId, { turns: 1 });
  dead.keepState('call_back', { turn: 1 });
  await dead[Symbol.asyncDispose]();
  const clock = new ManualClock(0, Date.now());
  const journal = journalOf(path, {}, fail, clock);
  const ids = async (): Promise<string[]> => (await journal.orphans(10_000)).map(({ callId }) => callId);
  expect(await ids()).toEqual(['call_gone']);
  expect(await journal.left('call_back')).toEqual({ document: { turns: 1 }, state: { turn: 1 } });
  clock.advance(9_999);
  expect(await ids()).toEqual([]);
  clock.advance(1);
  expect(await ids()).toEqual(['call_back']);
  await journal.forget('call_back');
  expect(readdirSync(path).filter((name) => name.startsWith('call_back'))).toEqual([]);
});

it('has nothing left of a call that a living process has, that is over, or that cannot go on', async () => {
  const path = folder();
  const ours = journalOf(path);
  ours.keep('call_ours', { turns: 1 });
  ours.keepState('call_ours', { turn: 1 });
  const dead = journalOf(path, { pid: DEAD });
  dead.keep('call_dead', { turns: 1 });
  await dead[Symbol.asyncDispose]();
  for (const callId of ['call_ours', 'call_dead', 'call_none']) expect(await ours.left(callId)).toBeUndefined();
});

it('takes over a call that goes on in this process before anybody ends it', async () => {
  const path = folder();
  const dead = journalOf(path, { pid: DEAD });
  dead.keep('call_1', { turns: 1 });
  dead.keepState('call_1', { turn: 1 });
  await dead[Symbol.asyncDispose]();
  const here = journalOf(path);
  expect(here.lease('call_1')).toBe(true);
  expect(await here.left('call_1')).toBeUndefined();
  const other = journalOf(path, parent());
  expect(await other.orphans(0)).toEqual([]);
});
