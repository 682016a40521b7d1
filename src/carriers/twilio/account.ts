import { z } from 'zod';
import { basicCredentials } from '../basic-credentials.ts';
import type { Secret } from '../../config/secrets.ts';
import type { Clock } from '../../kernel/clock.ts';
import { parseJson } from '../../kernel/json.ts';
import { CarrierRest, type RestProblem, type RestRequest } from '../rest.ts';

export interface TwilioAccountSettings {
  readonly apiUrl: string;
  readonly accountSid: string;
  readonly authToken: Secret;
  /** Path before the accounts; Twilio's when absent. */
  readonly basePath?: string;
}

const problemSchema = z.object({ code: z.number().optional(), message: z.string().optional() });

/** The carrier's REST interface in the name of one account. */
export class TwilioAccount {
  readonly clock: Clock;
  readonly rest: CarrierRest;
  readonly #settings: TwilioAccountSettings;

  constructor(settings: TwilioAccountSettings, clock: Clock) {
    this.clock = clock;
    this.rest = new CarrierRest(clock, problemOf);
    this.#settings = settings;
  }

  /** @param path below the account, with its query */
  request(method: 'GET' | 'POST', path: string, fields?: Readonly<Record<string, string>> | [string, string][]): RestRequest {
    const { apiUrl, accountSid, authToken, basePath = '/2010-04-01/Accounts' } = this.#settings;
    const authorization = basicCredentials(accountSid, authToken.reveal());
    const url = new URL(`${basePath}/${accountSid}${path}`, apiUrl);
    return { method, url, headers: { authorization }, ...(fields && { body: new URLSearchParams(fields) }) };
  }
}

/** Address of a call below its account. */
export function callPath(carrierCallId: string): string {
  return `/Calls/${encodeURIComponent(carrierCallId)}.json`;
}

function problemOf(body: string): RestProblem {
  return problemSchema.catch({}).parse(parseJson(body));
}
