import { z } from 'zod';
import { parseJson } from '../../kernel/json.ts';

/**
 * State that a call's webhooks return to us (`client_state`): the dial it came of, or the next step of an ending call, so that no process must
 * remember it.
 */
const clientState = z.union([
  z.object({ dial: z.string().max(128) }),
  z.object({ next: z.literal('say'), text: z.string().max(3000), language: z.string().max(40) }),
  z.object({ next: z.literal('hang-up') }),
  /** For a call with a stream: our id. Another stream follows one that breaks. */
  z.object({ next: z.literal('stream'), call: z.string().max(128) }),
  /** For an over or transferred call: the end of its stream is expected. */
  z.object({ next: z.literal('nothing') }),
  /** For the leg a caller is transferred to: when it ends, so does the caller's own call. */
  z.object({ next: z.literal('hang-up-caller'), call: z.string().max(256) }),
]);
export type ClientState = z.output<typeof clientState>;

export function writeClientState(state: ClientState): string {
  return Buffer.from(JSON.stringify(state)).toString('base64');
}

export const NOTHING_NEXT = writeClientState({ next: 'nothing' });

/** Undefined for none, or one that is not ours. */
export function readClientState(text: unknown): ClientState | undefined {
  if (typeof text !== 'string' || text.length > 8192) return undefined;
  return clientState.safeParse(parseJson(Buffer.from(text, 'base64').toString('utf8'))).data;
}
