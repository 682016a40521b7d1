import { type Command, InvalidArgumentError } from 'commander';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { CallDrain } from '../hosts/call-host.ts';
import { stayAwake, systemClock } from '../kernel/clock.ts';
import { errorText } from '../kernel/errors.ts';
import { livenessOf, processIdentity, thisProcess } from '../kernel/process-identity.ts';
import { writeFileAtomic } from '../kernel/temporary.ts';
import { sleep } from '../kernel/waiting.ts';
import type { Logger } from '../observability/logger.ts';
import { readConfiguration } from './setup/configuration.ts';
import { EXIT, printJson, printLine, printNote } from './shell/output.ts';

const note = z.object({
  owner: processIdentity,
  url: z.string(),
  /** Number of reloads, and the problems of the last one. */
  reloads: z.int(),
  problems: z.array(z.string()),
  /** Absent of a gateway that takes no orders to drain. */
  drain: z.enum(['taking-calls', 'draining', 'drained']).optional(),
});
export type RunningGateway = z.infer<typeof note> & {
  /** Whether the gateway is to drain, as a command wants it: there while it is. */
  readonly drainOrder: string;
};
type DrainState = NonNullable<RunningGateway['drain']>;

/** A gateway's note in its data folder, for commands on the same machine. */
export class GatewayNote {
  readonly #path: string;
  #note: z.infer<typeof note>;
  #written: Promise<void> = Promise.resolve();

  private constructor(path: string, url: string) {
    this.#path = path;
    this.#note = { owner: thisProcess(), url, reloads: 0, problems: [], drain: 'taking-calls' };
  }

  /** A note that commands see once it is written. @throws the file system's error */
  static async open(dataDir: string, url: string): Promise<GatewayNote> {
    const folder = folderOf(dataDir);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return new GatewayNote(join(folder, `${randomUUID()}.json`), url);
  }

  /** Whether a command wants the gateway to drain. */
  get wantsDrain(): boolean {
    return existsSync(drainOrderOf(this.#path));
  }

  /** Notes a reload. @param problems of the new bots; empty when they are in use */
  async reloaded(problems: readonly string[]): Promise<void> {
    this.#note = { ...this.#note, reloads: this.#note.reloads + 1, problems: [...problems] };
    await this.write();
  }

  async draining(drain: DrainState): Promise<void> {
    this.#note = { ...this.#note, drain };
    await this.write();
  }

  async remove(): Promise<void> {
    await this.#written.catch(() => undefined);
    await removeNote(this.#path);
  }

  /** One write after another: the last one is what is read. @throws the file system's error */
  write(): Promise<void> {
    const write = (): Promise<void> => writeFileAtomic(this.#path, JSON.stringify(this.#note));
    this.#written = this.#written.then(write, write);
    return this.#written;
  }
}

/** The live gateways of a data folder that this process can see; removes notes of dead ones. */
export async function runningGateways(dataDir: string): Promise<readonly RunningGateway[]> {
  const folder = folderOf(dataDir);
  const names = await readdir(folder).catch(() => []);
  const found: RunningGateway[] = [];
  for (const name of names.filter((each) => each.endsWith('.json'))) {
    const path = join(folder, name);
    const text = await readFile(path, 'utf8').catch(() => '');
    const parsed = note.safeParse(text === '' ? undefined : JSON.parse(text));
    if (!parsed.success) continue;
    const liveness = livenessOf(parsed.data.owner);
    if (liveness === 'alive') found.push({ ...parsed.data, drainOrder: drainOrderOf(path) });
    else if (liveness === 'dead') await removeNote(path);
  }
  return found;
}

async function removeNote(path: string): Promise<void> {
  await Promise.all([path, drainOrderOf(path)].map((each) => rm(each, { force: true })));
}

function drainOrderOf(notePath: string): string {
  return notePath.replace(/\.json$/u, '.drain');
}

function folderOf(dataDir: string): string {
  return join(dataDir, 'gateways');
}

/** Has a gateway look at its order to drain. `SIGUSR1` is Node's own. */
export const DRAIN_SIGNAL = 'SIGUSR2';
/** Time limit for a gateway to say that it has an order, or has reloaded: many bots, or a busy gateway, take time. */
const ANSWER_WITHIN_MS = 60_000;
const LOOK_MS = 100;

interface Outcome {
  readonly url: string;
  readonly pid: number;
  /** `ended` for a process that is gone, and its calls with it. */
  readonly state: NonNullable<RunningGateway['drain']> | 'ended';
  /** Why the order was not carried out; null where it was. */
  readonly problem: string | null;
}

/** `offhook drain`: has the running gateways of the data folder take no new calls, and waits for the end of the live ones. */
export function addDrainCommand(program: Command): void {
  program
    .command('drain')
    .description('have running gateways take no new calls; live calls go on')
    .option('--wait [seconds]', 'wait until no call is left, so many seconds at most', readSeconds)
    .option('--undo', 'take calls again')
    .option('--json', 'print one JSON document')
    .action(async (flags: { wait?: true | number; undo?: true; json?: true }, command: Command) => {
      if (flags.undo === true && flags.wait !== undefined)
        command.error('error: --undo has no --wait: calls are taken again at once');
      const { dataDir } = readConfiguration().config.settings;
      const gateways = await requireRunningGateways(dataDir);
      const waitMs = flags.wait === undefined ? 0 : flags.wait === true ? Number.POSITIVE_INFINITY : flags.wait * 1000;
      const order = (gateway: RunningGateway): Promise<Outcome> =>
        flags.undo === true ? undo(dataDir, gateway) : drain(dataDir, gateway, waitMs);
      const outcomes = await stayAwake(Promise.all(gateways.map(order)));
      if (flags.json === true) printJson({ gateways: outcomes });
      else
        for (const outcome of outcomes) printLine(`The gateway on ${outcome.url} (process ${outcome.pid}) ${wordsFor(outcome)}.`);
      process.exit(outcomes.every(({ problem }) => problem === null) ? EXIT.ok : EXIT.failed);
    });
}

async function drain(dataDir: string, gateway: RunningGateway, waitMs: number): Promise<Outcome> {
  const begun = await order(dataDir, gateway, async () => writeFile(gateway.drainOrder, '', { mode: 0o600 }), [
    'draining',
    'drained',
  ]);
  if (begun.problem !== null || waitMs === 0) return begun;
  const state = await reached(dataDir, gateway, ['drained'], waitMs);
  const problem = state === 'drained' || state === 'ended' ? null : 'calls go on';
  return { ...begun, state, problem: state === 'taking-calls' ? 'the drain was undone' : problem };
}

function undo(dataDir: string, gateway: RunningGateway): Promise<Outcome> {
  return order(dataDir, gateway, () => rm(gateway.drainOrder, { force: true }), ['taking-calls']);
}

/** Leaves an order for a gateway, and waits until it has obeyed. */
async function order(
  dataDir: string,
  gateway: RunningGateway,
  leave: () => Promise<void>,
  wanted: readonly RunningGateway['drain'][],
): Promise<Outcome> {
  const { url, owner, drain: before } = gateway;
  const outcome = (state: Outcome['state'], problem: string | null): Outcome => ({ url, pid: owner.pid, state, problem });
  // Without a handler the signal would end it.
  if (before === undefined) return outcome('taking-calls', 'its version takes no such order: use SIGTERM');
  try {
    await leave();
    process.kill(owner.pid, DRAIN_SIGNAL);
  } catch (error) {
    return outcome(before, `it cannot be told: ${errorText(error)}`);
  }
  const state = await reached(dataDir, gateway, wanted, ANSWER_WITHIN_MS);
  if (state === 'ended' || wanted.includes(state)) return outcome(state, null);
  return outcome(state, state === 'taking-calls' ? 'it did not begin to drain' : 'it is stopping, or did not answer');
}

/** @returns its state as soon as it is one of these, or as it is when the time is over */
async function reached(
  dataDir: string,
  { owner }: RunningGateway,
  wanted: readonly RunningGateway['drain'][],
  withinMs: number,
): Promise<Outcome['state']> {
  return (await awaited(dataDir, owner.pid, ({ drain: state }) => wanted.includes(state), withinMs))?.drain ?? 'ended';
}

/** @returns the gateway as soon as it is so, or as it is when the time is over; undefined once its process is gone */
async function awaited(
  dataDir: string,
  pid: number,
  isSo: (gateway: RunningGateway) => boolean,
  withinMs: number,
): Promise<RunningGateway | undefined> {
  const untilMs = systemClock.nowMs() + withinMs;
  while (true) {
    const now = (await runningGateways(dataDir)).find((each) => each.owner.pid === pid);
    if (now === undefined || isSo(now) || systemClock.nowMs() >= untilMs) return now;
    await sleep(systemClock, LOOK_MS);
  }
}

function wordsFor({ state, problem }: Outcome): string {
  if (problem !== null) return `does not do it: ${problem}`;
  switch (state) {
    case 'taking-calls':
      return 'takes calls';
    case 'draining':
      return 'takes no new calls; live calls go on';
    case 'drained':
      return 'takes no new calls and has none left';
    case 'ended':
      return 'has ended';
  }
}

/** Obeys `offhook drain`, and shows in the gateway's note what comes of it. */
export function obeyDrainOrders(callDrain: CallDrain, note: GatewayNote, logger: Logger): void {
  callDrain.onChange((state) => {
    logger.info({ state }, 'call intake');
    note.draining(state).catch((error: unknown) => logger.warn({ error }, 'gateway note not written'));
  });
  process.on(DRAIN_SIGNAL, () => {
    if (note.wantsDrain) void callDrain.drain();
    else if (!callDrain.undo()) logger.warn({}, 'drain not undone: the gateway is stopping');
  });
}

function readSeconds(value: string): number {
  const seconds = Number(value);
  if (!(seconds > 0)) throw new InvalidArgumentError('a number of seconds above 0');
  return seconds;
}

/** `offhook reload`: makes the running gateways of the data folder reload their bots. */
export function addReloadCommand(program: Command): void {
  program
    .command('reload')
    .description('make running gateways reload their bots for new calls; live calls keep the bots they began with')
    .option('--json', 'print one JSON document')
    .action(async (flags: { json?: boolean }) => {
      const { dataDir } = readConfiguration().config.settings;
      const gateways = await requireRunningGateways(dataDir);
      const outcomes = await stayAwake(Promise.all(gateways.map((gateway) => reloadOne(dataDir, gateway))));
      const results = outcomes.map((problems, index) => ({
        url: gateways[index]?.url,
        pid: gateways[index]?.owner.pid,
        problems,
      }));
      if (flags.json === true) printJson({ gateways: results });
      for (const { url, pid, problems } of flags.json === true ? [] : results) {
        for (const problem of problems) printNote(problem);
        printLine(
          problems.length === 0
            ? `The gateway on ${url} (process ${pid}) has new bots for new calls.`
            : `The gateway on ${url} (process ${pid}) keeps the bots it has: ${problems.length} problem(s).`,
        );
      }
      process.exit(results.every(({ problems }) => problems.length === 0) ? EXIT.ok : EXIT.failed);
    });
}

/**
 * The live gateways of a data folder, one at least.
 * @param orElse what else the user can do, behind the advice to start one
 * @throws Error where there are none
 */
export async function requireRunningGateways(
  dataDir: string,
  orElse = '',
): Promise<readonly [RunningGateway, ...RunningGateway[]]> {
  const [first, ...others] = await runningGateways(dataDir);
  if (first !== undefined) return [first, ...others];
  throw new Error(
    `no gateway runs on ${dataDir} that this process can see (OFFHOOK_DATA_DIR names another folder); start one with npx offhook start${orElse}`,
  );
}

/** @returns problems; empty when the new bots are in use */
async function reloadOne(dataDir: string, { owner, reloads }: RunningGateway): Promise<readonly string[]> {
  try {
    process.kill(owner.pid, 'SIGHUP');
  } catch (error) {
    return [`it cannot be told: ${errorText(error)}`];
  }
  const now = await awaited(dataDir, owner.pid, (each) => each.reloads > reloads, ANSWER_WITHIN_MS);
  if (now === undefined) return ['it has ended'];
  if (now.reloads > reloads) return now.problems;
  return [`it did not say within ${ANSWER_WITHIN_MS / 1000} s whether it has them`];
}
