import { readFile } from 'node:fs/promises';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Secret } from '../../../src/config/secrets.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { openDatabase, storeOn } from '../../../src/store/database.ts';
import { onProblem } from '../../support/databases.ts';
import { startPostgres } from '../../support/postgres-server.ts';
import type { TestServer } from '../../support/redis-server.ts';
import { requireTool } from '../../support/requires.ts';

const program = requireTool('postgres');

describe.runIf(program !== undefined)('a database of the first schema', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startPostgres(program!);
  });
  afterAll(() => server[Symbol.asyncDispose]());

  it('keeps every row and seals its words when it is opened', async () => {
    const old = new Client({ connectionString: server.url });
    await old.connect();
    const first = await readFile(new URL('../../../migrations/0000_calls.sql', import.meta.url), 'utf8');
    for (const statement of first.split('--> statement-breakpoint')) await old.query(statement);
    // What the migrator remembers of it: the time in the journal.
    const journal = JSON.parse(await readFile(new URL('../../../migrations/meta/_journal.json', import.meta.url), 'utf8')) as {
      entries: { when: number }[];
    };
    await old.query('CREATE SCHEMA offhook_migrations');
    await old.query(
      'CREATE TABLE offhook_migrations.__drizzle_migrations (id SERIAL PRIMARY KEY, hash text NOT NULL, created_at bigint)',
    );
    await old.query(`INSERT INTO offhook_migrations.__drizzle_migrations (hash, created_at) VALUES ('first', $1)`, [
      journal.entries[0]!.when,
    ]);
    await old.query(
      `INSERT INTO offhook.calls VALUES ('default', 'old', 1, 'bot', 'twilio', 'CA1', '+15550100001', '+15550100002', 'inbound', 'en',
        1000, NULL, 2000, 'caller-hangup', '12', NULL, NULL, NULL, 1, '{}', '[{"atMs": 1, "type": "x"}]')`,
    );
    await old.query(
      `INSERT INTO offhook.turns VALUES ('default', 'old', 0, 'spoken', 'hello there', 'good day', 'good', true, '{"total": 812.4}', 1100, NULL, NULL)`,
    );
    await old.query(`INSERT INTO offhook.analyses VALUES ('default', 'old', 1, 3000, '{"text": "hello"}')`);

    const masterKeys = [new Secret(Buffer.alloc(32, 'k').toString('base64'))];
    await using database = await openDatabase({ url: server.url, dataDir: '', masterKeys, clock: systemClock, onProblem });
    const store = storeOn(database);
    expect(await store.calls.get('default', 'old')).toMatchObject({
      from: '+15550100001',
      to: '+15550100002',
      digits: '12',
      timeline: [{ atMs: 1, type: 'x' }],
      turns: [{ callerText: 'hello there', botText: 'good day', botHeardText: 'good', interrupted: true }],
    });
    expect((await store.analyses.get('default', 'old', 1))?.document).toEqual({ text: 'hello' });
    const query = { limit: 5, text: 'there', number: '+15550100001' };
    expect((await store.calls.search('default', query)).calls.map(({ id }) => id)).toEqual(['old']);
    // What newer searches need is taken from what stands there.
    expect((await store.calls.search('default', { limit: 5, minReplyMs: 812, maxDurationMs: 1_000 })).calls).toMatchObject([
      { id: 'old', durationMs: 1_000, worstReplyMs: 812, medianReplyMs: 812, recorded: false },
    ]);
    expect((await old.query('SELECT 1 FROM offhook.unsealed')).rows).toEqual([]);
    await old.end();
  });
});
