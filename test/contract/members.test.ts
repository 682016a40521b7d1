import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { storeOn } from '../../src/records/database.ts';
import type { Member } from '../../src/records/members.ts';
import type { Store } from '../../src/records/port.ts';
import { type TestDatabases, embeddedDatabases, serverDatabases } from '../support/databases.ts';
import { requireTool } from '../support/requires.ts';

const postgresProgram = requireTool('postgres');

function member(id: string, name: string, role: Member['role'] = 'viewer'): Member {
  return { id, name, role, createdBy: 'console admin', createdAtMs: 1_000 + Number(id) };
}

describe.each([
  { place: 'the embedded store', installed: true },
  { place: 'a Postgres server', installed: postgresProgram !== undefined },
] as const)('members on $place', ({ place, installed }) => {
  let databases: TestDatabases | undefined;
  let store: Store;

  beforeAll(async () => {
    if (!installed) return;
    databases = place === 'a Postgres server' ? await serverDatabases() : await embeddedDatabases();
    store = storeOn(await databases!.open());
  });

  afterAll(async () => {
    await store?.close();
    await databases?.[Symbol.asyncDispose]();
  });

  it.runIf(installed)('lists them oldest first, each tenant its own, and each name once, whatever its case', async () => {
    const { members } = store;
    expect(await members.add('listed', member('2', 'ravi@clinic.example'))).toBe(true);
    expect(await members.add('listed', member('1', 'Anna', 'operator'))).toBe(true);
    expect(await members.add('listed', member('3', 'ANNA'))).toBe(false);
    expect(await members.add('other', member('1', 'Anna'))).toBe(true);
    expect(await members.list('listed')).toEqual([member('1', 'Anna', 'operator'), member('2', 'ravi@clinic.example')]);
    expect(await members.get('listed', '2')).toEqual(member('2', 'ravi@clinic.example'));
    expect(await members.get('other', '2')).toBeUndefined();
  });

  it.runIf(installed)('changes roles and removes, and leaves the name free', async () => {
    const { members } = store;
    await members.add('changed', member('1', 'Anna'));
    expect(await members.change('changed', '1', 'listener', false)).toBe('done');
    expect((await members.get('changed', '1'))?.role).toBe('listener');
    expect(await members.change('other', '1', 'operator', false)).toBe('done');
    expect((await members.get('changed', '1'))?.role).toBe('listener');
    expect(await members.change('changed', '1', undefined, false)).toBe('done');
    expect(await members.change('changed', '1', undefined, false)).toBe('unknown');
    expect(await members.add('changed', member('2', 'anna'))).toBe(true);
  });

  it.runIf(installed)('keeps the last admin, also of two who remove each other at once', async () => {
    const { members } = store;
    await members.add('admins', member('1', 'Anna', 'admin'));
    await members.add('admins', member('2', 'Ravi', 'admin'));
    await members.add('admins', member('3', 'Eve'));
    const both = await Promise.all(['1', '2'].map((id) => members.change('admins', id, undefined, false)));
    expect(both.toSorted()).toEqual(['done', 'last-admin']);
    const [last] = (await members.list('admins')).filter(({ role }) => role === 'admin');
    expect(await members.change('admins', last?.id ?? '', 'viewer', false)).toBe('last-admin');
    expect(await members.change('admins', last?.id ?? '', 'admin', false)).toBe('done');
    expect(await members.change('admins', last?.id ?? '', 'viewer', true)).toBe('done');
  });
});
