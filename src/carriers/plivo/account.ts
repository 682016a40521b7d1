import { z } from 'zod';
import type { Secret } from '../../config/secrets.ts';
import type { Clock } from '../../kernel/clock.ts';
import { parseJson } from '../../kernel/json.ts';
import { CarrierRest, type RestProblem, type RestRequest } from '../rest.ts';

export interface PlivoAccountSettings {
  readonly apiUrl: string;
  /** Path before `/Account/…`, which differs within the family, … */
  readonly apiPath: string;
  /** … as do the credentials. */
  readonly credentials: (authId: string, authToken: string) => Readonly<Record<string, string>>;
  readonly authId: string;
  readonly authToken: Secret;
}

const problemSchema = z.object({ error: z.unknown(), message: z.unknown(), error_code: z.unknown() }).partial();

/** The carrier's REST interface in the name of one account. */
export class PlivoAccount {
  readonly clock: Clock;
  readonly rest: CarrierRest;
  readonly #settings: PlivoAccountSettings;

  constructor(settings: PlivoAccountSettings, clock: Clock) {
    this.clock = clock;
    this.rest = new CarrierRest(clock, problemOf);
    this.#settings = settings;
  }

  /** @param path below the account, with its query; ends in a slash, as both carriers require */
  request(method: 'GET' | 'POST' | 'DELETE', path: string, fields?: Readonly<Record<string, unknown>>): RestRequest {
    const { apiUrl, apiPath, authId, authToken, credentials } = this.#settings;
    const url = new URL(`${apiPath}/Account/${encodeURIComponent(authId)}${path}`, apiUrl);
    const headers = credentials(authId, authToken.reveal());
    if (fields === undefined) return { method, url, headers };
    return { method, url, headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify(fields) };
  }
}

/** Address of a call below its account. */
export function callPath(carrierCallId: string): string {
  return `/Call/${encodeURIComponent(carrierCallId)}/`;
}

function problemOf(body: string): RestProblem {
  const { error, message, error_code: code } = problemSchema.catch({}).parse(parseJson(body));
  const told = [error, message].find((text): text is string => typeof text === 'string');
  return { code: typeof code === 'number' || typeof code === 'string' ? code : undefined, message: told };
}
