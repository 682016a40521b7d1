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
import { readConfiguration } from '../setup/configuration.ts';
import { UsageError } from '../shell/output.ts';

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
