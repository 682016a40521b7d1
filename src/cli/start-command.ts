import { fork } from 'node:child_process';
import { isatty } from 'node:tty';
import closeWithGrace from 'close-with-grace';
import type { Command } from 'commander';
import { startGateway } from '../hosts/app.ts';
import { openSharedState } from '../hosts/shared-state.ts';
import { withTrials } from '../config/bot-trials.ts';
import { readEnvironment } from '../config/env.ts';
import type { MediaProcesses } from '../hosts/gateway-parts.ts';
import { lowMemoryEnvironment } from '../kernel/process-tuning.ts';
import { systemClock } from '../kernel/clock.ts';
import { entryFile } from '../kernel/entry-file.ts';
import type { LoadedConfig } from '../config/load.ts';
import { createLogger } from '../observability/logger.ts';
import { BotFolder } from '../hosts/bot-orders.ts';
import { consoleAddress, signInAddress } from './console-command.ts';
import { checkGateway } from './doctor/gateway-checks.ts';
import { getModelInProcess } from './setup/get-model.ts';
import { modelFacts } from './setup/model-facts.ts';
import { readGatewayConfiguration, requireGatewayConfiguration, processCount, readProcesses } from './setup/configuration.ts';
import { printJson, printLine } from './shell/output.ts';
import { DRAIN_SIGNAL, GatewayNote, obeyDrainOrders } from './running-gateways.ts';
import { modelsHint, speechSource } from './setup/speech-settings.ts';
import { endWithNpm, stopInStages } from './stop-in-stages.ts';

/** `offhook start`: runs the gateway, the embedded platform when none is configured, the store and the worker. */
export function addStartCommand(program: Command): void {
  program
    .command('start')
    .description('answer calls: gateway, speech platform, store and worker')
    .option('--no-worker', 'do not run the jobs after calls; other processes do (offhook worker)')
    .option(
      '--processes <count>',
      'processes that carry calls, behind one port: a number, or auto for one per core',
      readProcesses,
    )
    .option('--json', 'print one JSON document when it is up')
    .action(start);
}

interface StartFlags {
  readonly json?: boolean;
  readonly worker: boolean;
  readonly processes?: number;
}

async function start(flags: StartFlags): Promise<void> {
  const { config, bots } = await requireGatewayConfiguration();
  const { settings } = config;
  const logger = createLogger({ level: settings.log.level, personal: settings.log.personal });
  const stop = new AbortController();
  const speech = await speechSource(config, logger, stop.signal);
  const botFolder = new BotFolder(async (draft) => {
    const read = await readGatewayConfiguration({ OFFHOOK_BOTS__FOLDER: settings.bots.folder }, false, draft);
    return { bots: read.bots, problems: read.botProblems };
  }, systemClock);
  const shared = await openSharedState(config, systemClock, logger);
  const processes = processCount(flags.processes, settings.call.processes);
  const gateway = await startGateway({
    config,
    bots,
    botFolder,
    check: checkGateway,
    models: { list: () => modelFacts(settings), get: getModelInProcess },
    clock: systemClock,
    logger,
    speech: speech.settings,
    worker: flags.worker,
    shared,
    processes: processes === 1 ? undefined : mediaProcesses(processes, speech.running),
  });
  speech.teach(withTrials(bots));
  const note = await GatewayNote.open(settings.dataDir, gateway.url);
  const ending = closeWithGrace(
    { delay: settings.http.closeGraceMs, logger: false, skip: ['SIGTERM', 'SIGINT', 'SIGHUP', DRAIN_SIGNAL] },
    async ({ err }) => {
      if (err !== undefined) logger.error({ error: err }, 'stopping after an uncaught error');
      await note.remove().catch(() => undefined);
      await gateway.close();
      await shared?.[Symbol.asyncDispose]();
      stop.abort(new Error('the gateway stops'));
      await speech[Symbol.asyncDispose]();
    },
  );
  const { drainMs } = settings.call;
  const leave = stopInStages({
    drainMs,
    drain() {
      logger.info({ drainMs }, 'draining: new calls are refused, live calls go on');
      return gateway.drain();
    },
    close: () => ending.close(),
    clock: systemClock,
  });
  endWithNpm(leave, readEnvironment(), systemClock);
  botFolder.onReload(async (problems, reloaded) => {
    if (problems.length === 0) {
      speech.teach(withTrials(reloaded));
      logger.info({}, 'bots reloaded for new calls');
    } else logger.error({ problems }, 'bots not reloaded: new bots have problems');
    await note.reloaded(problems).catch((error: unknown) => logger.warn({ error }, 'gateway note not written'));
  });
  const startedAtTerminal = isatty(0);
  process.on('SIGHUP', () => {
    // The terminal was closed.
    if (startedAtTerminal && !isatty(0)) return leave();
    void botFolder.reload();
  });
  obeyDrainOrders(gateway.callDrain, note, logger);
  await note.write();
  const names = bots.map(({ name }) => name);
  if (flags.json === true)
    printJson({ url: gateway.url, bots: names, embeddedPlatform: speech.embedded, dataDir: settings.dataDir, processes });
  else await printStarted(config, gateway.url, names, processes);
}

async function printStarted(config: LoadedConfig, url: string, bots: readonly string[], processes: number): Promise<void> {
  const { settings } = config;
  const started = `(bots: ${bots.join(', ')}; data in ${settings.dataDir})`;
  printLine(
    settings.console.enabled
      ? `Offhook answers calls ${started}. Its console: ${await consoleLink(config, url)}`
      : `Offhook answers on ${url} ${started}.`,
  );
  if (processes > 1) printLine(`${processes} processes carry up to ${settings.call.maximum} calls at once, all together.`);
  if (settings.publicUrl === undefined)
    printLine('Set OFFHOOK_PUBLIC_URL and a Twilio auth token to take real calls; see the README.');
  const hint = await modelsHint(config);
  if (hint !== undefined) printLine(hint);
  printLine('Try it from another shell: npx offhook call --say "when are you open"');
}

/** Where people look. Without another way to sign in, the address itself signs in, once. */
async function consoleLink({ settings, secrets }: LoadedConfig, gatewayUrl: string): Promise<string> {
  if (secrets.adminPassword !== undefined) return consoleAddress(settings, gatewayUrl);
  return signInAddress(settings, gatewayUrl, { name: 'admin', role: 'admin' });
}

/** Child processes for the calls of a gateway. */
function mediaProcesses(size: number, platform: MediaProcesses['platform']): MediaProcesses {
  const { path, execArgv } = entryFile(import.meta.url, './media-entry');
  return {
    size,
    platform,
    // Only this process writes to standard output.
    launch: () =>
      fork(path, [], {
        execArgv: [...execArgv],
        env: lowMemoryEnvironment(readEnvironment()),
        stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      }),
  };
}
