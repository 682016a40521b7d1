import { resolve } from 'node:path';
import { type Bot, phrasesOf } from '../config/bots.ts';
import type { Clock } from '../kernel/clock.ts';
import { readingBack } from './read-back-hook.ts';
import { fixedPrompts } from './flow/fixed-prompts.ts';
import { flowHooks } from './flow/hook.ts';
import type { Flow } from './flow/schema.ts';
import { FlowInvalidError, loadFlow, type LocatedFlow, parseFlow } from './flow/load.ts';
import { httpHooks } from './http-hook.ts';
import { loadCodeTools } from './llm/own-tools.ts';
import { llmHooks } from './llm/llm-hook.ts';
import { relayHooks } from './relay/relay-hook.ts';
import { loadModuleHooks } from './module-hook.ts';
import type { DialogHookFactory } from './port.ts';
import { languageOf } from '../language/index.ts';

/** A bot's dialog, loaded from its `dialog` setting. */
export interface BotDialog {
  readonly hooks: DialogHookFactory;
  /**
   * Sentences to synthesise before the first call: a flow's fixed prompts, or the greeting of the other kinds.
   * @param cutSentences must be the call's own cutter, so that the cached audio is found
   */
  fixedPrompts(cutSentences?: (text: string) => Iterable<string>): string[];
}

/**
 * Loads the dialog of a bot; a relative file name starts at the bot file's folder.
 * @param calendar decides what day it is to the dialog; deadlines and signatures always go by `clock`
 * @throws FlowInvalidError or DialogModuleError
 */
export async function loadBotDialog(bot: Bot, clock: Clock, calendar: Pick<Clock, 'wallMs'> = clock): Promise<BotDialog> {
  const { dialog } = bot;
  const ahead = (hooks: DialogHookFactory): DialogHookFactory => ({
    create: (call, saved) => hooks.create(call, saved),
    greetsAhead: bot.askEarly ? 'ringing' : 'answered',
  });
  switch (dialog.kind) {
    case 'flow': {
      const { flow } = await flowOf(bot, dialog);
      const language = languageOf(bot.language);
      const { serverUrl: url } = bot;
      return {
        hooks: {
          ...flowHooks(flow, clock, url === undefined ? undefined : { url, secret: bot.dialogSecret }, calendar),
          // Outside business hours it greets with other words.
          greetsAhead: hasRequests(flow) ? 'answered' : flow.hours === undefined ? 'always-same' : 'ringing',
          takesMessages: Object.values(flow.states).some(({ voicemail }) => voicemail !== undefined),
        },
        fixedPrompts: (cutSentences) => fixedPrompts(flow, { language, ...(cutSentences === undefined ? {} : { cutSentences }) }),
      };
    }
    case 'http': {
      const { url, timeoutMs } = dialog;
      return codeDecides(
        ahead(readingBack(httpHooks({ url, timeoutMs, secret: bot.dialogSecret }, clock), calendar, bot.timeZone)),
      );
    }
    case 'relay':
      return codeDecides(
        relayHooks({ ...dialog, secret: bot.dialogSecret, noInput: phrasesOf(bot).noInput }, clock),
        dialog.greeting,
      );
    case 'llm': {
      const codeTools = dialog.toolsFile === undefined ? [] : await loadCodeTools(resolve(bot.folder, dialog.toolsFile));
      return codeDecides(ahead(llmHooks({ ...dialog, codeTools, secret: bot.dialogSecret }, clock)), dialog.greeting);
    }
    case 'module':
      return codeDecides(ahead(readingBack(await loadModuleHooks(resolve(bot.folder, dialog.file)), calendar, bot.timeZone)));
  }
}

function hasRequests({ states }: Flow): boolean {
  return Object.values(states).some(({ request }) => request !== undefined);
}

/** Reads the flow of a bot, from its own file or from one beside it. @throws FlowInvalidError */
export async function flowOf(bot: Bot, dialog: Bot['dialog'] & { kind: 'flow' }): Promise<LocatedFlow> {
  const located = await readFlow(bot, dialog);
  if (!bot.askEarly || !hasRequests(located.flow)) return located;
  const message = 'a flow with requests cannot be asked early: what they did could not be undone';
  const where = bot.whereOf?.(['askEarly']) ?? `bot ${bot.name}`;
  throw new FlowInvalidError(`bot ${bot.name}`, [{ key: 'askEarly', where, message }]);
}

async function readFlow(bot: Bot, { file, flow }: Bot['dialog'] & { kind: 'flow' }): Promise<LocatedFlow> {
  const options = { language: languageOf(bot.language), timeZone: bot.timeZone, hasServer: bot.serverUrl !== undefined };
  if (file !== undefined) return loadFlow(resolve(bot.folder, file), options);
  const source = `bot ${bot.name}`;
  const whereOf = (keys: readonly string[]): string => bot.whereOf?.(['dialog', 'flow', ...keys]) ?? source;
  return { flow: parseFlow(flow, { ...options, source }, whereOf), whereOf };
}

/** A dialog whose words, except for its greeting, are not known before the call. */
function codeDecides(hooks: DialogHookFactory, greeting?: string): BotDialog {
  return { hooks, fixedPrompts: (cut = (text) => [text]) => (greeting === undefined ? [] : [...cut(greeting)]) };
}
