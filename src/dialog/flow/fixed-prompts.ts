import type { Language } from '../../language/index.ts';
import { commandsOf } from './commands.ts';
import { textsOf } from './flow-texts.ts';
import type { Flow } from './schema.ts';
import { sentencesOf } from './sentences.ts';
import { inLanguage } from './text.ts';
import { builtInWords } from './words.ts';

export interface FixedPromptOptions {
  /** The flow's first language by default. */
  readonly language?: Language;
  /** How the call cuts what it says, so that what is prepared is what is asked for; at sentence marks by default. */
  readonly cutSentences?: (text: string) => Iterable<string>;
}

/**
 * The sentences a flow says the same way in every call, each once, in the order in which they are written: worth
 * preparing before the first call. Sentences with a placeholder are left out, their neighbours in the same prompt are not.
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
