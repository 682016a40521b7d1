import { z } from 'zod';
import type { Secret } from '../../config/secrets.ts';
import type { Clock } from '../../kernel/clock.ts';
import { parseJson } from '../../kernel/json.ts';
import { CarrierRest, type RestRequest } from '../rest.ts';

export interface JambonzAccountSettings {
  /** Includes the version: `https://api.jambonz.cloud/v1`. */
  readonly apiUrl: string;
  readonly accountSid: string;
  readonly apiKey: Secret;
}

const problem = z.object({ msg: z.string().optional() });
/** jambonz' REST interface in the name of one account (jambonz-api-server, lib/routes/api/accounts.js). */
export class JambonzAccount {
  readonly clock: Clock;
  readonly rest: CarrierRest;
  readonly #settings: JambonzAccountSettings;

  constructor(settings: JambonzAccountSettings, clock: Clock) {
    this.clock = clock;
    // jambonz' errors have no codes.
    this.rest = new CarrierRest(clock, (body) => ({ message: problem.catch({}).parse(parseJson(body)).msg }));
    this.#settings = settings;
  }

  /** @param path below the account, with its query */
  request(method: 'GET' | 'POST' | 'PUT', path: string, body?: object): RestRequest {
    const { apiUrl, accountSid, apiKey } = this.#settings;
    const url = new URL(`${apiUrl.replace(/\/+$/u, '')}/Accounts/${encodeURIComponent(accountSid)}${path}`);
    const authorization = `Bearer ${apiKey.reveal()}`;
    if (body === undefined) return { method, url, headers: { authorization } };
    return { method, url, headers: { authorization, 'content-type': 'application/json' }, body: JSON.stringify(body) };
  }
}

/** Address of a call below its account. */
export function callPath(carrierCallId: string): string {
  return `/Calls/${encodeURIComponent(carrierCallId)}`;
}
