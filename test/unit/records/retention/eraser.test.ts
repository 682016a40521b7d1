import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { JournalFile } from '../../../../src/call/log/journal-file.ts';
import { Eraser, type EraserParts } from '../../../../src/records/retention/eraser.ts';
import { Outbox } from '../../../../src/records/outbox/outbox.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { eventually } from '../../../support/eventually.ts';

const noFiles = { startedAtMs: undefined, recordingPath: undefined, recordingSidecarPath: undefined, recordingObject: undefined };

describe('erasing on a disk that does not give everything', () => {
  let folder: string;
  let removed: string[];
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'offhook-eraser-'));
    removed = [];
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  async function eraser(store: Partial<EraserParts['store']['privacy']> = {}): Promise<{ eraser: Eraser; outbox: Outbox }> {
    const refuse = (): never => {
      throw new TypeError('not asked for here');
    };
    const privacy: EraserParts['store']['privacy'] = {
      erase: async (tenantId, callId) => ({ tenantId, callId, ...noFiles }),
      eraseKind: async (tenantId, callId) => ({ tenantId, callId, ...noFiles }),
      knows: async (tenantId, callId) => tenantId === 'default' && callId === 'call_1',
      callsOf: refuse,
      attemptsOf: async () => [],
      eraseNumber: async () => ({ suppressions: 0, consents: 0, contacts: 0 }),
      ...store,
    };
    const outbox = await Outbox.open(join(folder, 'outbox'), () => 0);
    const recordings = { remove: async ({ callId }: { callId: string }) => void removed.push(callId) };
    const parts = { store: { privacy }, recordings, outboxes: [outbox], dataDir: folder, clock: new ManualClock() };
    return { eraser: new Eraser(parts), outbox };
  }

  it('passes over files and folders that are not there', async () => {
    await mkdir(join(folder, 'recordings'));
    await writeFile(join(folder, 'recordings', 'a-file'), '');
    const { eraser: subject } = await eraser();
    await expect(subject.eraseCall('default', 'call_1')).resolves.toMatchObject({ erased: ['call_1'] });
    expect(removed).toEqual(['call_1']);
  });

  it.each([
    ['audio', ['call_1.analysis.json', 'call_2.fixture.gz']],
    ['text', ['call_1.wav', 'call_2.fixture.gz']],
  ] as const)('has a call that was kept to be run again go with its %s, sealed or not', async (kind, left) => {
    const day = join(folder, 'recordings', 'day');
    await mkdir(day, { recursive: true });
    for (const ending of ['wav', 'analysis.json', 'fixture.gz', 'fixture.sealed'])
      await writeFile(join(day, `call_1.${ending}`), '');
    await writeFile(join(day, 'call_2.fixture.gz'), '');
    const { eraser: subject } = await eraser();
    await subject.eraseKind([{ tenantId: 'default', callId: 'call_1' }], kind);
    expect((await readdir(day)).sort()).toEqual(left);
  });

  it.each([
    ['the call of another tenant', 'other', 'call_1'],
    ['a name that no call has', 'default', 'call'],
  ])('names %s as missing, and leaves alone every file that is called so', async (_what, tenantId, callId) => {
    const day = join(folder, 'recordings', 'day');
    await mkdir(day, { recursive: true });
    await writeFile(join(day, `${callId}.wav`), '');
    const { eraser: subject, outbox } = await eraser();
    await outbox.append('call', { tenantId: 'another', id: callId });
    const missing = { erased: [], held: [], live: [], missing: [callId], suppressions: 0, consents: 0, contacts: 0 };
    await expect(subject.eraseCall(tenantId, callId)).resolves.toEqual(missing);
    expect([await readdir(day), await outbox.names(), removed]).toEqual([[`${callId}.wav`], [expect.any(String)], []]);
  });

  it('erases a call that an entry of an outbox alone names', async () => {
    const { eraser: subject, outbox } = await eraser();
    await outbox.append('call', { tenantId: 'other', id: 'call_2' });
    await expect(subject.eraseCall('other', 'call_2')).resolves.toMatchObject({ erased: ['call_2'], missing: [] });
    expect(await outbox.names()).toEqual([]);
  });

  it.each([
    { note: 'the record of a call', body: (call: Record<string, string>) => call },
    {
      note: 'a webhook event',
      body: ({ from, to, direction, ...call }: Record<string, string>) => ({
        ...call,
        callId: call['id'],
        numbers: { from, to },
        data: { direction },
      }),
    },
  ])('finds $note that we placed by the person who was called, and never by our own number', async ({ body }) => {
    const { eraser: subject, outbox } = await eraser({ callsOf: async () => [] });
    await outbox.append(
      'call',
      body({ tenantId: 'default', id: 'call_3', from: '+15550100', to: '+919876543210', direction: 'outbound' }),
    );
    await expect(subject.eraseNumber('default', '+15550100')).resolves.toMatchObject({ erased: [] });
    await expect(subject.eraseNumber('default', '+91 98765 43210')).resolves.toMatchObject({ erased: ['call_3'] });
  });

  it.each(['', '.', '../call_1', 'call_1.wav', 'call_1\n'])(
    'refuses %j, which is no id: other files might be called so',
    async (id) => {
      const run = join(folder, 'run');
      await mkdir(run);
      await writeFile(join(run, '.s.PGSQL.5432'), '');
      const { eraser: subject } = await eraser();
      await expect(subject.eraseCall('default', id)).rejects.toThrow(TypeError);
      expect(await readdir(run)).toEqual(['.s.PGSQL.5432']);
    },
  );

  it('says nothing was erased where a folder cannot be looked through', async () => {
    await mkdir(join(folder, 'recordings'));
    await symlink('loop', join(folder, 'recordings', 'loop'));
    const { eraser: subject } = await eraser();
    await expect(subject.eraseCall('default', 'call_1')).rejects.toMatchObject({ code: 'ELOOP' });
  });

  it('says nothing was erased where an entry of an outbox cannot be read', async () => {
    const { eraser: subject, outbox } = await eraser();
    await outbox.append('call', { tenantId: 'default', id: 'call_1' });
    const [name = ''] = await outbox.names();
    await rm(join(folder, 'outbox', name));
    await mkdir(join(folder, 'outbox', name));
    await expect(subject.eraseCall('default', 'call_1')).rejects.toMatchObject({ code: 'EISDIR' });
    expect(removed).toEqual([]);
  });

  it('leaves a call that is not over alone, whose journal holds each of its states', async () => {
    const calls = join(folder, 'calls');
    await mkdir(calls);
    const path = join(calls, 'call_1.json');
    const journal = new JournalFile(path, () => {});
    journal.keep({ tenantId: 'default', id: 'call_1', revision: 1 });
    await eventually('its first state', () => existsSync(path));
    journal.keep({ tenantId: 'default', id: 'call_1', revision: 2 });
    await journal.close();
    const { eraser: subject } = await eraser();
    await expect(subject.eraseCall('default', 'call_1')).resolves.toMatchObject({ erased: [], live: ['call_1'] });
    expect(removed).toEqual([]);
  });

  it('says nothing was erased where the journal of a call cannot be read', async () => {
    await mkdir(join(folder, 'calls', 'call_1.json'), { recursive: true });
    const { eraser: subject } = await eraser();
    await expect(subject.eraseCall('default', 'call_1')).rejects.toMatchObject({ code: 'EISDIR' });
    expect(removed).toEqual([]);
  });
});
