import { resolve } from 'node:path';
import { type Bot, phrasesOf } from '../config/bots.ts';
import type { Clock } from '../kernel/clock.ts';
import { recalling, type RecallCaller } from './caller-memory.ts';
import { readingBack } from './read-back-hook.ts';
import { inLanguage } from './flow/text.ts';
import { flowHooks } from './flow/hook.ts';
import type { Flow } from './flow/schema.ts';
import { FlowInvalidError, loadFlow, type LocatedFlow, parseFlow } from './flow/load.ts';
import { httpHooks } from './http-hook.ts';
import { loadToolBox } from './tools/own-tools.ts';
import { guardOf } from './guard/guard.ts';
import { llmHooks } from './llm/llm-hook.ts';
import { relayHooks } from './relay/relay-hook.ts';
import { loadModuleHooks } from './module-hook.ts';
import { realtimeHooks } from './realtime/realtime-hook.ts';
import { realtimeVendors } from './realtime/registry.ts';
import { openSocket } from './realtime/session-socket.ts';
import type { DialogHookFactory } from './port.ts';
import { languageOf, type Language } from '../language/index.ts';
import { type FlowGraph, flowGraph } from './flow/graph.ts';
import { commandsOf } from './flow/commands.ts';
import { phraseListsOf, textsOf } from './flow/flow-parts.ts';
import { contractSlotHints, isContractSlot } from './flow/slot-contract.ts';
import { builtInWords } from './flow/built-in-words.ts';

/** A bot's dialog, loaded from its `dialog` setting. */
export interface BotDialog {
  readonly hooks: DialogHookFactory;
  /**
   * Sentences to synthesise before the first call: a flow's fixed prompts, or the greeting of the other kinds.
   * @param cutSentences must be the call's own cutter, so that the cached audio is found
   */
  fixedPrompts(cutSentences?: (text: string) => Iterable<string>): string[];
  /** Keeps what its tools are connected to open between calls, until the returned function is called. */
  hold?(): () => Promise<void>;
}

/**
 * Loads the dialog of a bot; a relative file name starts at the bot file's folder.
 * @param calendar decides what day it is to the dialog; deadlines and signatures always go by `clock`
 * @param recall reads what is known of callers; nobody is known where absent
 * @throws FlowInvalidError, DialogModuleError, KnowledgeError or ToolsError
 */
export async function loadBotDialog(
  bot: Bot,
  clock: Clock,
  calendar: Pick<Clock, 'wallMs'> = clock,
  recall?: RecallCaller,
): Promise<BotDialog> {
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
      const { dialogSecret: secret, toolSecrets: secrets = {}, folder } = bot;
      const { baseUrl, timeoutMs } = dialog;
      const toolBox = await loadToolBox(dialog, { clock, folder, secret, secrets, baseUrl, timeoutMs });
      const hooks = llmHooks(
        { ...dialog, toolBox, guard: guardOf(dialog), recall: recalling(bot, dialog.memory, recall, clock), secret },
        clock,
      );
      return { ...codeDecides(ahead(hooks), dialog.greeting), hold: () => toolBox.hold() };
    }
    case 'realtime': {
      const { dialogSecret: secret, toolSecrets: secrets = {}, folder } = bot;
      const vendor = realtimeVendors[dialog.vendor];
      const { url, model = vendor.defaultModel, voice, timeoutMs } = dialog;
      const toolBox = await loadToolBox(dialog, { clock, folder, secret, secrets, timeoutMs });
      const goodbye = (language: string): string => phrasesOf(bot, language).goodbye;
      const hooks = realtimeHooks({ ...dialog, vendor, url, model, voice, toolBox, secret, goodbye }, clock, openSocket);
      return { ...codeDecides(hooks, dialog.greeting), hold: () => toolBox.hold() };
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

/** What is known of a bot's dialog without a call. */
export interface BotOutline {
  /** Languages with the bot's own words, its default first. */
  readonly languages: readonly string[];
  /** Its first words, where known before a call. */
  readonly greeting: string | undefined;
  /** The graph of a flow. */
  readonly graph: FlowGraph | undefined;
}

/** Reads a bot's dialog from its files; an invalid flow has no graph. Never rejects. */
export async function botOutline(bot: Bot): Promise<BotOutline> {
  const { dialog } = bot;
  const languages = [...new Set([bot.language, ...Object.keys(bot.phrases)])];
  const greeting = 'greeting' in dialog ? dialog.greeting : undefined;
  if (dialog.kind !== 'flow') return { languages, greeting, graph: undefined };
  try {
    const { flow } = await flowOf(bot, dialog);
    const graph = flowGraph(flow, bot.language);
    const first = graph.steps.find(({ id }) => id === graph.start);
    return { languages: [...new Set([bot.language, ...flow.languages])], greeting: first?.prompts.join(' '), graph };
  } catch {
    // Reported with the problems of the bot's files.
    return { languages, greeting, graph: undefined };
  }
}

/** Phrases that callers may answer, by language code. */
type Vocabulary = Readonly<Record<string, readonly string[]>>;

/**
 * What callers of these bots can answer: the phrases, choices, synonyms, commands, hints and contract words of flows, the stop phrases,
 * and the hints that any bot's file declares. Those written for a bot come before the words that every flow has.
 * @throws FlowInvalidError
 */
export async function vocabularyOf(bots: readonly Bot[]): Promise<Vocabulary> {
  const own = new Map<string, Set<string>>();
  const common = new Map<string, Set<string>>();
  const add = (to: Map<string, Set<string>>, language: string, phrases: readonly string[]): void => {
    const set = to.get(language) ?? new Set();
    for (const phrase of phrases) set.add(phrase);
    to.set(language, set);
  };
  for (const bot of bots) {
    const code = bot.language.split('-')[0] ?? bot.language;
    add(own, code, [...bot.hints, ...bot.interruption.stopPhrases]);
    if (bot.dialog.kind !== 'flow') continue;
    const { flow } = await flowOf(bot, bot.dialog);
    for (const language of flow.languages) {
      add(own, language, writtenPhrases(flow, language));
      add(common, language, commonWords(flow, language));
    }
  }
  for (const [language, phrases] of common) add(own, language, [...phrases]);
  return Object.fromEntries([...own].map(([language, phrases]) => [language, [...phrases]]));
}

function writtenPhrases(flow: Flow, language: Flow['languages'][number]): string[] {
  return [
    ...phraseListsOf(flow).flatMap(({ phrases }) => inLanguage<readonly string[]>(phrases, language) ?? []),
    ...Object.values(flow.states).flatMap(({ ask, confirm }) => (ask ?? confirm)?.hints ?? []),
  ];
}

function commonWords(flow: Flow, language: Flow['languages'][number]): string[] {
  const asked = Object.values(flow.states).flatMap(({ ask }) => (ask === undefined ? [] : [ask.slot, ...ask.also]));
  const slots = [...new Set(asked)].flatMap((name) => {
    const slot = Object.hasOwn(flow.slots, name) ? flow.slots[name] : undefined;
    return slot === undefined ? [] : [slot];
  });
  return [
    // Days, times, digits and yes or no are in every vocabulary.
    ...slots.flatMap((slot) => (isContractSlot(slot) ? contractSlotHints(slot, language) : [])),
    ...commandsOf(flow, language).flatMap(({ phrases }) => phrases),
  ];
}

interface FixedPromptOptions {
  /** The flow's first language by default. */
  readonly language?: Language;
  /** The call's way of cutting text, so that the cached audio is found; at sentence marks by default. */
  readonly cutSentences?: (text: string) => Iterable<string>;
}

/**
 * The sentences that a flow speaks the same way in every call, each once, in written order, to be synthesised before the first
 * call. Sentences with a placeholder are left out; other sentences of the same prompt stay.
 */
export function fixedPrompts(flow: Flow, options: FixedPromptOptions = {}): string[] {
  const language = options.language ?? flow.languages[0] ?? 'en';
  const cutSentences = options.cutSentences ?? sentencesOf;
  const words = builtInWords(language);
  const builtIn = [...words.notUnderstood, ...words.noInput, words.goodbye];
  const commands = commandsOf(flow, language);
  if (commands.some(({ name, say }) => name === 'help' && say === undefined)) builtIn.push(words.help);
  if (Object.values(flow.states).some(({ request }) => request !== undefined && request.waiting === undefined))
    builtIn.push(words.moment);
  if (commands.some(({ name, say }) => name === 'stop' && say === undefined)) builtIn.push(words.stop);
  const own = textsOf(flow)
    .filter(({ role }) => role === 'prompt')
    .map(({ text }) => inLanguage<string>(text, language) ?? '');
  const sentences = [...own, ...builtIn].flatMap((text) => [...cutSentences(text.replaceAll(/\s+/g, ' ').trim())]);
  const fixed = sentences.map((sentence) => sentence.trim()).filter((sentence) => sentence !== '' && !sentence.includes('{{'));
  return [...new Set(fixed)];
}

/** Cuts a prompt at `.`, `!`, `?`, `।` followed by a space; the mark stays with its sentence. */
export function sentencesOf(prompt: string): string[] {
  return prompt
    .replaceAll(/\s+/g, ' ')
    .split(/(?<=[.!?।])\s+/u)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== '');
}
