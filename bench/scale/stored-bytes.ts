// What a call takes in PostgreSQL, by table: `npx offhook demo`, then `npx tsx bench/scale/stored-bytes.ts FOLDER-OF-ITS-RECORD [--calls 2000]`.
// The call of the demo is written again and again under new ids, once as it was and once with its later turns and its timeline twice.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { CallRecord } from '../../src/call/log/call-record.ts';
import { storedCall } from '../../src/jobs/after-call/stored-call.ts';
import { bodyFor, callEnded, deliveryId } from '../../src/jobs/webhooks/webhook-event.ts';
import { callRecord, type NewCallRecord } from '../../src/store/record.ts';
import { type Database, storeOn } from '../../src/store/database.ts';
import { serverDatabases } from '../../test/support/databases.ts';
import { about } from '../document.ts';

const BATCH = 50;
const DAY_MS = 86_400_000;

const { values, positionals } = parseArgs({ allowPositionals: true, options: { calls: { type: 'string', default: '2000' } } });
const calls = Number(values.calls);

interface Bytes {
  /** Rows with what is kept beside them (TOAST). */
  readonly rows: number;
  readonly indexes: number;
}

async function main(folder: string): Promise<void> {
  const [name] = readdirSync(folder).filter((each) => each.endsWith('.call.json'));
  if (name === undefined) throw new Error(`no .call.json in ${folder}`);
  const text = readFileSync(join(folder, name), 'utf8');
  const analysis: unknown = JSON.parse(readFileSync(join(folder, name.replace('.call.json', '.analysis.json')), 'utf8'));
  // Our own process wrote it a moment ago.
  const record = storedCall(JSON.parse(text) as CallRecord, 1);
  await using servers = await serverDatabases();
  if (servers === undefined) throw new Error('no postgres is installed');
  const once = await measured(await servers.open(), record, analysis);
  const twice = await measured(await servers.open(), longer(record), analysis);
  const files = Object.fromEntries(
    readdirSync(folder).map((each) => [each.slice(each.indexOf('.') + 1), statSync(join(folder, each)).size]),
  );
  const facts = { calls, seconds: record.summary?.['durationMs'], turns: record.turns.length, events: record.timeline.length };
  process.stdout.write(`${JSON.stringify({ ...about(), ...facts, files, once, twice })}\n`);
}

/** The same call with its turns but the greeting, and its timeline, twice. */
function longer(record: NewCallRecord): NewCallRecord {
  const { turns, timeline } = record;
  const again = turns.slice(1).map((turn, index) => ({ ...turn, index: turns.length + index }));
  return { ...record, turns: [...turns, ...again], timeline: [...timeline, ...timeline] };
}

async function measured(database: Database, record: NewCallRecord, analysis: unknown) {
  const store = storeOn(database);
  const { pool } = database;
  const number = async (query: string): Promise<number> => Number((await pool.query<{ value: string }>(query)).rows[0]?.value);
  const before = await number(`SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn AS value`);
  const beganMs = performance.now();
  for (let from = 0; from < calls; from += BATCH) {
    const records = Array.from({ length: Math.min(BATCH, calls - from) }, (_, index) => variant(record, from + index));
    await store.calls.upsertMany(records);
    for (const each of records) {
      const { id: callId } = each;
      const createdAtMs = each.startedAtMs + 60_000;
      await store.analyses.put({
        tenantId: 'default',
        callId,
        version: 1,
        createdAtMs,
        document: analysis,
        searchText: saidIn(each),
      });
      const event = callEnded(callRecord.parse(each));
      const endpoint = { name: 'crm', numbers: 'masked', words: false } as const;
      const id = deliveryId(event, endpoint.name);
      const body = bodyFor(event, endpoint);
      await store.webhooks.add({
        tenantId: 'default',
        id,
        callId,
        endpoint: endpoint.name,
        type: 'call.ended',
        body,
        createdAtMs,
      });
      await store.webhooks.tried(
        { tenantId: 'default', id },
        { state: 'delivered', status: 200, reason: undefined, atMs: createdAtMs },
      );
    }
  }
  const seconds = (performance.now() - beganMs) / 1000;
  const after = await number(`SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn AS value`);
  await pool.query('VACUUM ANALYZE');
  const { rows } = await pool.query<{ name: string; rows: string; indexes: string; count: string }>(
    `SELECT relname AS name, pg_table_size(oid) AS rows, pg_indexes_size(oid) AS indexes, reltuples AS count
     FROM pg_class WHERE relkind = 'r' AND relnamespace = 'offhook'::regnamespace AND reltuples > 100 ORDER BY relname`,
  );
  const tables: Record<string, Bytes & { readonly count: number }> = {};
  for (const each of rows) {
    const perCall = (value: string): number => Math.round(Number(value) / calls);
    tables[each.name] = { count: Number(each.count) / calls, rows: perCall(each.rows), indexes: perCall(each.indexes) };
  }
  const sum = (of: keyof Bytes): number => Object.values(tables).reduce((total, each) => total + each[of], 0);
  const callsPerSecond = Math.round(calls / seconds);
  return { rows: sum('rows'), indexes: sum('indexes'), wal: Math.round((after - before) / calls), callsPerSecond, tables };
}

/** Another call like it, at another time of another caller. */
function variant(record: NewCallRecord, index: number): NewCallRecord {
  const id = `call_${String(index).padStart(32, '0')}`;
  const shiftMs = ((index * 7_919) % 30_011) * (DAY_MS / 1000);
  const startedAtMs = record.startedAtMs + shiftMs;
  const from = `+1555${String(1_000_000 + index)}`;
  return { ...record, id, carrierCallId: `CA${String(index).padStart(32, '0')}`, from, startedAtMs };
}

function saidIn({ turns }: NewCallRecord): string {
  return turns.flatMap(({ callerText, botText }) => [callerText, botText]).join('\n');
}

const [folder] = positionals;
if (folder === undefined) throw new Error('usage: npx tsx bench/scale/stored-bytes.ts FOLDER');
await main(folder);
// The test support keeps an embedded store open for the next file.
process.exit();
