import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { AuditLog } from '../../../src/records/retention/audit-log.ts';
import { temporaryFolder } from '../../support/databases.ts';
import { eventually } from '../../support/eventually.ts';
import { run } from '../../support/processes.ts';
import { nodeArguments } from '../../support/program.ts';

const childProgram = fileURLToPath(new URL('../../support/audit-child.ts', import.meta.url));
const subjectsIn = async (log: AuditLog): Promise<string[]> => {
  const { lines } = await log.page(() => true, { limit: 100_000 });
  return lines.map(({ subject }) => subject);
};

it('is one chain of every line when several processes append at the same time', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'audit.jsonl');
  const args = await nodeArguments(childProgram);
  const children = ['a', 'b', 'c', 'd'].map((prefix) => run(process.execPath, [...args, path, prefix, '60']));
  for (const each of children) {
    if (each.child.exitCode === null) await once(each.child, 'exit');
    expect([each.child.exitCode, each.output().split('\n').length]).toEqual([0, 61]);
  }
  const log = new AuditLog(path, () => 0);
  expect(await log.verify()).toMatchObject({ entries: 240, faultCount: 0, uncoveredBytes: 0, head: { sequence: 240 } });
  expect(new Set(await subjectsIn(log)).size).toBe(240);
});

it('keeps every acknowledged line in one chain when processes are killed in the middle of an append', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'audit.jsonl');
  const args = await nodeArguments(childProgram);
  const acknowledged: string[] = [];
  const steady = run(process.execPath, [...args, path, 'steady']);
  const linesOf = (child: typeof steady): string[] => child.output().split('\n').slice(0, -1);
  try {
    for (let round = 0; round < 5; round += 1) {
      const child = run(process.execPath, [...args, path, `r${round}-`]);
      await eventually('lines of the one that is killed', () => linesOf(child).length > 6 + round);
      await child.stop('SIGKILL');
      acknowledged.push(...linesOf(child));
      const before = linesOf(steady).length;
      await eventually('lines of the other', () => linesOf(steady).length > before + 2);
    }
  } finally {
    await steady.stop('SIGKILL');
  }
  acknowledged.push(...linesOf(steady));
  const log = new AuditLog(path, () => 0);
  await log.add({ by: 'k', tenantId: 'default', action: 'look', subject: 'last', outcome: 'done' });
  expect(await log.verify()).toMatchObject({ faults: [], uncoveredBytes: 0 });
  const stored = new Set(await subjectsIn(log));
  expect(acknowledged.filter((subject) => !stored.has(subject))).toEqual([]);
});
