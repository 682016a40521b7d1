import { createPrivateKey, type KeyObject, randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Secret } from '../../config/secrets.ts';
import type { Clock } from '../../kernel/clock.ts';
import { parseJson } from '../../kernel/json.ts';
import { CarrierRest, type RestProblem, type RestRequest } from '../rest.ts';

export interface VonageAccountSettings {
  readonly apiUrl: string;
  readonly applicationId: string;
  /** PEM. */
  readonly privateKey: Secret;
}

const TOKEN_SECONDS = 60;
const problemSchema = z.object({
  type: z.string().optional(),
  title: z.string().optional(),
  error_title: z.string().optional(),
  detail: z.string().optional(),
});

/** The carrier's REST interface in the name of one application. */
export class VonageAccount {
  readonly clock: Clock;
  readonly rest: CarrierRest;
  readonly #settings: VonageAccountSettings;
  readonly #key: KeyObject;

  /** @throws for an invalid private key */
  constructor(settings: VonageAccountSettings, clock: Clock) {
    this.clock = clock;
    this.rest = new CarrierRest(clock, problemOf);
    this.#settings = settings;
    this.#key = createPrivateKey(settings.privateKey.reveal());
  }

  /** @param path below the calls, with its query */
  async request(method: 'GET' | 'POST' | 'PUT', path: string, body?: object): Promise<RestRequest> {
    const url = new URL(`/v1/calls${path}`, this.#settings.apiUrl);
    const authorization = `Bearer ${await this.#token()}`;
    if (body === undefined) return { method, url, headers: { authorization } };
    const headers = { authorization, 'content-type': 'application/json' };
    return { method, url, headers, body: JSON.stringify(body) };
  }

  async #token(): Promise<string> {
    const { SignJWT } = await import('jose');
    const nowSeconds = Math.floor(this.clock.wallMs() / 1000);
    return new SignJWT({ application_id: this.#settings.applicationId })
      .setProtectedHeader({ alg: 'RS256', typ: 'JWT' })
      .setIssuedAt(nowSeconds)
      .setExpirationTime(nowSeconds + TOKEN_SECONDS)
      .setJti(randomUUID())
      .sign(this.#key);
  }
}

/** Address of a call below the calls. */
export function callPath(carrierCallId: string): string {
  return `/${encodeURIComponent(carrierCallId)}`;
}

function problemOf(body: string): RestProblem {
  const { type, title, error_title: errorTitle, detail } = problemSchema.catch({}).parse(parseJson(body));
  return { code: type ?? title ?? errorTitle, message: detail ?? title ?? errorTitle };
}
