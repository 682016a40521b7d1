import { type Language, findPhrase, type Found, isMadeOf, phraseTable, tokenise } from '../../language/index.ts';
import type { Flow, Prompt } from './schema.ts';
import { inLanguage } from './text.ts';
import { BUILT_IN_COMMANDS, type BuiltInCommand, builtInWords } from './built-in-words.ts';

/** Something the caller may say or press at any question. */
export interface Command {
  readonly name: string;
  readonly phrases: readonly string[];
  /** Phrases that count only when nothing else is said. */
  readonly alone: readonly string[];
  readonly key: string | undefined;
  readonly say: readonly Prompt[] | undefined;
  readonly go: string | undefined;
}

export function isBuiltIn(name: string): name is BuiltInCommand {
  return (BUILT_IN_COMMANDS as readonly string[]).includes(name);
}

/** A flow's commands in a language: its own, and the built-in ones that it does not switch off. */
export function commandsOf(flow: Flow, language: Language): Command[] {
  const names = new Set([...BUILT_IN_COMMANDS, ...Object.keys(flow.commands)]);
  return [...names].flatMap((name) => {
    const own = Object.hasOwn(flow.commands, name) ? flow.commands[name] : undefined;
    // The operator command needs a flow that says where it goes.
    if (own === false || (own === undefined && name === 'operator')) return [];
    const phrases = own?.phrases === undefined ? undefined : inLanguage<readonly string[]>(own.phrases, language);
    const words = builtInWords(language);
    const builtIn = isBuiltIn(name) ? words.commands[name] : [];
    const alone = phrases === undefined && isBuiltIn(name) ? (words.alone[name] ?? []) : [];
    return [{ name, phrases: phrases ?? builtIn, alone, key: own?.key, say: own?.say, go: own?.go }];
  });
}

/** The command whose phrase covers most words of an utterance; the first on a tie. */
export function findCommand(flow: Flow, language: Language, tokens: readonly string[]): Found<Command> | undefined {
  const commands = commandsOf(flow, language);
  const alone = commands.find((command) => isMadeOf(tokens, phraseTable([[true, command.alone]])));
  if (alone !== undefined) return { value: alone, from: 0, to: tokens.length };
  let best: Found<Command> | undefined;
  for (const command of commands) {
    for (const phrase of command.phrases) {
      const words = tokenise(phrase);
      const from = findPhrase(tokens, words);
      if (from < 0 || words.length <= (best === undefined ? 0 : best.to - best.from)) continue;
      best = { value: command, from, to: from + words.length };
    }
  }
  return best;
}

export function commandOfKeys(flow: Flow, language: Language, digits: string): Command | undefined {
  return commandsOf(flow, language).find((command) => command.key === digits);
}
