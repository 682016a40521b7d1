import type { Command } from 'commander';
import { type ReplayReport, compareCalls, type TurnComparison } from '../rehearsal/replay/compare.ts';
import type { TurnMeasure } from '../rehearsal/replay/fixture.ts';
import type { Decision } from '../rehearsal/replay/decision.ts';
import { readFixture, type FixtureKey } from '../rehearsal/replay/fixture-file.ts';
import { replayCall, replayParts, type NamedSetting, settingChange } from '../rehearsal/replay/replay-call.ts';
import { systemClock } from '../kernel/clock.ts';
import { errorTextWithCause, OffhookError } from '../kernel/errors.ts';
import { createLogger } from '../observability/logger.ts';
import { openRecords } from '../hosts/records.ts';
import { requireConfiguration } from './setup/configuration.ts';
import { coloured, EXIT, printJson, printLine, tableText, UsageError } from './shell/output.ts';

interface ReplayFlags {
  readonly set?: readonly string[];
  readonly json?: boolean;
}

/** `offhook replay`: runs a kept call through today's code and says where it decides otherwise. */
export function addReplayCommand(program: Command): void {
  program
    .command('replay')
    .description('run a call that was kept as a fixture (call.keepFixtures) through the code of today')
    .argument('<fixture>', 'a .fixture.gz file, or a .fixture.sealed one of a call in the configured store')
    .option(
      '--set <name=value...>',
      'try other settings of the bot, for example endpointingMs=900 or interruption.clearAfterMs=280',
    )
    .option('--json', 'print one JSON document')
    .action(async (path: string, flags: ReplayFlags) => {
      const settings = namedSettings(flags.set ?? []);
      if (typeof settings === 'string') throw new UsageError(settings);
      try {
        const fixture = await readFixture(path, systemClock.wallMs(), storedKey);
        const parts = await replayParts();
        const startedMs = systemClock.nowMs();
        const replayed = await replayCall(fixture, parts, { bot: settingChange(settings) });
        const report = compareCalls(fixture, replayed);
        const tookMs = Math.round(systemClock.nowMs() - startedMs);
        if (flags.json === true) printJson({ ok: report.equal, tookMs, ...report });
        else printReport(report, tookMs);
        process.exit(report.equal ? EXIT.ok : EXIT.failed);
      } catch (error) {
        const code = error instanceof OffhookError ? error.code : undefined;
        if (flags.json === true) printJson({ ok: false, error: errorTextWithCause(error), code });
        throw error;
      }
    });
}

/** The key of a sealed fixture: in the configured store, which may be a running gateway's. */
export const storedKey: FixtureKey = async (tenantId, callId, make) => {
  const { config } = requireConfiguration();
  const logger = createLogger({ level: 'error', personal: false });
  const records = await openRecords({ config, clock: systemClock, logger, lasting: false });
  try {
    return await records.store.privacy.audioKey(tenantId, callId, make);
  } finally {
    await records.close();
  }
};

function printReport(report: ReplayReport, tookMs: number): void {
  const { decisions, divergence, turns, standIns, digitsMasked, truncatedAtMs, callMs } = report;
  printLine(`A call of ${seconds(callMs)}, run in ${seconds(tookMs)}: ${decisions.was} decisions then, ${decisions.is} now.`);
  if (truncatedAtMs !== undefined) printLine(`It was kept up to ${seconds(truncatedAtMs)}; what followed is not compared.`);
  if (digitsMasked) printLine('Long numbers were taken out of it: what judges digits may decide otherwise for that alone.');
  if (divergence === undefined) printLine(coloured('green', 'The code of today decides the same, at the same moments.'));
  else {
    const { atMs, turn, was, is, after } = divergence;
    printLine(
      coloured('red', `The first difference is at ${Math.round(atMs)} ms, in turn ${turn}, after ${after} equal decisions.`),
    );
    printLine(`  then  ${decisionText(was)}`);
    printLine(`  now   ${decisionText(is)}`);
  }
  printLine();
  printLine(tableText([HEADING, ...turns.map(rowOf)]));
  if (turns.some(({ standing }) => standing === 'counterfactual'))
    printLine('counterfactual: the call went another way before; compare each number by itself.');
  if (standIns.length > 0) printLine();
  for (const { atMs, what, said } of standIns) printLine(coloured('dim', `stood in at ${atMs} ms (${what}): ${said}`));
}

const HEADING = ['turn', 'kind', 'standing', 'endpointing', 'words', 'total (ms)', 'holds', 'clears', 'resumes', 'fillers'];

/** One line a turn: a number that has changed shows both. */
function rowOf({ turn, standing, was, is }: TurnComparison): readonly string[] {
  const both = (name: keyof TurnMeasure): string => {
    const [then, now] = [shown(was?.[name]), shown(is?.[name])];
    return then === now ? now : `${then} → ${now}`;
  };
  const measures = (['endpointing', 'asrFinal', 'total', 'holds', 'clears', 'resumes', 'fillers'] as const).map(both);
  return [String(turn), both('kind'), standing, ...measures];
}

function shown(value: string | number | null | undefined): string {
  if (value === null || value === undefined) return '–';
  return typeof value === 'number' ? String(Math.round(value)) : value;
}

function decisionText(decision: Decision | undefined): string {
  if (decision === undefined) return 'nothing more';
  return `${decision.type} at ${Math.round(decision.atMs)} ms${decision.detail === '' ? '' : `: ${decision.detail}`}`;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

/** Reads `name=value` pairs, values as JSON or else as text. @returns the settings, or what is wrong with the pairs */
export function namedSettings(pairs: readonly string[]): readonly NamedSetting[] | string {
  const settings: NamedSetting[] = [];
  for (const pair of pairs) {
    const at = pair.indexOf('=');
    if (at < 1) return `"${pair}" is no name=value`;
    settings.push({ name: pair.slice(0, at), value: valueOf(pair.slice(at + 1)) });
  }
  return settings;
}

function valueOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
