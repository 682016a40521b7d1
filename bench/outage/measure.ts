// `npm run -s bench -- outage [--json] [--calls 60] [--only kill,redis]`: calls through outages; see bench/outage/README.md.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import { z } from 'zod';
import { requireTool } from '../../test/support/requires.ts';
import { printDocument, quantiles, readOptions } from '../document.ts';
import { callOnce, type CallerReport } from './callers.ts';
import { QUESTIONS, startWorld, type World } from './world.ts';

/** `--only kill,redis` for some faults; `--keep` leaves the data folders and logs, and says where. */
const values = readOptions({ calls: '60', only: '', keep: false });
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

/** Something that is away for half a minute. */
const during = (begin: Fault['strike'], end: Fault['strike']): Fault => ({
  spreadMs: 45_000,
  afterMs: 8_000,
  async strike(world) {
    await begin(world);
    await pause(OUTAGE_MS);
    await end(world);
  },
});

const FAULTS: Readonly<Record<string, Fault>> = {
  kill: {
    spreadMs: 20_000,
    afterMs: 12_000,
    strike: async ({ machines: [first] }) => await first?.kill(),
    repair: async ({ machines: [first] }) => await first?.start(),
  },
  redis: during(
    async ({ redis }) => await redis.stop(),
    async ({ redis }) => await redis.start(),
  ),
  postgres: { spreadMs: 20_000, afterMs: 12_000, strike: async ({ postgres }) => await postgres.restart() },
  cutOff: during(
    async ({ machines: [, second] }) => second?.cutOff(),
    async ({ machines: [, second] }) => second?.mend(),
  ),
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

const isWhole = (each: Row): boolean => each.end_reason === 'ordered' && each.turn_count > QUESTIONS;

/** Awaits what is made of the calls. `lost` got no media stream; `cut` began and ended before the bot's goodbye; `doubled` has two records. */
async function judge(world: World, reports: readonly CallerReport[]) {
  const begun = reports.filter(({ refused }) => refused === undefined);
  const endMs = performance.now() + SETTLE_MS;
  for (;;) {
    const rows = await rowsOf(world, reports);
    const count = (holds: (own: readonly Row[]) => boolean): number =>
      begun.filter(({ callSid }) => holds(rows.filter((each) => each.carrier_call_id === callSid))).length;
    const judged = {
      calls: reports.length,
      lost: reports.length - begun.length,
      cut: begun.length - count((own) => own.some(({ end_reason: reason }) => reason === 'ordered')),
      doubled: count((own) => own.length > 1),
      recordsOk: count((own) => own.length === 1 && own.every(isWhole)),
      recordingsOk: count((own) => own.some(({ recording_object: object }) => object !== null && world.hasRecording(object))),
      analysesOk: count((own) => own.some(({ analysis_state: state }) => state === 'done')),
    };
    const isSettled = judged.recordingsOk === begun.length && judged.analysesOk === begun.length;
    if (isSettled || performance.now() > endMs) {
      for (const { callSid, refused, problem } of reports)
        if (refused !== undefined || problem !== undefined) note(`  ${callSid}: ${refused ?? problem}`);
      for (const each of rows) if (!isWhole(each) || each.analysis_state !== 'done') note(`  ${JSON.stringify(each)}`);
      return { ...judged, resumeMs: quantiles(reports.flatMap(({ resumeMs }) => resumeMs)) };
    }
    await pause(500);
  }
}

async function measure(world: World, fault: Fault) {
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

const [redis, postgres, haproxy] = [requireTool('redis-server'), requireTool('postgres'), requireTool('haproxy')];
if (redis === undefined || postgres === undefined || haproxy === undefined) {
  note(
    'bench -- outage needs redis-server, postgresql and haproxy of the system (apt-get install redis-server postgresql haproxy)',
  );
} else {
  const wanted = values.only === '' ? Object.keys(FAULTS) : values.only.split(',');
  const unknown = wanted.filter((name) => !(name in FAULTS));
  if (unknown.length > 0) throw new RangeError(`no fault is called ${unknown.join(', ')}: ${Object.keys(FAULTS).join(', ')}`);
  const folder = mkdtempSync(join(tmpdir(), 'offhook-outage-'));
  const faults: Record<string, object> = {};
  {
    await using world = await startWorld({ redis, postgres, haproxy }, folder);
    for (const name of wanted) {
      const fault = FAULTS[name];
      if (fault === undefined) continue;
      note(`${name} …`);
      faults[name] = await measure(world, fault);
      note(`  ${JSON.stringify(faults[name])}`);
    }
  }
  if (values.keep) note(`data folders and logs: ${folder}`);
  else rmSync(folder, { recursive: true, force: true });
  printDocument({ faults });
}
process.exit();
