import { z } from 'zod';
import type { Secret } from '../../config/secrets.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { CallControl } from '../port.ts';
import { CarrierRest, type RestProblem, type RestRequest } from '../rest.ts';
import { dialAnswer, digitsAnswer } from './answer.ts';

export interface TwilioControlSettings {
  readonly apiUrl: string;
  readonly accountSid: string;
  readonly authToken: Secret;
  /** The address of the voice webhook, for calls that are to come back. */
  readonly voiceUrl: () => string;
}

const problemSchema = z.object({ code: z.number().optional(), message: z.string().optional() });

/**
 * Acts on live calls over the carrier's REST interface: `POST /2010-04-01/Accounts/{sid}/Calls/{call}.json` with `Status` or
 * `Twiml` (the carrier's page "Call resource", "Update a Call"). A new answer document ends the media stream of the old one.
 */
export class TwilioControl implements CallControl {
  readonly #settings: TwilioControlSettings;
  readonly #rest: CarrierRest;

  constructor(settings: TwilioControlSettings, clock: Clock) {
    this.#settings = settings;
    this.#rest = new CarrierRest(clock, problemOf);
  }

  hangUp(carrierCallId: string, signal: AbortSignal): Promise<void> {
    return this.#rest.repeat(this.#update(carrierCallId, { Status: 'completed' }), signal);
  }

  transfer(carrierCallId: string, to: string, signal: AbortSignal): Promise<void> {
    return this.#rest.repeat(this.#update(carrierCallId, { Twiml: dialAnswer(to) }), signal);
  }

  sendDigits(carrierCallId: string, digits: string, signal: AbortSignal): Promise<void> {
    return this.#rest.once(this.#update(carrierCallId, { Twiml: digitsAnswer(digits, this.#settings.voiceUrl()) }), signal);
  }

  #update(carrierCallId: string, fields: Record<string, string>): RestRequest {
    const { apiUrl, accountSid, authToken } = this.#settings;
    const path = `/2010-04-01/Accounts/${accountSid}/Calls/${encodeURIComponent(carrierCallId)}.json`;
    const authorization = `Basic ${Buffer.from(`${accountSid}:${authToken.reveal()}`).toString('base64')}`;
    return { method: 'POST', url: new URL(path, apiUrl), headers: { authorization }, body: new URLSearchParams(fields) };
  }
}

function problemOf(body: string): RestProblem {
  try {
    return problemSchema.catch({}).parse(JSON.parse(body));
  } catch {
    return {};
  }
}
