// Decisions that are stored, and the list of numbers not to call. Run: npm run bench -- dialling/store [--json] [--contacts 20000] [--suppressed 100000]
import { randomUUID } from 'node:crypto';
import { parseArgs } from 'node:util';
import { appendEntry, type ChainEntry, loggedDecision, verifyChain } from '../../src/outbound/gate/chain.ts';
import type { ChainHead } from '../../src/kernel/hash-chain.ts';
import { mayDial } from '../../src/outbound/gate/may-dial.ts';
import { loadDiallingProfile } from '../../src/outbound/gate/profile.ts';
import { readNumber } from '../../src/outbound/number.ts';
import { type Database, storeOn } from '../../src/records/database.ts';
import type { DecisionEntry, NewAttempt } from '../../src/records/dialling.ts';
import type { Store } from '../../src/records/port.ts';
import { attemptRecordOf } from '../../test/support/attempt-records.ts';
import { embeddedDatabases, serverDatabases } from '../../test/support/databases.ts';
import { about } from '../document.ts';

const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    contacts: { type: 'string', default: '20000' },
    suppressed: { type: 'string', default: '100000' },
  },
});
const TENANT = 'bench';
const BATCHES = [1, 100, 500];
const LIST_BATCH = 1000;
const LEASE = { owner: 'bench', untilMs: 1 };

async function main(): Promise<void> {
  const result: Record<string, unknown> = { ...about() };
  for (const [place, start] of [
    ['embedded', embeddedDatabases],
    ['server', serverDatabases],
  ] as const) {
    await using databases = await start();
    if (databases === undefined) continue;
    await using database = await databases.open();
    result[place] = await measure(database, place);
  }
  process.stdout.write(values.json ? `${JSON.stringify(result)}\n` : `${JSON.stringify(result, null, 2)}\n`);
}

async function measure(database: Database, place: string) {
  const store = storeOn(database);
  const suppressionsPerSecond = await suppress(store, Number(values.suppressed));
  console.error(`${place}: ${suppressionsPerSecond} suppressions a second`);
  const decisionsPerSecond: Record<string, number> = {};
  let from = 0;
  for (const batch of BATCHES) {
    // One at a time is measured on fewer.
    const contacts = Math.ceil(Number(values.contacts) / (batch === 1 ? 20 : 1));
    decisionsPerSecond[batch] = await decide(store, from, contacts, batch);
    from += contacts;
    console.error(`${place}: ${decisionsPerSecond[batch]} decisions a second, ${batch} at a time`);
  }
  const startedMs = performance.now();
  const log = await verifyChain(store.attempts.decisions(TENANT), TENANT);
  const verifiedPerSecond = perSecond(log.entries, startedMs);
  return { suppressionsPerSecond, decisionsPerSecond, verifiedPerSecond, entries: log.entries, faults: log.faultCount };
}

/** An Indian mobile number for each index below 80 million. */
function numberOf(index: number): string {
  return `+919${800_000_000 + index}`;
}

async function suppress(store: Store, count: number): Promise<number> {
  const startedMs = performance.now();
  for (let from = 0; from < count; from += LIST_BATCH) {
    const size = Math.min(LIST_BATCH, count - from);
    const entries = Array.from({ length: size }, (_, index) => ({
      number: numberOf(10_000_000 + from + index),
      list: 'own',
      addedAtMs: from,
      source: 'import',
    }));
    await store.suppressions.add(TENANT, entries);
  }
  return perSecond(count, startedMs);
}

async function decide(store: Store, first: number, contacts: number, batch: number): Promise<number> {
  const profile = await loadDiallingProfile('config/dialling', 'none');
  const nowMs = Date.UTC(2026, 0, 7, 6);
  const startedMs = performance.now();
  for (let from = first; from < first + contacts; from += batch) {
    const numbers = Array.from({ length: Math.min(batch, first + contacts - from) }, (_, index) => numberOf(from + index));
    await store.attempts.decide(TENANT, { numbers, campaignId: 'c', sinceMs: 0, lease: LEASE }, (known, lists, start) => {
      let head: ChainHead | undefined = start;
      const entries: DecisionEntry[] = [];
      const attempts: NewAttempt[] = [];
      for (const [to, { subject, ...facts }] of known) {
        const all = {
          ...facts,
          tenantId: TENANT,
          nowMs,
          number: readNumber(to),
          zones: ['Asia/Kolkata'],
          destinationRefusal: undefined,
          day: { endsAtMs: nowMs + 3_600_000, costMicros: undefined, spent: [] },
          purpose: undefined,
          registrations: {},
          lists,
          callerId: { number: '+911400000001', isOwn: true },
          campaignId: 'c',
          narrowing: [],
          callBack: undefined,
        };
        const decision = mayDial(all, profile);
        const entry: ChainEntry = appendEntry(head, TENANT, nowMs, loggedDecision(all, decision, subject));
        head = entry;
        entries.push(entry);
        const decided = decision.allowed ? {} : ({ state: 'ended', disposition: 'refused', cause: decision.refusal } as const);
        const decisionSequence = entry.sequence;
        attempts.push(attemptRecordOf({ tenantId: TENANT, id: randomUUID(), to, decisionSequence, campaignId: 'c', ...decided }));
      }
      return { entries, attempts, result: undefined };
    });
  }
  return perSecond(contacts, startedMs);
}

function perSecond(count: number, startedMs: number): number {
  return Math.round(count / ((performance.now() - startedMs) / 1000));
}

await main();
// The test support keeps an embedded store open for the next file.
process.exit();
