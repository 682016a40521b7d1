import type { Bot } from '../config/bots.ts';
import { flowOf } from './bot-dialog.ts';
import { commandsOf } from './flow/commands.ts';
import { phrasesOf } from './flow/flow-parts.ts';
import { contractSlotHints, isContractSlot } from './flow/slot-contract.ts';
import type { Flow } from './flow/schema.ts';
import { inLanguage } from './flow/text.ts';

/** Phrases that callers may answer, by language code. */
export type Vocabulary = Readonly<Record<string, readonly string[]>>;

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
    ...phrasesOf(flow).flatMap(({ phrases }) => inLanguage<readonly string[]>(phrases, language) ?? []),
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
