import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ApiKeys, SharedApiKeys } from '../../../src/http/api/system/api-keys.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { StoreUnavailableError } from '../../../src/records/errors.ts';
import type { ApiKeyRepository, StoredApiKey } from '../../../src/records/port.ts';

const facts = { name: 'test', tenantId: 'default', scopes: ['calls:read' as const] };

/** A store of several machines, which can be away. */
class Rows implements ApiKeyRepository {
  rows: readonly StoredApiKey[] = [];
  isAway = false;
  asked = 0;

  async list(): Promise<readonly StoredApiKey[]> {
    this.asked += 1;
    if (this.isAway) throw new StoreUnavailableError('the store is away');
    return this.rows;
  }

  async insert(keys: readonly StoredApiKey[]): Promise<void> {
    this.rows = [...this.rows, ...keys.filter((key) => !this.rows.some(({ id }) => id === key.id))];
  }

  async remove(id: string): Promise<boolean> {
    const before = this.rows.length;
    this.rows = this.rows.filter((key) => key.id !== id);
    return this.rows.length < before;
  }
}

describe('API keys of several machines', () => {
  const clock = new ManualClock();
  const machines = (count: number) => {
    const rows = new Rows();
    const path = mkdtempSync(join(tmpdir(), 'offhook-keys-'));
    const folder = { path, [Symbol.dispose]: () => rmSync(path, { recursive: true }) };
    const files = Array.from({ length: count }, (_, at) => new ApiKeys(join(folder.path, `${at}.json`)));
    return { rows, files, folder, books: files.map((file) => new SharedApiKeys(rows, file, clock)) };
  };

  it('hold at once at all machines, and end within a second at all', async () => {
    const { books, folder } = machines(2);
    using _folder = folder;
    const [one, other] = books;
    await other?.find(`ohk_${'x'.repeat(43)}`);
    const made = await one?.create(facts, 0);
    expect(await other?.find(made?.secret ?? '')).toMatchObject({ name: 'test', scopes: ['calls:read'] });
    expect(await one?.revoke(made?.key.id ?? '')).toBe(true);
    clock.advance(1_000);
    expect(await other?.find(made?.secret ?? '')).toBeUndefined();
    expect(await other?.revoke(made?.key.id ?? '')).toBe(false);
  });

  it('move to the store from the file of a machine, and stay revoked then', async () => {
    const { books, files, folder } = machines(2);
    using _folder = folder;
    const [one, other] = books;
    const made = files[0]?.create(facts, 0);
    expect(await other?.find(made?.secret ?? '')).toBeUndefined();
    expect(await one?.find(made?.secret ?? '')).toMatchObject({ id: made?.key.id });
    expect(await other?.find(made?.secret ?? '')).toMatchObject({ id: made?.key.id });
    expect(files[0]?.list()).toEqual([]);
    expect(await other?.revoke(made?.key.id ?? '')).toBe(true);
    clock.advance(1_000);
    expect(await one?.find(made?.secret ?? '')).toBeUndefined();
  });

  it('hold for a minute while the store is away, and unknown ones are no guess then', async () => {
    const { books, rows, folder } = machines(1);
    using _folder = folder;
    const [book] = books;
    const made = await book?.create(facts, 0);
    expect(await book?.find(made?.secret ?? '')).toBeDefined();
    rows.isAway = true;
    clock.advance(59_000);
    expect(await book?.find(made?.secret ?? '')).toBeDefined();
    await expect(book?.find(`ohk_${'x'.repeat(43)}`)).rejects.toThrow(StoreUnavailableError);
    clock.advance(1_000);
    await expect(book?.find(made?.secret ?? '')).rejects.toThrow(StoreUnavailableError);
  });

  it('are read once for many who guess at once, and never for what is no key', async () => {
    const { books, rows, folder } = machines(1);
    using _folder = folder;
    const [book] = books;
    const guesses = Array.from({ length: 50 }, (_, at) => `ohk_${String(at).padStart(43, 'x')}`);
    expect(await Promise.all(guesses.map(async (guess) => book?.find(guess)))).toEqual(guesses.map(() => undefined));
    expect(rows.asked).toBeLessThanOrEqual(2);
    expect(await book?.find('guess')).toBeUndefined();
    expect(rows.asked).toBeLessThanOrEqual(2);
  });
});
