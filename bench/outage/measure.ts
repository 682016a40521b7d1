// `npm run -s bench -- outage [--json] [--calls 60] [--only kill,redis]`: calls through outages; see bench/outage/README.md.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Client } from 'pg';
import { z } from 'zod';
import { requireTool } from '../../test/support/requires.ts';
import { about } from '../document.ts';
import { callOnce, type CallerReport } from './callers.ts';
import { QUESTIONS, startWorld, type World } from './world.ts';

const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    calls: { type: 'string', default: '60' },
    /** Faults, separated by commas; all when absent. */
    only: { type: 'string' },
    /** Leaves the data folders and logs, and says where. */
    keep: { type: 'boolean', default: false },
  },
});
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const note = (text: string): void => void process.stderr.write(`${text}\n`);
/** Until the records, recordings and analyses of the calls are in their places. */
const SETTLE_MS = 120_000;
const OUTAGE_MS = 30_000;

interface Fault {
  /** Over how long the calls begin. */
  readonly spreadMs: number;
  /** Of the first call's begin. */
  readonly afterMs: number;
  strike(world: World): Promise<void>;
  /** Once the calls are over. */
  repair?(world: World): Promise<void>;
}

const FAULTS: Readonly<Record<string, Fault>> = {
  kill: {
    spreadMs: 20_000,
    afterMs: 12_000,
    strike: async ({ machines: [first] }) => await first?.kill(),
    repair: async ({ machines: [first] }) => await first?.start(),
  },
  redis: {
    spreadMs: 45_000,
    afterMs: 8_000,
    async strike({ redis }) {
      await redis.stop();
      await pause(OUTAGE_MS);
      await redis.start();
    },
  },
  postgres: { spreadMs: 20_000, afterMs: 12_000, strike: async ({ postgres }) => await postgres.restart() },
  cutOff: {
    spreadMs: 45_000,
    afterMs: 8_000,
    async strike({ machines: [, second] }) {
      second?.cutOff();
      await pause(OUTAGE_MS);
      second?.mend();
    },
  },
  rolling: {
    spreadMs: 90_000,
    afterMs: 8_000,
    async strike({ machines }) {
      for (const machine of machines) {
        await machine.stop();
        await machine.start();
        // Two checks of HAProxy's, after which it gets calls.
        await pause(5_000);
      }
    },
  },
};

const row = z.object({
  carrier_call_id: z.string(),
  end_reason: z.string().nullable(),
  analysis_state: z.string(),
  recording_object: z.string().nullable(),
  turn_count: z.number(),
});
type Row = z.infer<typeof row>;

async function rowsOf(world: World, reports: readonly CallerReport[]): Promise<readonly Row[]> {
  const database = new Client({ connectionString: world.databaseUrl });
  await database.connect();
  try {
    const text = `SELECT ${Object.keys(row.shape).join(', ')} FROM offhook.calls WHERE carrier_call_id = ANY($1)`;
    return z.array(row).parse((await database.query(text, [reports.map(({ callSid }) => callSid)])).rows);
  } finally {
    await database.end();
  }
}

interface Judged {
  readonly calls: number;
  /** The carrier got no media stream. */
  readonly lost: number;
  /** Began, and ended before the bot's goodbye. */
  readonly cut: number;
  /** Has two records. */
  readonly doubled: number;
  readonly resumeMs: readonly number[];
  readonly recordsOk: number;
  readonly recordingsOk: number;
  readonly analysesOk: number;
}

const isWhole = (each: Row): boolean => each.end_reason === 'ordered' && each.turn_count > QUESTIONS;

async function judge(world: World, reports: readonly CallerReport[]): Promise<Judged> {
  const begun = reports.filter(({ refused }) => refused === undefined);
  const count = (of: (rows: readonly Row[]) => boolean, rows: readonly Row[]): number =>
    begun.filter(({ callSid }) => of(rows.filter((each) => each.carrier_call_id === callSid))).length;
  const judged = (rows: readonly Row[]): Judged => ({
    calls: reports.length,
    lost: reports.length - begun.length,
    cut: begun.length - count((own) => own.some(({ end_reason: reason }) => reason === 'ordered'), rows),
    doubled: count((own) => own.length > 1, rows),
    resumeMs: reports.flatMap(({ resumeMs }) => resumeMs),
    recordsOk: count((own) => own.length === 1 && own.every(isWhole), rows),
    recordingsOk: count((own) => own.some(({ recording_object: object }) => object !== null && world.hasRecording(object)), rows),
    analysesOk: count((own) => own.some(({ analysis_state: state }) => state === 'done'), rows),
  });
  const endMs = performance.now() + SETTLE_MS;
  for (;;) {
    const rows = await rowsOf(world, reports);
    const found = judged(rows);
    const isSettled = found.recordingsOk === begun.length && found.analysesOk === begun.length;
    if (isSettled || performance.now() > endMs) {
      for (const { callSid, refused, problem } of reports)
        if (refused !== undefined || problem !== undefined) note(`  ${callSid}: ${refused ?? problem}`);
      for (const each of rows) if (!isWhole(each) || each.analysis_state !== 'done') note(`  ${JSON.stringify(each)}`);
      return found;
    }
    await pause(500);
  }
}

async function measure(world: World, fault: Fault): Promise<Judged> {
  const { spreadMs, afterMs } = fault;
  const calls = Number(values.calls);
  const struck = pause(afterMs).then(() => fault.strike(world));
  // It is told once the calls are over.
  struck.catch(() => undefined);
  const reports = await Promise.all(
    Array.from({ length: calls }, async (_, at) => {
      await pause((at * spreadMs) / calls);
      return await callOnce(world.url);
    }),
  );
  await struck;
  await fault.repair?.(world);
  return await judge(world, reports);
}

const at = (share: number, sorted: readonly number[]): number | null =>
  sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? null;

function shown({ resumeMs, ...counts }: Judged) {
  const sorted = resumeMs.toSorted((one, other) => one - other);
  return { ...counts, resumeMs: { p50: at(0.5, sorted), p95: at(0.95, sorted) } };
}

function sum(all: readonly Judged[]): Judged {
  const total = (name: Exclude<keyof Judged, 'resumeMs'>): number => all.reduce((before, each) => before + each[name], 0);
  return {
    calls: total('calls'),
    lost: total('lost'),
    cut: total('cut'),
    doubled: total('doubled'),
    resumeMs: all.flatMap(({ resumeMs }) => resumeMs),
    recordsOk: total('recordsOk'),
    recordingsOk: total('recordingsOk'),
    analysesOk: total('analysesOk'),
  };
}

const [redis, postgres, haproxy] = [requireTool('redis-server'), requireTool('postgres'), requireTool('haproxy')];
if (redis === undefined || postgres === undefined || haproxy === undefined) {
  note(
    'bench -- outage needs redis-server, postgresql and haproxy of the system (apt-get install redis-server postgresql haproxy)',
  );
} else {
  const wanted = values.only?.split(',') ?? Object.keys(FAULTS);
  const unknown = wanted.filter((name) => !(name in FAULTS));
  if (unknown.length > 0) throw new RangeError(`no fault is called ${unknown.join(', ')}: ${Object.keys(FAULTS).join(', ')}`);
  const folder = mkdtempSync(join(tmpdir(), 'offhook-outage-'));
  const found: Record<string, Judged> = {};
  {
    await using world = await startWorld({ redis, postgres, haproxy }, folder);
    for (const name of wanted) {
      const fault = FAULTS[name];
      if (fault === undefined) continue;
      note(`${name} …`);
      found[name] = await measure(world, fault);
      note(`  ${JSON.stringify(shown(found[name]))}`);
    }
  }
  if (values.keep) note(`data folders and logs: ${folder}`);
  else rmSync(folder, { recursive: true, force: true });
  const sections = Object.fromEntries(Object.entries(found).map(([name, each]) => [name, shown(each)]));
  const document = { ...about(), ...shown(sum(Object.values(found))), faults: sections };
  if (values.json) process.stdout.write(`${JSON.stringify(document)}\n`);
  else
    for (const [name, each] of Object.entries({ ...sections, all: shown(sum(Object.values(found))) }))
      note(`${name}: ${JSON.stringify(each)}`);
}
process.exit();
