import type { OpenAI } from 'openai';
import { z } from 'zod';
import { keysToPress } from '../../config/bots.ts';
import { callBackTime } from '../action-schema.ts';
import type { DialogAction } from '../port.ts';

export type Tool = OpenAI.Chat.ChatCompletionFunctionTool;

/** Tools that control the call. A bot's own tools cannot have their names. */
export const CALL_TOOLS: readonly Tool[] = [
  tool('hang_up', 'Ends the call after what you say in this answer. Say goodbye first.', {
    reason: { type: 'string', description: 'Why, in a few words' },
  }),
  tool('switch_language', 'Goes on in another language.', {
    language: { type: 'string', description: 'ISO 639 code, for example hi' },
  }),
  tool('press_keys', 'Presses telephone keys at the other end after what you say in this answer, as a menu there asks for.', {
    keys: { type: 'string', description: '0-9, * and #; w waits half a second' },
  }),
  tool(
    'call_back',
    'Notes that the person wants to be called at another time. Say the time back in this answer, and end the call.',
    {
      at: {
        type: 'string',
        description: "Date and time, such as 2026-03-05T17:00, in the person's own time; empty where they named none",
      },
    },
  ),
  tool('take_note', 'Keeps a note in the record of the call.', { text: { type: 'string' } }),
  tool('remember', 'Keeps a value in the record of the call.', { name: { type: 'string' }, value: { type: 'string' } }),
];

function tool(name: string, description: string, properties: Record<string, unknown>): Tool {
  const parameters = { type: 'object', properties, required: Object.keys(properties) };
  return { type: 'function', function: { name, description, parameters } };
}

/** Whether this is the name of a built-in tool. */
export function isCallTool(name: string): boolean {
  return name === 'transfer_call' || CALL_TOOLS.some((tool) => tool.function.name === name);
}

const hangUp = z.object({ reason: z.string().min(1).max(200).catch('the bot ended the call') });
const switchLanguage = z.object({ language: z.string().min(2).max(35) });
const pressKeys = z.object({ keys: keysToPress });
const callBack = z.object({ at: z.union([z.literal(''), callBackTime]) });
const takeNote = z.object({ text: z.string().min(1).max(2000) });
const remember = z.object({ name: z.string().min(1).max(100), value: z.string().max(2000) });

/** The tool that transfers a caller to one of these; none for an empty list. */
export function transferTools(names: readonly string[]): Tool[] {
  if (names.length === 0) return [];
  const to = { type: 'string', enum: names };
  return [tool('transfer_call', 'Connects the caller to a person or desk after what you say in this answer.', { to })];
}

/**
 * The action of a built-in tool.
 * @param transfers targets by name: a model cannot give numbers of its own
 * @returns undefined when the tool is not built in
 * @throws ZodError for invalid arguments
 */
export function callAction(name: string, args: unknown, transfers: Readonly<Record<string, string>>): DialogAction | undefined {
  switch (name) {
    case 'hang_up':
      return { type: 'hangup', reason: hangUp.parse(args).reason };
    case 'switch_language':
      return { type: 'language', language: switchLanguage.parse(args).language };
    case 'press_keys':
      return { type: 'digits', digits: pressKeys.parse(args).keys };
    case 'call_back': {
      const { at } = callBack.parse(args);
      return at === '' ? { type: 'call-back' } : { type: 'call-back', at };
    }
    case 'take_note':
      return { type: 'note', text: takeNote.parse(args).text };
    case 'remember': {
      const { name: key, value } = remember.parse(args);
      return { type: 'set', variables: { [key]: value } };
    }
    case 'transfer_call': {
      const { to } = z.object({ to: z.enum(Object.keys(transfers)) }).parse(args);
      return { type: 'transfer', to: transfers[to] ?? '' };
    }
    default:
      return undefined;
  }
}
