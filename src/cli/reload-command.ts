import type { Command } from 'commander';
import { sleep } from '../kernel/waiting.ts';
import { systemClock, stayAwake } from '../kernel/clock.ts';
import { errorText, errorTextWithCause } from '../kernel/errors.ts';
import { errorsOf, problemText } from '../config/problem.ts';
import type { Gateway } from '../hosts/app.ts';
import { readConfiguration, readGatewayConfiguration } from './setup/configuration.ts';
import { EXIT, printJson, printLine, printNote } from './shell/output.ts';
import { type RunningGateway, runningGateways } from './running-gateways.ts';

/** Time limit for a reload: many bots, or a busy gateway, take time. */
const ANSWER_WITHIN_MS = 60_000;
const LOOK_MS = 100;

/** `offhook reload`: makes the running gateways of the data folder reload their bots. */
export function addReloadCommand(program: Command): void {
  program
    .command('reload')
    .description('make running gateways reload their bots for new calls; live calls keep the bots they began with')
    .option('--json', 'print one JSON document')
    .action(async (flags: { json?: boolean }) => {
      const { dataDir } = readConfiguration().config.settings;
      const gateways = await requireRunningGateways(dataDir, 'reload');
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

/** The live gateways of a data folder. Ends the command where there are none. */
export async function requireRunningGateways(dataDir: string, command: string): Promise<readonly RunningGateway[]> {
  const gateways = await runningGateways(dataDir);
  if (gateways.length > 0) return gateways;
  printNote(
    `offhook ${command}: no gateway runs on ${dataDir} that this process can see (OFFHOOK_DATA_DIR names another folder)`,
  );
  process.exit(EXIT.failed);
}

/** @returns problems; empty when the new bots are in use */
async function reloadOne(dataDir: string, { owner, reloads }: RunningGateway): Promise<readonly string[]> {
  try {
    process.kill(owner.pid, 'SIGHUP');
  } catch (error) {
    return [`it cannot be told: ${errorText(error)}`];
  }
  const untilMs = systemClock.nowMs() + ANSWER_WITHIN_MS;
  while (systemClock.nowMs() < untilMs) {
    await sleep(systemClock, LOOK_MS);
    const now = (await runningGateways(dataDir)).find((each) => each.owner.pid === owner.pid);
    if (now === undefined) return ['it has ended'];
    if (now.reloads > reloads) return now.problems;
  }
  return [`it did not say within ${ANSWER_WITHIN_MS / 1000} s whether it has them`];
}

/**
 * Reloads the bots of a running gateway from its folder, for new calls.
 * @returns their problems; with any, nothing changes
 */
export async function reloadBots(gateway: Pick<Gateway, 'useBots'>, folder: string): Promise<readonly string[]> {
  try {
    const { bots, botProblems } = await readGatewayConfiguration({ OFFHOOK_BOTS__FOLDER: folder });
    const errors = errorsOf(botProblems);
    if (errors.length > 0) return errors.map((problem) => problemText(problem));
    await gateway.useBots(bots);
    return [];
  } catch (error) {
    return [errorTextWithCause(error)];
  }
}
