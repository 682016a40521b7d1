import type { Language } from '../../language/index.ts';
import { commandsOf } from './commands.ts';
import { textsOf } from './flow-parts.ts';
import type { Flow } from './schema.ts';
import { inLanguage } from './text.ts';
import { builtInWords } from './built-in-words.ts';

export interface FixedPromptOptions {
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
