import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { Command } from 'commander';
import { isSeq, parseDocument } from 'yaml';
import { systemClock } from '../../kernel/clock.ts';
import { recordedCall } from '../../rehearsal/evals/recorded-caller.ts';
import type { CallFixture } from '../../rehearsal/replay/fixture.ts';
import { readFixture, SEALED_SUFFIX, writeFixture } from '../../rehearsal/replay/fixture-file.ts';
import { FIXTURES_FOLDER } from '../../rehearsal/replay/fixture-keeping.ts';
import { storedKey } from '../replay-command.ts';
import { requireConfiguration } from '../setup/configuration.ts';
import { countOption, EXIT, printLine, printNote, UsageError } from '../shell/output.ts';

interface KeepFlags {
  readonly name?: string;
  readonly suite?: string;
  readonly days?: number;
}

const DAY_MS = 86_400_000;
/** Folder of kept calls, beside the suites. */
const CALLS_FOLDER = 'calls';

/** `offhook eval keep`: makes a scenario of a call that was kept as a fixture. */
export function addKeepCommand(command: Command): void {
  command
    .command('keep')
    .description(
      'make a scenario of a real call that was kept (call.keepFixtures): the same caller, the same sound, the same times',
    )
    .argument('<call>', "the call's id, or a .fixture.gz or .fixture.sealed file")
    .option('--name <name>', 'name of the scenario; the date of the call when absent')
    .option('--suite <file>', "the suite; that of the call's bot when absent")
    .option('--days <number>', 'how long the copy may be used from now on, in place of the rest of its own life', countOption)
    .action(async (call: string, flags: KeepFlags) => {
      await keep(call, flags);
      process.exit(EXIT.ok);
    });
}

async function keep(call: string, { name, suite, days }: KeepFlags): Promise<void> {
  const { config } = requireConfiguration();
  const fixture = await readFixture(fixturePath(call, config.settings.dataDir), systemClock.wallMs(), storedKey);
  // A call without sound is no scenario.
  recordedCall(fixture);
  const path = suite ?? join(dirname(config.settings.bots.folder), 'evals', `${fixture.bot.name}.yaml`);
  const at = new Date(fixture.recordedAtMs).toISOString();
  const scenario = name ?? `call of ${at.slice(0, 16).replace('T', ' ')}`;
  const expiresAtMs = days === undefined ? fixture.expiresAtMs : systemClock.wallMs() + days * DAY_MS;
  const folder = join(dirname(path), CALLS_FOLDER);
  mkdirSync(folder, { recursive: true });
  const file = await writeFixture(folder, fileNameOf(scenario), { ...fixture, expiresAtMs });
  addScenario(path, fixture, { name: scenario, at, recorded: relative(dirname(path), file) });
  printLine(`${path} has the scenario ${JSON.stringify(scenario)}. Correct what it expects: now it expects how the call ended.`);
  const until = expiresAtMs === null ? '' : ` It cannot be used after ${new Date(expiresAtMs).toISOString().slice(0, 10)}.`;
  printNote(`${file} has the caller's voice and words, unsealed, and an erasure of the call does not reach it.${until}`);
}

/** @throws UsageError where there is no such file, and no kept call of this id */
function fixturePath(call: string, dataDir: string): string {
  const own = [`${call}.fixture.gz`, `${call}${SEALED_SUFFIX}`].map((file) => join(dataDir, FIXTURES_FOLDER, file));
  const found = [call, ...own].find((path) => existsSync(path));
  if (found === undefined)
    throw new UsageError(
      `"${call}" is no file, and no call of this id was kept: call.keepFixtures names the bots whose calls are`,
    );
  return found;
}

function fileNameOf(scenario: string): string {
  return (
    scenario
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}]+/gu, '-')
      .replaceAll(/^-|-$/gu, '') || 'call'
  );
}

/** Adds the scenario to the suite, whose comments stay. @throws UsageError for a suite without a list of scenarios */
function addScenario(
  path: string,
  { bot, direction, decisions }: CallFixture,
  { name, at, recorded }: { readonly name: string; readonly at: string; readonly recorded: string },
): void {
  const document = parseDocument(existsSync(path) ? readFileSync(path, 'utf8') : `bot: ${bot.name}\nscenarios: []\n`);
  const scenarios = document.get('scenarios');
  if (document.errors.length > 0 || !isSeq(scenarios)) throw new UsageError(`${path} has no list of scenarios`);
  scenarios.flow = false;
  const end = decisions.findLast(({ type }) => type === 'end')?.detail ?? '';
  scenarios.add(
    document.createNode({
      name,
      at,
      ...(direction === 'outbound' ? { call: { outbound: true } } : {}),
      caller: { recorded },
      expect: end === '' ? { turns: { least: 0 } } : { end },
    }),
  );
  writeFileSync(path, document.toString({ lineWidth: 0 }));
}
