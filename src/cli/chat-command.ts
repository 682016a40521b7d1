import { type Command, InvalidArgumentError } from 'commander';
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { stayAwake } from '../kernel/clock.ts';
import { errorTextWithCause } from '../kernel/errors.ts';
import { ACTS_HELP, readAct } from '../rehearsal/chat/caller-act.ts';
import { Conversation, isOfFailure, type UnmetExpectation } from '../rehearsal/chat/conversation.ts';
import { type Expectation, readExpectation } from '../rehearsal/chat/expectation.ts';
import { type ChatGateway, ChatUsageError, openChat } from '../rehearsal/chat/open-chat.ts';
import { type ChatScript, readScript, type ScriptSettings } from '../rehearsal/chat/script.ts';
import { ChatView } from './chat/chat-view.ts';
import { type Configuration, requireConfiguration } from './setup/configuration.ts';
import { readText } from './shell/files.ts';
import { coloured, endWithReader, EXIT, printJson, printLine, printNote, UsageError } from './shell/output.ts';

interface ChatFlags extends Omit<ScriptSettings, 'bot'> {
  readonly script?: readonly string[];
  readonly say?: readonly string[];
  readonly expect?: readonly string[];
  readonly deadline: number;
  readonly json?: boolean;
}

/** A script that was read, and where it stands. */
interface NamedScript extends ChatScript {
  readonly path: string;
}

/** What every conversation of this run has in common. */
interface ChatRun {
  readonly configuration: Configuration;
  readonly settings: ScriptSettings;
  readonly deadlineMs: number;
  readonly json: boolean;
}

const AFTER_HELP = `
The caller's lines: ${ACTS_HELP.join('\n                    ')}

Expectations:       text, "= exact text", "! text that is not said", /regex/, [slot name = value], [end reason],
                    [transfer number], [keys 123], [note text] and more: docs/chat.md`;

/** `offhook chat`: talks to a bot in text, by hand, from standard input, or by scripts that expect answers. */
export function addChatCommand(program: Command): void {
  program
    .command('chat')
    .description('talk to a bot in text: no phone, no gateway, no speech platform; runs conversation scripts in CI')
    .argument('[bot]', 'name of the bot; the default bot when absent')
    .option('--script <file...>', 'play these scripts and check what they expect')
    .option('--say <text...>', 'what the caller says; without it and --script, standard input or the keyboard')
    .option('--expect <expectation...>', 'check this when the conversation is over, against all of it')
    .option('--at <time>', "date and time of the call, such as 2026-03-05T10:30 in the bot's time zone")
    .option('--from <number>', "the caller's number; of a call that Offhook places, its own")
    .option('--to <number>', 'the dialled number')
    .option('--language <code>', "language that the call begins in, in place of the bot's")
    .option('--outbound', 'a call that Offhook places: the person says hello first')
    .option('--parameter <name=value...>', 'variables that such a call begins with; implies --outbound')
    .option('--deadline <seconds>', 'longest wait for one answer of the bot', readSeconds, 60)
    .option('--json', 'print one JSON object a line')
    .addHelpText('after', AFTER_HELP)
    .action(async (bot: string | undefined, flags: ChatFlags) => {
      endWithReader();
      process.exit(await stayAwake(chat(bot, flags)));
    });
}

function readSeconds(text: string): number {
  const seconds = Number(text);
  if (!(seconds > 0 && seconds <= 3600)) throw new InvalidArgumentError('a number of seconds up to 3600 is expected.');
  return seconds;
}

/** @returns the exit code */
async function chat(bot: string | undefined, flags: ChatFlags): Promise<number> {
  try {
    if (flags.script !== undefined && (flags.say !== undefined || flags.expect !== undefined))
      throw new ChatUsageError('--script has its own lines and expectations: give it without --say and --expect');
    const expectations = (flags.expect ?? []).map(expectationOf);
    const scripts = (flags.script ?? []).map(scriptOf);
    const run: ChatRun = {
      configuration: requireConfiguration(),
      settings: settingsOf(bot, flags),
      deadlineMs: flags.deadline * 1000,
      json: flags.json === true,
    };
    return await (flags.script === undefined ? talk(run, flags.say, expectations) : playAll(run, scripts));
  } catch (error) {
    if (flags.json === true) printJson({ type: 'error', message: errorTextWithCause(error) });
    throw error instanceof ChatUsageError ? new UsageError(error.message, { cause: error.cause }) : error;
  }
}

function gatewayOf({ configuration: { config, bots } }: ChatRun): ChatGateway {
  return { settings: config.settings, bots };
}

function settingsOf(bot: string | undefined, { from, to, at, language, outbound, parameter }: ChatFlags): ScriptSettings {
  const given = Object.entries({ bot, from, to, at, language, outbound, parameter }).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given);
}

/** @throws ChatUsageError */
function expectationOf(written: string): Expectation {
  const expectation = readExpectation(written);
  if (typeof expectation === 'string') throw new ChatUsageError(`--expect ${JSON.stringify(written)}: ${expectation}`);
  return expectation;
}

/** @throws UsageError, ChatUsageError */
function scriptOf(path: string): NamedScript {
  const script = readScript(readText(path));
  if ('steps' in script) return { path, ...script };
  throw new ChatUsageError(script.problems.map(({ line, message }) => `${path}:${line}: ${message}`).join('\n'));
}

/** One conversation by hand, from standard input, or with these lines. */
async function talk(run: ChatRun, say: readonly string[] | undefined, expectations: readonly Expectation[]): Promise<number> {
  const isTyped = say === undefined && process.stdin.isTTY && !run.json;
  const view = new ChatView(printLine, isTyped);
  const conversation = new Conversation((event) => (run.json ? printJson(event) : view.show(event)));
  await using call = await openChat(gatewayOf(run), run.settings, run.deadlineMs, conversation.take);
  if (isTyped) printLine(coloured('dim', 'Type what the caller says. /help shows what else can be typed.'));
  await conversation.open(call);
  const problems = await (isTyped ? typeTo(conversation) : readTo(conversation, say));
  await conversation.act({ kind: 'hang-up' });
  for (const expectation of expectations) conversation.expect(expectation, undefined, true);
  const expectsFailure = expectations.some(isOfFailure);
  const { unmet, failures, endReason } = conversation;
  const ok = unmet.length === 0 && problems.length === 0 && (failures.length === 0 || expectsFailure);
  if (run.json) printJson({ type: 'result', ok, end: endReason, unmet, problems });
  else for (const each of unmet) printUnmet(each);
  for (const problem of problems) printNote(`offhook chat: ${problem}`);
  return ok ? EXIT.ok : EXIT.failed;
}

/** Somebody types; a line that cannot be done is told, and typed again. */
async function typeTo(conversation: Conversation): Promise<readonly string[]> {
  const lines = typedLines(true);
  const ask = (): void => (conversation.isOver ? lines.close() : lines.ask(conversation.expectsSecret));
  ask();
  for await (const line of lines) {
    const act = readAct(line, conversation.expectsSecret);
    if (typeof act === 'string') printLine(act);
    else if (act.kind === 'show') for (const each of shownText(act.what, conversation)) printLine(each);
    else await conversation.act(act);
    if (typeof act !== 'string' && act.kind === 'hang-up') break;
    ask();
  }
  lines.close();
  return [];
}

function shownText(what: 'help' | 'slots', { slots }: Conversation): readonly string[] {
  if (what === 'help') return ACTS_HELP;
  const filled = Object.entries(slots).map(([name, value]) => `        ${name} = ${value}`);
  return filled.length === 0 ? ['        no slot is filled'] : filled;
}

/** Lines from standard input, or from the command line. @returns what could not be done */
async function readTo(conversation: Conversation, say: readonly string[] | undefined): Promise<readonly string[]> {
  const problems: string[] = [];
  let number = 0;
  for await (const line of say ?? typedLines(false)) {
    number += 1;
    if (conversation.isOver) {
      if (line.trim() === '' || line.trim() === '/quit') continue;
      problems.push(`the call had ended (${conversation.endReason}) before line ${number}`);
      break;
    }
    const act = readAct(line, conversation.expectsSecret);
    if (typeof act === 'string') problems.push(`line ${number}: ${act}`);
    else if (act.kind === 'show') for (const each of shownText(act.what, conversation)) printNote(each);
    else await conversation.act(act);
    if (typeof act !== 'string' && act.kind === 'hang-up') break;
  }
  return problems;
}

/** @returns the exit code */
async function playAll(run: ChatRun, scripts: readonly NamedScript[]): Promise<number> {
  let failed = 0;
  for (const script of scripts) if (!(await play(run, script, scripts.length === 1))) failed += 1;
  const passed = scripts.length - failed;
  if (run.json) printJson({ type: 'summary', ok: failed === 0, scripts: scripts.length, passed, failed });
  else if (scripts.length > 1) printLine(`${scripts.length} scripts: ${passed} passed, ${failed} failed`);
  return failed === 0 ? EXIT.ok : EXIT.failed;
}

/** Plays one script. @param shown whether the conversation is printed although all went well */
async function play(run: ChatRun, script: NamedScript, shown: boolean): Promise<boolean> {
  const { path } = script;
  const lines: string[] = [];
  const view = new ChatView((line) => void lines.push(line), false);
  const conversation = new Conversation((event) => (run.json ? printJson({ script: path, ...event }) : view.show(event)));
  await using call = await openChat(gatewayOf(run), { ...script.settings, ...run.settings }, run.deadlineMs, conversation.take);
  await conversation.open(call);
  await conversation.play(script);
  const { unmet } = conversation;
  // What the bot does when the caller hangs up belongs to the conversation, and is no part of what the script expects.
  await conversation.act({ kind: 'hang-up' });
  const expectations = script.steps.filter((step) => 'expectation' in step).length;
  const ok = unmet.length === 0;
  if (run.json) printJson({ type: 'result', script: path, ok, end: conversation.endReason, expectations, unmet });
  else {
    if (shown || !ok) for (const line of lines) printLine(line);
    const count = `${expectations} ${expectations === 1 ? 'expectation' : 'expectations'}`;
    printLine(ok ? `${coloured('green', 'ok     ')} ${path} (${count})` : `${coloured('red', 'FAILED ')} ${path}`);
    for (const each of unmet) printUnmet(each);
  }
  return ok;
}

function printUnmet({ line, expected, got }: UnmetExpectation): void {
  printLine(`  ${line === undefined ? '' : `line ${line}: `}expected ${expected}`);
  printLine(`  ${line === undefined ? '' : ' '.repeat(`line ${line}: `.length)}got      ${got}`);
}

/** Lines that somebody types, or that come from a file or a pipe. */
export interface TypedLines extends AsyncIterable<string> {
  /** Asks for the next line. @param hidden what is typed is not shown, and not kept for the arrow keys */
  ask(hidden: boolean): void;
  close(): void;
}

/** What readline shows of the keys that are typed. */
class Screen extends Writable {
  hidden = false;

  get columns(): number {
    return process.stdout.columns;
  }

  override _write(chunk: Uint8Array, _encoding: string, done: () => void): void {
    if (!this.hidden) process.stdout.write(chunk);
    done();
  }
}

/** Reads standard input; at a terminal with a prompt and editing. */
export function typedLines(isTerminal: boolean): TypedLines {
  if (!isTerminal) {
    const lines = createInterface({ input: process.stdin });
    return { ask: () => undefined, close: () => lines.close(), [Symbol.asyncIterator]: () => lines[Symbol.asyncIterator]() };
  }
  const screen = new Screen();
  const lines = createInterface({ input: process.stdin, output: screen, terminal: true });
  let isAsked = false;
  lines.on('SIGINT', () => lines.close());
  lines.on('close', () => {
    if (isAsked) process.stdout.write('\n');
  });
  lines.on('history', (history: string[]) => {
    if (screen.hidden) history.shift();
  });
  lines.on('line', () => {
    isAsked = false;
    if (screen.hidden) process.stdout.write('\n');
  });
  return {
    ask: (hidden) => {
      screen.hidden = false;
      lines.setPrompt(hidden ? 'keys (hidden) > ' : 'you     > ');
      lines.prompt();
      isAsked = true;
      screen.hidden = hidden;
    },
    close: () => {
      screen.hidden = false;
      lines.close();
    },
    [Symbol.asyncIterator]: () => lines[Symbol.asyncIterator](),
  };
}
