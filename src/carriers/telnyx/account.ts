import { z } from 'zod';
import type { Secret } from '../../config/secrets.ts';
import type { Clock } from '../../kernel/clock.ts';
import { parseJson } from '../../kernel/json.ts';
import { CarrierControlError } from '../errors.ts';
import { CarrierRest, type RestRequest } from '../rest.ts';

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

const problemSchema = z.object({
  errors: z.array(
    z.object({
      code: z.coerce.number().optional().catch(undefined),
      title: z.string().optional(),
      detail: z.string().optional(),
    }),
  ),
});
/** "This call is no longer active and can't receive commands." */
const CALL_IS_OVER = 90_018;

/** The carrier's REST interface (v2) in the name of one account. */
export class TelnyxAccount extends CarrierRest {
  constructor({ apiUrl, apiKey }: { readonly apiUrl: string; readonly apiKey: Secret }, clock: Clock) {
    const account = {
      base: new URL('/v2', apiUrl).href,
      headers: () => ({ authorization: `Bearer ${apiKey.reveal()}` }),
      problem(body: unknown) {
        const [first] = problemSchema.catch({ errors: [] }).parse(body).errors;
        return { code: first?.code, message: first?.detail ?? first?.title };
      },
    };
    super(account, clock);
  }

  /** Ends a call in any state; an ended one is fine. @throws CarrierControlError */
  async hangUp(carrierCallId: string, signal: AbortSignal): Promise<void> {
    try {
      await this.end(command(carrierCallId, 'hangup', { client_state: NOTHING_NEXT }), signal);
    } catch (error) {
      if (!isOver(error)) throw error;
    }
  }
}

/** One command to a call (`answer`, `speak`, …). */
export function command(carrierCallId: string, verb: string, body: object): RestRequest {
  return { method: 'POST', path: `${callPath(carrierCallId)}/actions/${verb}`, body };
}

/** Whether a command was refused because its call is over. */
export function isOver(error: unknown): boolean {
  return error instanceof CarrierControlError && error.facts['carrierCode'] === CALL_IS_OVER;
}

/** Address of a call below `/v2`. */
export function callPath(carrierCallId: string): string {
  return `/calls/${encodeURIComponent(carrierCallId)}`;
}
