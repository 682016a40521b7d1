import type { OpenAI } from 'openai';
import type { DialogTurn, TurnInput } from '../port.ts';

export type Message = OpenAI.Chat.ChatCompletionMessageParam;

/** A model writes for readers unless it is told where it is. */
const ON_THE_PHONE =
  'You are speaking on a phone call. Answer in one to three short spoken sentences, without lists, markup or emoji. ' +
  'What the caller says reaches you through a speech recogniser and may hold mistakes. Text in parentheses tells what happened and was not said.';
const MOST_HISTORY = 40;

/** The model's view of a turn: the history as it was heard, so that it never believes to have said what nobody heard. */
export function messagesFor(instructions: string, turn: DialogTurn, toolNotes: readonly string[]): Message[] {
  const { from, language } = turn.call;
  const facts = `The caller's number is ${from}. Speak the language "${language}".`;
  const known = toolNotes.length === 0 ? '' : `\n\nResults of tools you called earlier:\n${toolNotes.join('\n')}`;
  const history = turn.history.slice(-MOST_HISTORY).map(({ role, text }): Message => {
    return role === 'bot' ? { role: 'assistant', content: text } : { role: 'user', content: text };
  });
  return [
    { role: 'system', content: `${ON_THE_PHONE}\n${facts}\n\n${instructions}${known}` },
    ...history,
    { role: 'user', content: inputText(turn.input) },
  ];
}

function inputText(input: TurnInput): string {
  switch (input.kind) {
    case 'start':
      return '(The call was just answered. Greet the caller.)';
    case 'spoken':
      return input.text === '' ? '(The caller said something that was not understood.)' : input.text;
    case 'keyed':
      return `(The caller pressed these keys: ${input.digits})`;
    case 'no-input':
      return `(The caller has said nothing, for the ${input.attempt}. time.)`;
  }
}
