import { createHash } from 'node:crypto';
import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { hasCode } from '../../kernel/errors.ts';
import { writeFileAtomic } from '../../kernel/temporary.ts';
import type { CallLine } from './evidence.ts';
import type { RunResult } from './run-suites.ts';
import { type SavedRun, savedRun, type SavedSummary, savedSummary } from './saved-run.ts';

/** Folder of runs, in the data folder. */
export const EVALS_FOLDER = 'evals';
export const RUN_ID = /^\d{8}-\d{6}-[0-9a-f]{6}$/u;
export const SOUND_NAME = /^\d{1,6}\.wav$/u;

/** Runs that are kept; older ones are deleted as a new one begins. */
const MOST_RUNS = 50;
/** Earlier runs that are looked at for what changed. */
const MOST_BEFORE = 10;
const SUMMARY = 'summary.json';
const RUN = 'run.json';
/** What a run is, and each of its calls as it was made. */
const PLAN = 'plan.json';
const CALLS = 'calls.jsonl';

/** What a run was asked for: a run that goes on was asked for the same. */
export interface RunPlan {
  readonly seed: number;
  /** Hash of the arguments. */
  readonly asked: string;
}

const plan = z.object({ seed: z.number(), asked: z.string() });
/** A call that was made: it counts where its suite and bot are as they were. */
const madeCall = z.object({
  of: z.string(),
  result: z.custom<RunResult>((value) => typeof value === 'object' && value !== null),
});

/** Identifies a call of a run: the same scenario of the same suite and bot, with the same seed. */
export function callKey(suite: { readonly path: string; readonly version: string }, scenario: string, seed: number): string {
  return createHash('sha256')
    .update(JSON.stringify([suite.path, suite.version, scenario, seed]))
    .digest('hex')
    .slice(0, 32);
}

/** A run that is being made. */
export interface StartedRun {
  readonly id: string;
  readonly folder: string;
  /** Calls that were made before the run went on, by their keys. */
  readonly made: ReadonlyMap<string, RunResult>;
  /** Keeps a call for a run that goes on. */
  add(key: string, result: RunResult): void;
  /** Keeps the results, and what is needed to go on no more unless it was stopped. */
  finish(run: SavedRun): Promise<void>;
}

/** The runs of evals in the data folder. */
export class EvalRuns {
  readonly #folder: string;

  constructor(dataDir: string) {
    this.#folder = join(dataDir, EVALS_FOLDER);
  }

  /** Begins a run, and deletes those that are too many. */
  async begin(asked: RunPlan, nowMs: number): Promise<StartedRun> {
    const ids = await this.#ids();
    for (const old of ids.slice(MOST_RUNS - 1)) rmSync(join(this.#folder, old), { recursive: true, force: true });
    const stamp = new Date(nowMs).toISOString().replaceAll(/[-:]/gu, '').replace('T', '-').slice(0, 15);
    // The milliseconds come first, so that ids sort by time.
    const ms = String(Math.floor(nowMs) % 1000).padStart(3, '0');
    const id = `${stamp}-${ms}${createHash('sha256').update(`${nowMs} ${process.pid} ${asked.seed}`).digest('hex').slice(0, 3)}`;
    mkdirSync(join(this.#folder, id), { recursive: true, mode: 0o700 });
    writeFileSync(join(this.#folder, id, PLAN), JSON.stringify(asked));
    return this.#started(id, new Map());
  }

  /** Goes on with the latest run that was asked for the same and did not end. @returns undefined where there is none */
  async resume(asked: string): Promise<(StartedRun & { readonly seed: number }) | undefined> {
    for (const id of await this.#ids()) {
      const found = plan.safeParse(readJson(join(this.#folder, id, PLAN)));
      if (!found.success || found.data.asked !== asked) continue;
      const made = new Map<string, RunResult>();
      for (const line of readLines(join(this.#folder, id, CALLS))) {
        const call = madeCall.safeParse(line);
        if (call.success) made.set(call.data.of, withLines(call.data.result));
      }
      return { ...this.#started(id, made), seed: found.data.seed };
    }
    return undefined;
  }

  #started(id: string, made: ReadonlyMap<string, RunResult>): StartedRun {
    const folder = join(this.#folder, id);
    return {
      id,
      folder,
      made,
      add: (of, result) => appendFileSync(join(folder, CALLS), `${JSON.stringify({ of, result })}\n`, { mode: 0o600 }),
      async finish(run) {
        const { scenarios: _scenarios, ...summary } = run;
        await writeFileAtomic(join(folder, RUN), Buffer.from(JSON.stringify(run)));
        await writeFileAtomic(join(folder, SUMMARY), Buffer.from(JSON.stringify(summary satisfies SavedSummary)));
        if (run.stopped) return;
        for (const name of [PLAN, CALLS]) rmSync(join(folder, name), { force: true });
      },
    };
  }

  /** Newest first; runs without results are left out. */
  async list(): Promise<readonly SavedSummary[]> {
    const read = await Promise.all((await this.#ids()).map((id) => this.#parsed(id, SUMMARY, savedSummary)));
    return read.filter((each) => each !== undefined);
  }

  /** The latest runs of a depth, newest first, except one. Runs of drafts are left out. */
  async before(depth: string, except: string): Promise<readonly SavedRun[]> {
    const earlier = (await this.list()).filter((run) => run.id !== except && run.depth === depth && run.draft !== true);
    const read = await Promise.all(earlier.slice(0, MOST_BEFORE).map(({ id }) => this.read(id)));
    return read.filter((each) => each !== undefined);
  }

  /** @returns undefined where there is no such run, or none that can be read */
  async read(id: string): Promise<SavedRun | undefined> {
    return RUN_ID.test(id) ? await this.#parsed(id, RUN, savedRun) : undefined;
  }

  /** The WAV file of a call. @returns undefined where there is none */
  async sound(id: string, name: string): Promise<Uint8Array | undefined> {
    if (!RUN_ID.test(id) || !SOUND_NAME.test(name)) return undefined;
    return await readFile(join(this.#folder, id, name)).catch(missing);
  }

  async #parsed<Shape>(id: string, name: string, shape: z.ZodType<Shape>): Promise<Shape | undefined> {
    const text = await readFile(join(this.#folder, id, name), 'utf8').catch(missing);
    if (text === undefined) return undefined;
    try {
      return shape.safeParse(JSON.parse(text)).data;
    } catch {
      return undefined;
    }
  }

  /** Newest first. */
  async #ids(): Promise<readonly string[]> {
    const names = (await readdir(this.#folder).catch(missing)) ?? [];
    return names
      .filter((name) => RUN_ID.test(name))
      .sort()
      .toReversed();
  }
}

/** The same result, whose unmet expectations point at the lines of its call again. */
function withLines(result: RunResult): RunResult {
  const { lines } = result.call;
  const lineOf = (line: CallLine): CallLine =>
    lines.find((each) => each.turn === line.turn && each.who === line.who && each.text === line.text) ?? line;
  return {
    ...result,
    unmet: result.unmet.map((each) => (each.line === undefined ? each : { ...each, line: lineOf(each.line) })),
  };
}

function missing(error: unknown): undefined {
  if (!hasCode(error, 'ENOENT')) throw error;
}

function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}

/** The JSON lines of a file; one that was cut short by the end of its process is left out. */
function readLines(path: string): unknown[] {
  try {
    return readFileSync(path, 'utf8')
      .split('\n')
      .flatMap((line) => {
        try {
          return [JSON.parse(line) as unknown];
        } catch {
          return [];
        }
      });
  } catch {
    return [];
  }
}
