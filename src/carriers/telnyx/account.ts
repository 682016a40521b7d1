import { z } from 'zod';
import type { Secret } from '../../config/secrets.ts';
import type { Clock } from '../../kernel/clock.ts';
import { parseJson } from '../../kernel/json.ts';
import { CarrierControlError } from '../errors.ts';
import { NOTHING_NEXT } from './client-state.ts';
import { CarrierRest, type RestProblem, type RestRequest } from '../rest.ts';

export interface TelnyxAccountSettings {
  readonly apiUrl: string;
  readonly apiKey: Secret;
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
export class TelnyxAccount {
  readonly clock: Clock;
  readonly rest: CarrierRest;
  readonly #settings: TelnyxAccountSettings;

  constructor(settings: TelnyxAccountSettings, clock: Clock) {
    this.clock = clock;
    this.rest = new CarrierRest(clock, problemOf);
    this.#settings = settings;
  }

  /** @param path below `/v2`, with its query */
  request(method: 'GET' | 'POST', path: string, body?: object): RestRequest {
    const url = new URL(`/v2${path}`, this.#settings.apiUrl);
    const headers = { authorization: `Bearer ${this.#settings.apiKey.reveal()}` };
    if (body === undefined) return { method, url, headers };
    return { method, url, headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify(body) };
  }

  /** One command to a call (`answer`, `speak`, …). */
  command(carrierCallId: string, verb: string, body: object = {}): RestRequest {
    return this.request('POST', `${callPath(carrierCallId)}/actions/${verb}`, body);
  }

  /** Ends a call in any state; an ended one is fine. @throws CarrierControlError */
  async hangUp(carrierCallId: string, signal: AbortSignal): Promise<void> {
    try {
      await this.rest.end(this.command(carrierCallId, 'hangup', { client_state: NOTHING_NEXT }), signal);
    } catch (error) {
      if (!isOver(error)) throw error;
    }
  }
}

/** Whether a command was refused because its call is over. */
export function isOver(error: unknown): boolean {
  return error instanceof CarrierControlError && error.facts['carrierCode'] === CALL_IS_OVER;
}

/** Address of a call below `/v2`. */
export function callPath(carrierCallId: string): string {
  return `/calls/${encodeURIComponent(carrierCallId)}`;
}

function problemOf(body: string): RestProblem {
  const [first] = problemSchema.catch({ errors: [] }).parse(parseJson(body)).errors;
  return { code: first?.code, message: first?.detail ?? first?.title };
}
