// The dial gate and the import of contacts. Run: npm run bench -- dialling [--json] [--rows 1000000] [--decisions 100000]
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { readContacts } from '../../src/outbound/contacts/read-contacts.ts';
import type { DialFacts } from '../../src/outbound/gate/facts.ts';
import { mayDial } from '../../src/outbound/gate/may-dial.ts';
import { loadDiallingProfile, SHIPPED_PROFILES } from '../../src/outbound/gate/profile.ts';
import { NumberZones, readNumber } from '../../src/outbound/number.ts';
import { printDocument, readOptions, round } from '../document.ts';

const values = readOptions({ rows: '1000000', decisions: '100000' });
const folder = fileURLToPath(new URL('../../config/dialling', import.meta.url));
const MB = 2 ** 20;
/** Every tenth row is a duplicate, every hundredth is bad. */
const DUPLICATE_EVERY = 10;
const BAD_EVERY = 100;
const ROWS_A_CHUNK = 500;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** An Indian mobile number for each index below 80 million. */
function numberOf(index: number): string {
  return `9${800_000_000 + index}`;
}

async function* csv(rows: number): AsyncGenerator<Uint8Array> {
  yield Buffer.from('phone,name,"due date",time_zone,note\n');
  for (let from = 0; from < rows; from += ROWS_A_CHUNK) {
    let text = '';
    for (let index = from; index < Math.min(rows, from + ROWS_A_CHUNK); index += 1) {
      const isDuplicate = index % DUPLICATE_EVERY === DUPLICATE_EVERY - 1;
      const number = index % BAD_EVERY === 0 ? '12345' : numberOf(isDuplicate ? index - 2 : index);
      text += `${number},Asha ${index},2026-03-03,Asia/Kolkata,"pays ""soon"", said so"\n`;
    }
    yield Buffer.from(text);
  }
}

async function measureContacts(rows: number) {
  collect();
  const before = process.memoryUsage();
  let peakRss = before.rss;
  const counts = { contact: 0, duplicate: 0, refused: 0 };
  const startedMs = performance.now();
  let seen = 0;
  for await (const { kind } of readContacts(csv(rows), { tenantId: 'bench', defaultRegion: 'IN' })) {
    counts[kind] += 1;
    seen += 1;
    if (seen % 10_000 === 0) peakRss = Math.max(peakRss, process.memoryUsage.rss());
  }
  const seconds = (performance.now() - startedMs) / 1000;
  collect();
  const after = process.memoryUsage();
  return {
    rows: seen,
    ...counts,
    seconds: round(seconds),
    rowsPerSecond: Math.round(seen / seconds),
    /** Live objects, before and after the import. */
    heapGrowthMb: round((after.heapUsed - before.heapUsed) / MB),
    /** Highest of all samples, garbage that waits for its collection included. */
    rssPeakGrowthMb: round((peakRss - before.rss) / MB),
  };
}

const PEOPLE: Readonly<Record<(typeof SHIPPED_PROFILES)[number], readonly [string, string]>> = {
  in: ['+919876543210', '+911401234567'],
  us: ['+12127365000', '+12125550100'],
  eu: ['+4915112345678', '+49301234567'],
  none: ['+61412345678', '+61212345678'],
};

function factsOf(name: (typeof SHIPPED_PROFILES)[number], zones: NumberZones): DialFacts {
  const [person, callerId] = PEOPLE[name];
  const number = readNumber(person);
  const nowMs = Date.UTC(2026, 2, 3);
  return {
    tenantId: 'bench',
    nowMs,
    number,
    zones: 'e164' in number ? zones.of(number) : [],
    destinationRefusal: undefined,
    day: { endsAtMs: nowMs + 3_600_000, costMicros: undefined, spent: [] },
    purpose: 'promotional',
    registrations: { entityId: '1', telemarketerId: '2', templateId: '3' },
    consents: [{ id: 'c', level: 'written', purposes: ['promotional'], givenAtMs: 0, evidence: 'form', registeredId: 'r' }],
    suppressions: [],
    lists: { national: nowMs, preferences: nowMs },
    callerId: { number: callerId, isOwn: true },
    campaignId: 'bench',
    attemptsMs: [nowMs - 5 * 86_400_000, nowMs - 3 * 86_400_000],
    attemptsInCampaign: 2,
    narrowing: [],
    callBack: undefined,
  };
}

/** Decisions at moments all over a day: allowed ones, and refused ones with their `retryAtMs`. */
async function measureGate(decisions: number) {
  const zones = NumberZones.load(`${folder}/number-zones.json`);
  const rates: Record<string, { perSecond: number; allowed: number }> = {};
  for (const name of SHIPPED_PROFILES) {
    const profile = await loadDiallingProfile(folder, name);
    const facts = factsOf(name, zones);
    let allowed = 0;
    const startedMs = performance.now();
    for (let index = 0; index < decisions; index += 1) {
      if (mayDial({ ...facts, nowMs: facts.nowMs + (index % 1440) * 60_000 }, profile).allowed) allowed += 1;
    }
    rates[name] = { perSecond: Math.round((decisions * 1000) / (performance.now() - startedMs)), allowed };
  }
  return rates;
}

printDocument({
  contacts: await measureContacts(Number(values.rows)),
  gate: await measureGate(Number(values.decisions)),
});
