import { performance } from 'node:perf_hooks';
import { type Database, storeOn } from '../../src/records/database.ts';
import type { CallQuery, Store } from '../../src/records/port.ts';
import { callRecordOf } from '../../test/support/call-records.ts';
import { type Summary, summarise } from '../platform/statistics.ts';

/** Hindi words of a call-centre's day come first, so that they are common; the rest stand for all others. */
const COMMON = ['मंगलवार', 'अपॉइंटमेंट', 'डॉक्टर', 'नमस्ते', 'धन्यवाद', 'रिफंड', 'ऑर्डर', 'समय', 'नंबर', 'पैसे'];
const WORDS = [...COMMON, ...Array.from({ length: 490 }, (_, index) => `शब्द${index}`)];
const WORDS_A_CALL = 24;
const CLIENTS = 4;
const WARM_UP = 20;
const ROUNDS = 100;
const DAY_MS = 86_400_000;
const NEWEST_MS = Date.UTC(2026, 5, 30);

export interface QueryResult extends Summary {
  readonly name: string;
  readonly hits: number;
  readonly met: boolean;
  readonly plan: readonly string[];
}

const QUERIES: readonly { readonly name: string; readonly where: string; readonly query: Omit<CallQuery, 'limit' | 'before'> }[] =
  [
    { name: 'recent', where: 'true', query: {} },
    { name: 'by number', where: `party_hash = $1`, query: { number: '+919800000042' } },
    {
      name: 'by bot and day',
      where: `bot_name = 'bot7' AND started_at_ms >= ${NEWEST_MS - 10 * DAY_MS} AND started_at_ms < ${NEWEST_MS - 9 * DAY_MS}`,
      query: { botName: 'bot7', fromMs: NEWEST_MS - 10 * DAY_MS, toMs: NEWEST_MS - 9 * DAY_MS },
    },
    { name: 'by disposition', where: `disposition = 'booked'`, query: { disposition: 'booked' } },
    { name: 'by campaign', where: `campaign_id = 'cmp_8'`, query: { campaignId: 'cmp_8' } },
    { name: 'rare outcome', where: `end_reason = 'dialog-failed'`, query: { endReason: 'dialog-failed' } },
    { name: 'slow replies', where: `worst_reply_ms >= 4950`, query: { minReplyMs: 4_950 } },
    { name: 'long calls', where: `duration_ms >= 594000`, query: { minDurationMs: 594_000 } },
    { name: 'Hindi text', where: `words @> $2`, query: { text: 'अपॉइंटमेंट डॉक्टर' } },
  ];

/** Each search on so many calls: 20 rows, the second page by cursor, warm, four clients at once. */
export async function searchCalls(database: Database, count: number): Promise<QueryResult[]> {
  const store = storeOn(database);
  const { party, wanted } = await seed(database, store, count);
  // The server writes out what was seeded first: it is not what is measured.
  await database.pool.query('CHECKPOINT');
  const results: QueryResult[] = [];
  for (const { name, where, query } of QUERIES) {
    const parameters = [where.includes('$1') ? party : undefined, where.includes('$2') ? wanted : undefined].filter(
      (each) => each !== undefined,
    );
    const condition = where.replace('$2', parameters.length === 1 ? '$1' : '$2');
    const { rows } = await database.pool.query<{ hits: string }>(
      `SELECT count(*) AS hits FROM offhook.calls WHERE ${condition}`,
      parameters,
    );
    const { next } = await store.calls.search('default', { ...query, limit: 20 });
    const ask = async (): Promise<number> => {
      const beganMs = performance.now();
      await store.calls.search('default', { ...query, limit: 20, before: next });
      return performance.now() - beganMs;
    };
    for (let index = 0; index < WARM_UP; index += 1) await ask();
    const client = async (): Promise<number[]> => {
      const times: number[] = [];
      for (let index = 0; index < ROUNDS; index += 1) times.push(await ask());
      return times;
    };
    const times = (await Promise.all(Array.from({ length: CLIENTS }, client))).flat();
    const summary = summarise(times);
    const plan = await planOf(database, store, { ...query, limit: 20, before: next });
    results.push({ name, hits: Number(rows[0]?.hits), ...summary, met: summary.p95 < 50, plan });
  }
  await store.close();
  return results;
}

/** The plan of the statement that a search sends for rows, with the values it sends. */
async function planOf(database: Database, store: Store, query: CallQuery): Promise<string[]> {
  const sent: { text: string; values: unknown[] }[] = [];
  const { pool } = database;
  const clientClass = pool as unknown as {
    query: (...given: unknown[]) => unknown;
    connect: (...given: unknown[]) => Promise<unknown>;
  };
  const original = { query: clientClass.query, connect: clientClass.connect };
  const note = (given: unknown[]): void => {
    const [statement, values] = given;
    const text = typeof statement === 'string' ? statement : (statement as { text?: string }).text;
    if (text?.startsWith('select') === true && text.includes('"calls"'))
      sent.push({ text, values: Array.isArray(values) ? values : [] });
  };
  clientClass.query = (...given) => {
    note(given);
    return original.query.apply(pool, given);
  };
  clientClass.connect = async (...given) => {
    // The pool's own way, for a query that was noted already.
    if (typeof given[0] === 'function') return original.connect.apply(pool, given);
    const client = (await original.connect.apply(pool, given)) as { query: (...given: unknown[]) => unknown };
    const plain = client.query.bind(client);
    client.query = (...asked) => {
      note(asked);
      return plain(...asked);
    };
    return client;
  };
  await store.calls.search('default', query);
  Object.assign(clientClass, original);
  const [first] = sent;
  if (first === undefined) return [];
  const { rows } = await pool.query<{ 'QUERY PLAN': string }>(`EXPLAIN (ANALYZE, TIMING OFF) ${first.text}`, first.values);
  return rows.map((row) => row['QUERY PLAN'].trimEnd());
}

/** Rows made by the database itself, their words and numbers hashed as the store hashes them. */
async function seed(database: Database, store: Store, count: number): Promise<{ party: unknown; wanted: unknown }> {
  const { pool } = database;
  const turn = callRecordOf().turns[1]!;
  for (let from = 0; from < WORDS.length; from += 1) {
    const turns = [{ ...turn, index: 0, callerText: WORDS[from]!, botText: '', botHeardText: '' }];
    await store.calls.upsert(
      callRecordOf({
        id: `word_${from}`,
        from: from === 0 ? '+919800000042' : `+91970000${from}`,
        turns,
        startedAtMs: NEWEST_MS - 900 * DAY_MS,
      }),
    );
  }
  await pool.query(
    `CREATE TABLE bench_words AS SELECT substr(id, 6)::int AS place, words[1] AS hash FROM offhook.calls WHERE id LIKE 'word\\_%'`,
  );
  const { rows: made } = await pool.query<{ party_hash: unknown }>(`SELECT party_hash FROM offhook.calls WHERE id = 'word_0'`);
  const { rows: asked } = await pool.query<{ wanted: unknown }>(
    `SELECT array_agg(hash) AS wanted FROM bench_words WHERE place IN (1, 2)`,
  );
  await pool.query('DROP INDEX offhook.calls_by_words');
  const columns =
    'tenant_id, id, revision, bot_name, carrier, carrier_call_id, direction, language, started_at_ms, ended_at_ms, end_reason, turn_count, duration_ms, worst_reply_ms, campaign_id, summary, disposition, analysis_state, party_hash, line_hash, words';
  // The square makes the first words common: each of the two that are searched for stands in a third of all calls.
  const word = 'v.hashes[1 + floor(power(random(), 2) * $3)::int]';
  await pool.query(
    `INSERT INTO offhook.calls (${columns})
     SELECT 'default', 'call_' || lpad(n::text, 8, '0'), 1, 'bot' || (n % 20), 'twilio', 'CA' || n, 'inbound', 'hi',
       $1 - (n * 15000::bigint), $1 - (n * 15000::bigint) + 90000, CASE n % 2000 WHEN 7 THEN 'dialog-failed' ELSE 'caller-hangup' END, 6,
       (random() * 600000)::int, 400 + (power(random(), 3) * 4600)::int, CASE WHEN n % 4 = 0 THEN 'cmp_' || (n % 100) END, '{}'::jsonb,
       CASE n % 10 WHEN 0 THEN 'booked' WHEN 1 THEN 'cancelled' ELSE 'open' END, 'done',
       CASE n % 50000 WHEN 42 THEN $2 ELSE md5((n % 50000)::text) END, md5('line' || (n % 20)),
       ARRAY[${Array.from({ length: WORDS_A_CALL }, () => word).join(', ')}]
     FROM generate_series(1, ${count}) AS n, (SELECT array_agg(hash ORDER BY place) AS hashes FROM bench_words) AS v`,
    [NEWEST_MS, made[0]?.party_hash, WORDS.length],
  );
  await pool.query('CREATE INDEX calls_by_words ON offhook.calls USING gin (words)');
  await pool.query('VACUUM ANALYZE offhook.calls');
  return { party: made[0]?.party_hash, wanted: asked[0]?.wanted };
}
