import { availableParallelism } from 'node:os';
import { type Command, InvalidArgumentError } from 'commander';
import type { Bot } from '../config/bots.ts';
import { type BenchStep, judge, MOST_BUSY, MOST_LAG_MS } from './bench/recommend.ts';
import { type BenchReport, runBench } from './bench/run.ts';
import { requireConfiguration, processCount, readProcesses } from './setup/configuration.ts';
import { coloured, EXIT, printJson, printLine, printNote, tableText, UsageError } from './shell/output.ts';

interface BenchFlags {
  readonly calls: number;
  readonly seconds: number;
  readonly bot?: string;
  readonly processes?: number;
  readonly json?: boolean;
}

/** `offhook bench`: how many calls this machine carries with this configuration. */
export function addBenchCommand(program: Command): void {
  program
    .command('bench')
    .description('measure how many calls this machine carries with your configuration; makes no calls outside it')
    .option('--calls <count>', 'the most calls to try', readNumber(10_000), 300)
    .option('--seconds <count>', 'length of each of four steps', readNumber(3_600), 10)
    .option('--bot <name>', 'the bot to call; unless given, the first that asks no service outside this machine')
    .option(
      '--processes <count>',
      'processes that will have the calls, of which one is measured: a number, or auto',
      readProcesses,
    )
    .option('--json', 'print one JSON document')
    .action(async (flags: BenchFlags) => {
      const { config, bots } = requireConfiguration();
      const bot = chooseBot(bots, flags.bot);
      const stop = new AbortController();
      const onInterrupt = (): void => stop.abort(new Error('stopped'));
      process.once('SIGINT', onInterrupt).once('SIGTERM', onInterrupt);
      const print = flags.json === true ? printNote : printLine;
      const report = await runBench({
        calls: flags.calls,
        seconds: flags.seconds,
        bot,
        processes: processCount(flags.processes, config.settings.call.processes),
        signal: stop.signal,
        onStage: (stage) => print(coloured('dim', `${stage} …`)),
        onStep: (step) => print(stepText(step)),
      });
      if (flags.json === true) printJson(report);
      else printReport(report);
      process.exit(report.maximum === null ? EXIT.failed : EXIT.ok);
    });
}

/** Chooses a bot that calls no paid or shared service, unless the user names another one. @throws UsageError */
function chooseBot(bots: readonly Bot[], asked: string | undefined): string {
  const local = ({ dialog }: Bot): boolean => dialog.kind === 'flow' || dialog.kind === 'module';
  const chosen =
    asked === undefined
      ? (bots.find((bot) => bot.default && local(bot)) ?? bots.find(local))
      : bots.find(({ name }) => name === asked);
  if (chosen !== undefined) return chosen.name;
  const names = bots.map(({ name }) => name).join(', ');
  throw new UsageError(
    asked === undefined
      ? `every bot asks a service outside; name the one to call with --bot (${names}).`
      : `there is no bot ${asked}; there are ${names}.`,
  );
}

function readNumber(most: number) {
  return (text: string): number => {
    if (!/^[1-9]\d{0,5}$/.test(text) || Number(text) > most)
      throw new InvalidArgumentError(`a whole number from 1 to ${most} is expected.`);
    return Number(text);
  };
}

function stepText(step: BenchStep): string {
  const { faults, void: reasons } = judge(step);
  return [...faults, ...reasons.map((reason) => `does not count: ${reason}`)].map((text) => `  ${text}`).join('\n') || '  fine';
}

function printReport(report: BenchReport): void {
  const percent = (share: number): string => `${Math.round(100 * share)} %`;
  const number = (value: number | null): string => (value === null ? '–' : String(value));
  const rows = report.steps.map((step) => [
    String(step.calls),
    percent(step.cpu),
    percent(step.loopBusy),
    String(step.loopP99Ms),
    String(step.rssMb),
    String(step.holes),
    String(step.lost),
    `${number(step.turnP50Ms)} / ${number(step.turnP99Ms)}`,
    percent(step.callersBusy),
  ]);
  const heading = ['calls', 'processor', 'loop busy', 'loop p99 ms', 'memory MB', 'holes', 'lost', 'turn ms', 'callers busy'];
  printLine();
  printLine(tableText([heading, ...rows]));
  printLine();
  printLine(`${report.machine}; bot ${report.bot}; ${report.secondsAStep} s a step`);
  const { maximum, limitFound, processes, setting } = report;
  const last = report.steps.at(-1);
  if (maximum === null) {
    printLine(coloured('red', `Fewer than ${last?.calls ?? 1} calls: no step was both borne and counted. Try fewer (--calls).`));
    return;
  }
  const bounds = `loop busy at most ${percent(MOST_BUSY)}, at most ${MOST_LAG_MS} ms late, no hole, no call lost`;
  const what = processes === 1 ? 'one gateway process' : `${processes} gateway processes, ${maximum} calls for each`;
  printLine(coloured('green', `Recommended for ${what} (${bounds}):`));
  printLine(`\n  call:\n    maximum: ${setting?.value ?? maximum}\n\nor ${setting?.environment ?? ''}`);
  if (processes > availableParallelism())
    printLine(`Each process needs a core of its own; this machine has ${availableParallelism()}.`);
  if (!limitFound && (last === undefined || judge(last).void.length === 0))
    printLine('It bore all that was tried; its limit is higher (--calls).');
  if (!limitFound && last !== undefined && judge(last).void.length > 0)
    printLine('The callers reached their own limit first: the gateway may bear more.');
  printLine('The speech platform must allow as many requests at once: speech.slotsPerKey for each key.');
}
