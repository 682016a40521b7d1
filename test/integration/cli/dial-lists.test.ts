import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { AuditLog } from '../../../src/records/retention/audit-log.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { openDatabase, storeOn } from '../../../src/records/database.ts';
import { yesToEach } from '../../support/attempt-records.ts';
import { onProblem, temporaryFolder } from '../../support/databases.ts';
import { lastJson, runCommand } from '../../support/command.ts';

const ASHA = '+919876543210';
const lease = { owner: 'test', untilMs: 1 };

it('keeps numbers that must not be called by command: adds, lists, imports, exports and removes', async () => {
  await using folder = await temporaryFolder();
  // As while a gateway runs: the commands go through its socket.
  await using _gateway = await openDatabase({ url: undefined, dataDir: folder.path, clock: systemClock, onProblem });
  const env = { OFFHOOK_DATA_DIR: folder.path };
  const run = (...args: string[]) => runCommand(['suppress', ...args], env);
  const added = await run('add', '98765 43210', '--region', 'IN', '--note', 'by letter', '--json');
  expect([added.code, lastJson(added)]).toEqual([0, { ok: true, number: ASHA, list: 'own', new: true }]);
  expect(await run('add', 'nobody')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('nobody: not a telephone number'),
  });

  const file = join(folder.path, 'national.txt');
  await writeFile(file, `+12127365000\nnobody\n${ASHA}\n`);
  const undated = await run('import', file, '--list', 'national');
  expect([undated.code, undated.stderr]).toEqual([2, expect.stringContaining('--obtained')]);
  const imported = await run('import', file, '--list', 'national', '--obtained', '2026-03-01');
  expect(imported).toEqual({
    code: 1,
    stdout: '2 added, 0 known, 1 refused.\n',
    stderr:
      'offhook suppress import: line 2: not a telephone number: without a default region it has to begin with + and the country code\n',
  });
  expect(await run('import', join(folder.path, 'missing.csv'))).toMatchObject({ code: 2 });

  const listed = lastJson(await run('list', '--json')) as { entries: { number: string; list: string }[]; lists: unknown };
  expect(listed.entries.map(({ number, list }) => `${list} ${number}`).sort()).toEqual(
    [`national ${ASHA}`, 'national +12127365000', `own ${ASHA}`].sort(),
  );
  expect(listed.lists).toEqual([{ name: 'national', obtainedAt: '2026-03-01T00:00:00.000Z' }]);

  // What was exported is imported as it was.
  const exported = await run('export', '--list', 'own');
  expect(exported.stdout).toMatch(
    /^number,list,added_at,until,source,note\r\n.{0,1}\+919876543210,own,\S+,,cli:\S+,by letter\r\n$/u,
  );
  const copy = join(folder.path, 'copy.csv');
  expect((await run('export', '-o', copy)).code).toBe(0);
  const again = await run('import', copy, '--json');
  expect(lastJson(again)).toEqual({ ok: true, added: 1, known: 2, refused: 0, problems: [] });

  expect((await run('remove', ASHA)).stdout).toBe(`${ASHA} is off the list own.\n`);
  expect(await run('remove', ASHA)).toMatchObject({ code: 1, stderr: expect.stringContaining('is not on the list own') });
  expect((await run('list', '--number', ASHA)).stdout).not.toContain(' own ');

  const audit = (await readFile(join(folder.path, 'audit.jsonl'), 'utf8')).trim().split('\n');
  const actions = audit.map((line) => JSON.parse(line) as { action: string; subject: string; by: string });
  expect(actions.map(({ action }) => action)).toEqual([
    'suppression.add',
    'suppression.import',
    'suppression.export',
    'suppression.export',
    'suppression.import',
    'suppression.remove',
    'suppression.remove',
  ]);
  expect(audit.join()).not.toContain('98765');
});

it('keeps consents by command, and withdraws them', async () => {
  await using folder = await temporaryFolder();
  // As while a gateway runs: the commands go through its socket.
  await using _gateway = await openDatabase({ url: undefined, dataDir: folder.path, clock: systemClock, onProblem });
  const env = { OFFHOOK_DATA_DIR: folder.path };
  const run = (...args: string[]) => runCommand(['consent', ...args], env);
  const proof = ['--evidence', 'form 17', '--evidence-kind', 'form', '--evidence-source', 'web shop'];
  const facts = ['--level', 'written', '--purpose', 'service', 'promotional', ...proof, '--given', '2026-01-02'];
  const added = lastJson(await run('add', ASHA, ...facts, '--json')) as { id: string };
  expect(added).toMatchObject({ ok: true, number: ASHA });
  expect((await run('add', ASHA, ...facts, '--expires', '2025-01-01')).stderr).toContain('expires_at is not after given_at');
  expect(await run('add', ASHA, ...facts, '--given', '2999-01-01')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('given_at is in the future'),
  });
  expect((await run('add', ASHA, ...facts, '--evidence', 'x')).stderr).toContain('evidence is too short');
  const file = join(folder.path, 'consents.csv');
  await writeFile(
    file,
    `phone,level,purposes,given_at,evidence,evidence_kind,evidence_source\n${ASHA},express,service,2026-02-02,call 4,recording,line of the shop\n${ASHA},loud,service,2026-02-02,x,,\n`,
  );
  const imported = await run('import', file);
  expect(imported).toMatchObject({
    code: 1,
    stdout: '1 added, 0 known, 1 refused.\n',
    stderr: expect.stringContaining('line 3: level'),
  });
  expect(lastJson(await run('list', '--json'))).toMatchObject({
    consents: [
      {
        number: ASHA,
        id: added.id,
        purposes: ['promotional', 'service'],
        givenAt: '2026-01-02T00:00:00.000Z',
        evidence: 'form 17',
        evidenceKind: 'form',
        evidenceSource: 'web shop',
        writtenBy: expect.stringMatching(/^cli:/u),
      },
      { level: 'express', withdrawnAt: null },
    ],
    next: null,
  });
  expect((await run('withdraw', ASHA, '--id', added.id)).code).toBe(0);
  expect((await run('withdraw', '+12127365000')).stderr).toBe('offhook consent withdraw: +12127365000 has no consent\n');
  const [first, second] = (lastJson(await run('list', '--number', ASHA, '--json')) as { consents: { withdrawnAt: unknown }[] })
    .consents;
  expect([typeof first?.withdrawnAt, second?.withdrawnAt]).toEqual(['string', null]);
});

it('finds entries of the log that were changed or cut off, by command', async () => {
  await using folder = await temporaryFolder();
  // As while a gateway runs: the commands go through its socket.
  await using database = await openDatabase({ url: undefined, dataDir: folder.path, clock: systemClock, onProblem });
  const env = { OFFHOOK_DATA_DIR: folder.path };
  const numbers = Array.from({ length: 9 }, (_, index) => `+1212736500${index}`);
  const { attempts } = storeOn(database);
  await attempts.decide(
    'default',
    { numbers, sinceMs: 0, lease },
    yesToEach('default', (number) => `a${number.slice(1)}`),
  );
  const run = (...args: string[]) => runCommand(['audit', ...args], env);
  const whole = lastJson(await run('verify', '--json')) as { decisions: { head: { sequence: number; hash: string } } };
  expect(whole).toMatchObject({
    ok: true,
    decisions: { entries: 9, faultCount: 0, head: { sequence: 9 } },
    actions: { entries: 0 },
  });
  const { sequence, hash } = whole.decisions.head;
  const head = `${sequence}:${hash}`;
  for (const option of ['--head', '--expect'])
    expect(await run('verify', option, head)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`decisions: the log ends with ${head}`),
    });
  expect((await run('verify', '--head', hash)).code).toBe(0);
  expect((await run('verify', '--head', 'f'.repeat(64))).stdout).toContain(`no entry has the hash ${'f'.repeat(64)}`);
  expect((await run('verify', '--head', 'nine')).code).toBe(2);
  const lines = (await run('export')).stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { sequence: number });
  expect(lines.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
  await database.pool.query('UPDATE offhook.dial_decisions SET at_ms = 7 WHERE sequence = 4');
  await database.pool.query('DELETE FROM offhook.dial_decisions WHERE sequence > 7');
  const cut = await run('verify');
  expect(cut.code).toBe(1);
  expect(cut.stdout).toMatch(
    /^decisions: entry 4: changed\ndecisions: entries 8 to 9: missing\ndecisions: 7 entries, 2 fault\(s\)\.\ndecisions: the log ends with 7:/mu,
  );
  await database.pool.query('UPDATE offhook.dial_decisions SET at_ms = 1000 WHERE sequence = 4');
  await database.pool.query(
    'UPDATE offhook.dial_heads SET sequence = 7, hash = (SELECT hash FROM offhook.dial_decisions WHERE sequence = 7)',
  );
  // The copy that was kept elsewhere knows better.
  expect((await run('verify')).code).toBe(0);
  expect((await run('verify', '--head', head)).stdout).toContain('entries 8 to 9: missing');
  const heads = join(folder.path, 'heads.jsonl');
  await writeFile(heads, `${JSON.stringify({ log: 'decisions', of: 'default', sequence, hash, at: '2026-01-01T00:00:00Z' })}\n`);
  expect(await run('verify', '--head', heads)).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('entries 8 to 9: missing'),
  });
  expect((await run('verify', '--head', hash)).code).toBe(1);
  // So does the gateway's own entry of the log of actions, which is in the data folder and not in the store's tables.
  const audit = new AuditLog(join(folder.path, 'audit.jsonl'), () => Date.now());
  await audit.add({ by: 'offhook', tenantId: 'default', action: 'audit.head', subject: head, outcome: 'done' });
  expect((await run('verify')).stdout).toContain('decisions: entries 8 to 9: missing');
  // A head of a log of actions that was deleted and begun anew.
  const lost = { log: 'actions', of: 'gone', sequence: 1, hash, at: '2026-01-01T00:00:00Z' };
  await writeFile(heads, `${JSON.stringify(lost)}\n`);
  expect((await run('verify', '--log', 'actions')).code).toBe(0);
  expect((await run('verify', '--log', 'actions', '--head', heads)).stdout).toContain(`actions: no entry has the hash ${hash}`);
});
