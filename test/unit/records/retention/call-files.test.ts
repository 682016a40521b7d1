import { spawnSync } from 'node:child_process';
import { existsSync, renameSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import { removeAbandonedFiles, removeCallFiles } from '../../../../src/records/retention/call-files.ts';
import { reserveFile, temporaryFolder, temporaryPath, withoutTemporaryEnding } from '../../../../src/kernel/temporary.ts';

describe('files of calls in the data folder', () => {
  let dataDir: string;
  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'offhook-call-files-'));
  });
  afterEach(() => rm(dataDir, { recursive: true, force: true }));

  const put = async (name: string, content = 'x'): Promise<string> => {
    const path = join(dataDir, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, content);
    return path;
  };
  const files = async (): Promise<string[]> => {
    const names = await readdir(dataDir, { recursive: true });
    const kinds = await Promise.all(names.map(async (name) => ((await stat(join(dataDir, name))).isFile() ? [name] : [])));
    return kinds.flat().toSorted();
  };
  const erase = (...callIds: string[]): Promise<void> =>
    removeCallFiles({ dataDir, nowMs: Date.now(), isMeant: (callId) => callIds.includes(callId), callIds });
  /** The name that a process which is gone by now gave. */
  const ofDeadProcess = (path: string): string => {
    const { pid } = spawnSync('true');
    return temporaryPath(path).replace(`.${process.pid.toString(36)}-`, `.${pid.toString(36)}-`);
  };

  test.each([
    'recordings/2026-01-01/call_1.wav',
    'recordings/2026-01-01/call_1.caller.tmp.wav',
    'recordings/2026-01-01/call_1.restored.tmp.wav',
    'recordings/2026-01-01/call_1.analysis.json.0b5f6c1e-3f0e-4a53-9f5e-1f1d1c0f9d0a.tmp',
    'recordings/acme/2026-01-01/call_1.wav.sealed',
    'recordings/acme/2026-01-01/call_1.wav.sealed.0b5f6c1e-3f0e-4a53-9f5e-1f1d1c0f9d0a.tmp',
    'calls/call_1.json.unreadable',
    'calls/call_1.json.new',
    'fixtures/call_1.fixture.gz',
    'fixtures/call_1.fixture.gz.new',
  ])('finds %s of an erased call', async (name) => {
    await put(name);
    await put(name.replace('call_1', 'call_2'));
    await erase('call_1');
    expect(await files()).toEqual([name.replace('call_1', 'call_2')]);
  });

  test.each(['recordings/2026-01-01/call_1.analysis.json', 'recordings/acme/2026-01-01/call_1.wav.sealed', 'work/call_1'])(
    'finds the temporary form of %s while its process lives, and leaves that of another call',
    async (name) => {
      await put(temporaryPath(name));
      const other = temporaryPath(name.replace('call_1', 'call_2'));
      await put(other);
      await erase('call_1');
      expect(await files()).toEqual([other]);
    },
  );

  it('finds the torn outbox entry of an erased call, whose name does not say whose it is', async () => {
    const entry = 'outbox/000001767258000000-0000000042-000000000000.entry'.replace('000001', '');
    const [mine, others] = [temporaryPath(entry), temporaryPath(entry)];
    await put(mine, '0123 {"kind":"call-ended","body":{"id":"call_1","from":"+1555');
    await put(others, '0123 {"kind":"call-ended","body":{"id":"call_2","from":"+1555');
    await erase('call_1');
    expect(await files()).toEqual([others]);
  });

  it('passes over folders of days and tenants that are called as a call is, and what lies elsewhere', async () => {
    const left = ['bots/call_1.yaml', 'recordings/call_1/2026-01-01/call_2.wav.sealed', 'store/call_1.x'];
    for (const name of left) await put(name);
    await erase('call_1', '2026-01-01');
    expect(await files()).toEqual(left);
  });

  it('finds a file that gets its last name while the folder is read', async () => {
    const path = join(dataDir, 'recordings', '2026-01-01', 'call_1.analysis.json');
    const temporary = await put(temporaryPath('recordings/2026-01-01/call_1.analysis.json'));
    await removeCallFiles({
      dataDir,
      nowMs: Date.now(),
      isMeant(callId) {
        // What another process does between the reading of the folder and the removal.
        if (existsSync(temporary)) renameSync(temporary, path);
        return callId === 'call_1';
      },
    });
    expect(await files()).toEqual([]);
  });

  it('writes nothing into a place that was taken away', async () => {
    const path = join(dataDir, 'recordings', '2026-01-01', 'call_1.analysis.json');
    await using file = await reserveFile(path);
    await erase('call_1');
    await expect(file.replace('words')).rejects.toMatchObject({ code: 'ENOENT' });
    expect(await files()).toEqual([]);
  });

  it('sweeps what dead processes left at once, and nothing that is worked on', async () => {
    const dead = [
      ofDeadProcess('work/call_1'),
      ofDeadProcess('platform/uploads/upload'),
      ofDeadProcess('recordings/acme/2026-01-01/call_1.wav.sealed'),
      ofDeadProcess('outbox/recordings/000001767258000-0000000042-000000000000.entry'),
    ];
    for (const name of dead.slice(1)) await put(name);
    await put(join(dead[0] ?? '', 'recording.wav'));
    await using alive = await temporaryFolder(join(dataDir, 'work'), 'call_2');
    await writeFile(join(alive.path, 'recording.wav'), 'x');
    const kept = ['recordings/2026-01-01/call_3.wav', 'work/uploads/of-an-earlier-version'];
    for (const name of kept) await put(name);
    expect(await removeAbandonedFiles(dataDir, Date.now())).toBe(dead.length);
    expect(await files()).toEqual([...kept, join(alive.path.slice(dataDir.length + 1), 'recording.wav')].toSorted());
  });

  it('sweeps files of unknown processes after a day without a change', async () => {
    const now = Date.now();
    const elsewhere = (name: string): string => temporaryPath(name).replace(/-[0-9a-f]{8}\./u, '-00000000.');
    const old = [elsewhere('work/call_1'), 'work/compress-a', 'work/uploads/upload-1', 'fixtures/call_1.fixture.gz.new'];
    const fresh = [elsewhere('work/call_2'), 'work/post-call-b', 'fixtures/call_2.fixture.gz.new', 'calls/call_2.json'];
    const before = (now - 86_400_000 - 60_000) / 1000;
    for (const name of old) await utimes(await put(name), before, before);
    for (const name of fresh) await put(name);
    await utimes(await put('recordings/2026-01-01/call_1.wav'), before, before);
    await removeAbandonedFiles(dataDir, now);
    expect(await files()).toEqual([...fresh, 'recordings/2026-01-01/call_1.wav'].toSorted());
  });

  test.each([
    ['call_1.wav', 'call_1.wav'],
    [temporaryPath('call_1.analysis.json'), 'call_1.analysis.json'],
    ['call_1.wav.sealed.0b5f6c1e-3f0e-4a53-9f5e-1f1d1c0f9d0a.tmp', 'call_1.wav.sealed'],
  ])('reads the name that %s is temporary for', (name, base) => {
    expect(withoutTemporaryEnding(name)).toBe(base);
  });
});
