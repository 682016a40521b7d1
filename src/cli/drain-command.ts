import { rm, writeFile } from 'node:fs/promises';
import { type Command, InvalidArgumentError } from 'commander';
import type { CallDrain } from '../hosts/call-host.ts';
import { stayAwake, systemClock } from '../kernel/clock.ts';
import { errorText } from '../kernel/errors.ts';
import { sleep } from '../kernel/waiting.ts';
import type { Logger } from '../observability/logger.ts';
import { requireRunningGateways } from './reload-command.ts';
import { type GatewayNote, type RunningGateway, runningGateways } from './running-gateways.ts';
import { readConfiguration } from './setup/configuration.ts';
import { EXIT, printJson, printLine } from './shell/output.ts';

/** Has a gateway look at its order to drain. `SIGUSR1` is Node's own. */
export const DRAIN_SIGNAL = 'SIGUSR2';
/** Time limit for a gateway to say that it has the order. */
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
      const gateways = await requireRunningGateways(dataDir, 'drain');
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
  const untilMs = systemClock.nowMs() + withinMs;
  while (true) {
    const { drain: state } = (await runningGateways(dataDir)).find((each) => each.owner.pid === owner.pid) ?? {};
    if (state === undefined) return 'ended';
    if (wanted.includes(state) || systemClock.nowMs() >= untilMs) return state;
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
