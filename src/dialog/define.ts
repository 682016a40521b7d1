import type { DialogAction, DialogTurn } from './port.ts';

/**
 * A bot written as a function: called once a turn, what it yields is spoken as it comes. A text alone is said.
 * `signal` aborts when the answer is no longer wanted.
 */
export type BotFunction = (turn: DialogTurn, signal: AbortSignal) => AsyncGenerator<string | DialogAction, void, undefined>;

/**
 * Types a `module` bot; it changes nothing.
 *
 *     export default defineBot(async function* (turn) {
 *       if (turn.input.kind === 'start') yield 'Hello, who is calling?';
 *       else yield { type: 'hangup', reason: 'done' };
 *     });
 */
export function defineBot(respond: BotFunction): BotFunction {
  return respond;
}
