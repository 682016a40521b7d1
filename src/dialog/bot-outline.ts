import type { Bot } from '../config/bots.ts';
import { flowOf } from './bot-dialog.ts';
import { type FlowGraph, flowGraph } from './flow/graph.ts';

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
