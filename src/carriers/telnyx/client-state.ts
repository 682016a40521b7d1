import { z } from 'zod';
import { parseJson } from '../../kernel/json.ts';

/**
 * What we have a call's webhooks bring along (`client_state`): which dial it came of, or what is to be done next with a call that is ended, so
 * that no process has to remember it.
 */
const clientState = z.union([
  z.object({ dial: z.string().max(128) }),
  z.object({ next: z.literal('say'), text: z.string().max(3000), language: z.string().max(40) }),
  z.object({ next: z.literal('hang-up') }),
  /** Of a call that has a stream: our id of it. Another stream follows one that breaks. */
  z.object({ next: z.literal('stream'), call: z.string().max(128) }),
  /** Of a call that is over here, or passed on: its stream is to end. */
  z.object({ next: z.literal('nothing') }),
  /** Of the leg that a caller is passed on to: the caller's own call is over with it. */
  z.object({ next: z.literal('hang-up-caller'), call: z.string().max(256) }),
]);
export type ClientState = z.output<typeof clientState>;

export function writeClientState(state: ClientState): string {
  return Buffer.from(JSON.stringify(state)).toString('base64');
}

export const NOTHING_NEXT = writeClientState({ next: 'nothing' });

/** Undefined for none, and for one that is not ours. */
export function readClientState(text: unknown): ClientState | undefined {
  if (typeof text !== 'string' || text.length > 8192) return undefined;
  return clientState.safeParse(parseJson(Buffer.from(text, 'base64').toString('utf8'))).data;
}
