import type { Bot } from '../../config/bots.ts';
import { systemClock } from '../../kernel/clock.ts';
import { readAct } from '../../rehearsal/chat/caller-act.ts';
import type { ChatEvent } from '../../rehearsal/chat/chat-event.ts';
import { Conversation } from '../../rehearsal/chat/conversation.ts';
import { openChat } from '../../rehearsal/chat/open-chat.ts';
import { type ChatScript, readScript } from '../../rehearsal/chat/script.ts';
import { runSuites } from '../../rehearsal/evals/run-suites.ts';
import { optionsOf, suitesToRun } from '../eval-command.ts';
import { reportOf } from '../eval/report.ts';
import { readConfiguration, readGatewayConfiguration } from '../setup/configuration.ts';
import { UsageError } from '../shell/output.ts';
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadBots } from '../../config/bot-files.ts';
import { readEnvironment } from '../../config/env.ts';
import { errorsOf, problemText } from '../../config/problem.ts';
import { fromPackage } from '../setup/package-root.ts';

/** Longest real time of one answer. */
const DEADLINE_SECONDS = 60;
const EVAL_SEED = 1;

interface AskedChat {
  readonly bot?: string | undefined;
  readonly lines?: readonly string[] | undefined;
  readonly script?: string | undefined;
  readonly language?: string | undefined;
}

/**
 * Rehearses one call in text.
 * @param mayAsk whether the bot may ask servers and models outside
 * @throws UsageError, and errors of loading the bot
 */
export async function rehearseChat({ bot, lines = [], script, language }: AskedChat, mayAsk: boolean) {
  const { config, bots } = readConfiguration();
  const { settings, steps } = script === undefined ? scriptOf(lines) : read(script);
  const name = bot ?? settings.bot ?? (bots.length === 1 ? bots[0] : bots.find((each) => each.default))?.name;
  const tenant = bots.find((each) => each.name === name)?.tenant;
  // The call may be handed on to any of them.
  if (!mayAsk) refuseOutside(bots.filter((each) => each.tenant === tenant));
  const events: ChatEvent[] = [];
  const conversation = new Conversation((event) => void events.push(event));
  const given = { ...settings, ...(name === undefined ? {} : { bot: name }), ...(language === undefined ? {} : { language }) };
  await using call = await openChat({ settings: config.settings, bots }, given, DEADLINE_SECONDS * 1000, conversation.take);
  await conversation.open(call);
  await conversation.play({ settings, steps });
  return { events, slots: conversation.slots, ended: conversation.endReason, unmet: conversation.unmet };
}

function read(text: string): ChatScript {
  const script = readScript(text);
  if ('problems' in script)
    throw new UsageError(script.problems.map(({ line, message }) => `line ${line}: ${message}`).join('\n'));
  return script;
}

function scriptOf(lines: readonly string[]): ChatScript {
  const steps = lines.map((text, index) => {
    const act = readAct(text);
    if (typeof act === 'string') throw new UsageError(`line ${index + 1}: ${act}`);
    return { line: index + 1, text, act };
  });
  return { settings: {}, steps };
}

interface AskedEvals {
  readonly suites: readonly string[];
  readonly only?: readonly string[] | undefined;
  readonly runs?: number | undefined;
}

/** Runs suites in text, always with the same seed. @throws UsageError with the problems of the suites */
export async function runEvals({ suites: names, only, runs }: AskedEvals, mayAsk: boolean) {
  const configuration = readConfiguration();
  const choice = only === undefined ? {} : { only };
  const suites = await suitesToRun(names, choice, configuration);
  if (!mayAsk) refuseOutside(configuration.bots.filter(({ name }) => suites.some(({ bot }) => bot === name)));
  const flags = { ...choice, ...(runs === undefined ? {} : { runs }), jobs: 1, deadline: DEADLINE_SECONDS };
  const startedMs = systemClock.nowMs();
  const signal = new AbortController().signal;
  const results = await runSuites(suites, { ...optionsOf(flags, configuration, EVAL_SEED), signal, onCall: () => undefined });
  const tookMs = Math.round(systemClock.nowMs() - startedMs);
  return reportOf(results, { seed: EVAL_SEED, tookMs, depth: 'text', stopped: false, against: undefined });
}

/** A rehearsed bot really asks its server or model, and runs its module. @throws UsageError */
function refuseOutside(bots: readonly Bot[]): void {
  const asking = bots.filter(({ dialog, serverUrl }) => dialog.kind !== 'flow' || serverUrl !== undefined);
  if (asking.length === 0) return;
  const names = asking.map(({ name }) => name).join(', ');
  throw new UsageError(
    `a rehearsal would ask what these bots ask in a call: ${names}. Start offhook mcp with --allow-writes to allow that`,
  );
}

/** All bots of the project, and all problems of its configuration as texts with file and line. */
export async function botsAndProblems() {
  const { bots, problems, botProblems } = await readGatewayConfiguration();
  const shown = bots.map(
    ({ name, tenant, dialog: { kind }, language, languages, numbers, default: isDefault, file, version }) => {
      return { name, tenant, kind, language, languages, numbers, default: isDefault, file, version };
    },
  );
  return { bots: shown, problems: [...problems, ...botProblems].map(problemText) };
}

/** The row of an error code in the table of errors. @throws UsageError for an unknown code */
export function explainCode(code: string) {
  const table = readFileSync(fromPackage('docs/errors.md'), 'utf8');
  const row = table.split('\n').find((line) => line.startsWith(`| \`${code}\``));
  if (row === undefined) throw new UsageError(`there is no error ${code}`);
  const [, , retryable = '', happened = '', advice = ''] = row.split('|').map((cell) => cell.trim());
  return { code, retryable, 'what happened': happened, 'what to do': advice };
}

/**
 * Writes a bot's file, if it is sound; a bot that is there keeps the name of its file.
 * @throws UsageError with the problems
 */
export function saveBot(yaml: string) {
  const { config, bots } = readConfiguration();
  const { folder } = config.settings.bots;
  // A folder of its own beside the bots' files, so that the rename is on one disk.
  const draft = mkdtempSync(join(folder, '.draft-'));
  try {
    writeFileSync(join(draft, 'bot.yaml'), yaml);
    const { bots: read, problems } = loadBots(draft, readEnvironment());
    const [bot] = read;
    if (bot === undefined || errorsOf(problems).length > 0) throw new UsageError(problems.map(problemText).join('\n'));
    const path = bots.find(({ name }) => name === bot.name)?.file ?? join(folder, `${bot.name}.yaml`);
    const isNew = !existsSync(path);
    renameSync(join(draft, 'bot.yaml'), path);
    return { saved: path, new: isNew, problems: problems.map(problemText) };
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}
