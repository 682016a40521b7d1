import { readFileSync } from 'node:fs';
import { expect, it, test } from 'vitest';
import { climb, cpuRatio, outcomeOf, type Outcome, sideEntry } from '../../../bench/peers/peers-run.ts';
import { aboutOf, isNewEnough } from '../../../bench/peers/pipecat-install.ts';

/** What each step has, try by try; a step that is not named is carried. */
async function climbed(outcomes: Readonly<Record<number, readonly Outcome[]>>) {
  const asked: number[] = [];
  const result = await climb([10, 20, 30], async (calls) => {
    const tried = asked.filter((one) => one === calls).length;
    asked.push(calls);
    return outcomes[calls]?.[tried] ?? 'carried';
  });
  return { ...result, asked };
}

test.each([
  { note: 'every step is carried', outcomes: {}, calls: 30, endedBy: 'steps', asked: [10, 20, 30] },
  { note: 'a hole in one try of two', outcomes: { 20: ['holes'] }, calls: 30, endedBy: 'steps', asked: [10, 20, 20, 30] },
  { note: 'a hole in each try', outcomes: { 20: ['holes', 'holes'] }, calls: 10, endedBy: 'holes', asked: [10, 20, 20] },
  { note: 'calls lost at once', outcomes: { 10: ['failed', 'failed'] }, calls: 0, endedBy: 'failed', asked: [10, 10] },
  {
    note: 'a hole, then a busy machine',
    outcomes: { 30: ['holes', 'unmeasured'] },
    calls: 20,
    endedBy: 'holes',
    asked: [10, 20, 30, 30],
  },
  {
    note: 'a machine that is busy from the first',
    outcomes: { 10: ['unmeasured', 'unmeasured'] },
    calls: null,
    endedBy: 'unmeasured',
    asked: [10, 10],
  },
] as const)('the climb tells how far it came: $note', async ({ outcomes, calls, endedBy, asked }) => {
  expect(await climbed(outcomes)).toEqual({ calls, endedBy, asked });
});

it('tells what the machine spoilt from what the subject did', () => {
  const late = 'the generator was late: 12 ms';
  expect(outcomeOf({ unmeasured: [late], void: [late, '1 calls were lost'], holes: 3 })).toBe('unmeasured');
  expect(outcomeOf({ unmeasured: [], void: ['1 calls were lost'], holes: 0 })).toBe('failed');
  expect(outcomeOf({ unmeasured: [], void: [], holes: 1 })).toBe('holes');
  expect(outcomeOf({ unmeasured: [], void: [], holes: 0 })).toBe('carried');
});

it('counts no void row, in an entry or in a ratio', () => {
  const row = (subject: 'gateway' | 'pipecatNoVad', usPerCallSecond: number, faults: readonly string[] = []) => ({
    subject,
    usPerCallSecond,
    rssPerCallKb: 100,
    holes: 2,
    void: faults,
  });
  const turns = [
    [row('gateway', 1_000), row('pipecatNoVad', 4_000)],
    [row('pipecatNoVad', 9_000, ['others had 40 %']), row('gateway', 1_100)],
  ];
  expect(sideEntry(turns.flat().filter(({ subject }) => subject === 'pipecatNoVad'))).toEqual({
    usPerCallSecond: { median: 4_000, least: 4_000, most: 4_000, n: 1 },
    rssPerCallKb: { median: 100, least: 100, most: 100, n: 1 },
    holes: 2,
    void: 1,
  });
  expect(cpuRatio(turns, 'pipecatNoVad')).toEqual({ median: 0.25, least: 0.25, most: 0.25, n: 1 });
  expect(sideEntry([])).toBeNull();
  expect(cpuRatio(turns, 'pipecatSilero')).toBeNull();
});

it('pins the exact version of everything that it installs, for Pythons that Pipecat runs on', () => {
  const pinned = readFileSync(new URL('../../../bench/peers/pipecat/requirements.txt', import.meta.url), 'utf8');
  const lines = pinned.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  expect(lines.filter((line) => !/^[\w.-]+==[\w.]+(; python_version [<>]=? "[\d.]+")?$/u.test(line))).toEqual([]);
  expect(['3.9.18', '3.11.7', '3.14.0', '4.0.0'].map(isNewEnough)).toEqual([false, true, true, true]);
  expect(aboutOf(pinned, '3.11.7')).toBe('pipecat-ai 1.14.0, Python 3.11.7');
});
