import { z } from 'zod';
import type { Secret } from '../../config/secrets.ts';
import type { Clock } from '../../kernel/clock.ts';
import { CarrierControlError } from '../errors.ts';
import type { CallControl } from '../port.ts';
import { CarrierRest, type RestAnswer, type RestRequest } from '../rest.ts';

export interface SmartfloAccount {
  readonly apiUrl: string;
  readonly apiToken: Secret;
}

const said = z.object({ success: z.boolean().optional(), message: z.string().optional() }).catch({});
/** Operation code of a transfer (`/v1/call/options`). */
const TRANSFER = 4;

/** Acts on calls over `POST /v1/call/hangup` and `/v1/call/options` (docs.smartflo.tatatelebusiness.com/reference/v1calloptions). */
export class SmartfloControl implements CallControl {
  readonly #rest: CarrierRest;

  constructor({ apiUrl, apiToken }: SmartfloAccount, clock: Clock) {
    const headers = () => ({ authorization: `Bearer ${apiToken.reveal()}`, accept: 'application/json' });
    const base = new URL('/v1/call', apiUrl).href;
    this.#rest = new CarrierRest({ base, headers, problem: (body) => ({ message: said.parse(body).message }) }, clock);
  }

  async hangUp(callId: string, signal: AbortSignal): Promise<void> {
    const answer = await this.#rest.end(post('/hangup', { call_id: callId }), signal);
    if (answer !== undefined) failedIn(answer);
  }

  /** @param to the number of an agent, extension or department at the carrier */
  async transfer(callId: string, to: string, signal: AbortSignal): Promise<void> {
    const intercom = to.replace(/^\+/u, '');
    if (!/^\d+$/u.test(intercom)) throw refused('calls are passed on to numbers of agents, extensions and departments only');
    // Sent once: it may have been carried out without an answer.
    failedIn(await this.#rest.once(post('/options', { type: TRANSFER, call_id: callId, intercom }), signal));
  }

  /** @throws CarrierControlError always */
  sendDigits(): Promise<void> {
    return Promise.reject(refused('no request presses keys: they are tones in the audio'));
  }
}

function post(path: string, body: object): RestRequest {
  return { method: 'POST', path, body };
}

/** A refusal may come with status 200. */
function failedIn({ body }: RestAnswer): void {
  const { success, message } = said.parse(body);
  if (success === false) throw refused(`the carrier refused: ${message ?? 'without a reason'}`);
}

function refused(message: string): CarrierControlError {
  return new CarrierControlError(message, { retryable: false, surelyNotDone: true });
}
