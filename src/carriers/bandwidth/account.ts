import { z } from 'zod';
import type { Secret } from '../../config/secrets.ts';
import type { Clock } from '../../kernel/clock.ts';
import { parseJson } from '../../kernel/json.ts';
import { abortable } from '../../kernel/waiting.ts';
import { basicCredentials } from '../basic-credentials.ts';
import { CarrierControlError } from '../errors.ts';
import { CarrierRest, type RestAnswer, type RestProblem, type RestRequest } from '../rest.ts';

export interface BandwidthAccountSettings {
  readonly apiUrl: string;
  /** Endpoint for OAuth tokens. */
  readonly tokenUrl: string;
  readonly accountId: string;
  readonly clientId: string;
  readonly clientSecret: Secret;
}

const granted = z.object({ access_token: z.string().min(1).max(8192), expires_in: z.number().positive().catch(300) });
const problemSchema = z.object({ type: z.string(), description: z.string(), error: z.string() }).partial();
/** A token is renewed this long before it expires. */
const MARGIN_MS = 60_000;

/** The carrier's REST interface in the name of one account, which proves itself by a token of OAuth (client credentials). */
export class BandwidthAccount {
  readonly clock: Clock;
  readonly rest: CarrierRest;
  readonly #settings: BandwidthAccountSettings;
  #token: { readonly value: string; readonly untilMs: number } | undefined;
  #asking: Promise<string> | undefined;

  constructor(settings: BandwidthAccountSettings, clock: Clock) {
    this.clock = clock;
    this.rest = new TokenRest(clock, (authorization) => this.#forget(authorization));
    this.#settings = settings;
  }

  /**
   * @param path below the account's calls, with its query
   * @param body an object is sent as JSON, a text as a document
   * @throws CarrierControlError when no token could be obtained, so that nothing was asked
   */
  async request(method: 'GET' | 'POST' | 'PUT', path: string, signal: AbortSignal, body?: object | string): Promise<RestRequest> {
    const { apiUrl, accountId } = this.#settings;
    const url = new URL(`/api/v2/accounts/${encodeURIComponent(accountId)}/calls${path}`, apiUrl);
    const headers = { authorization: bearer(await this.#tokenNow(signal)) };
    if (body === undefined) return { method, url, headers };
    const isText = typeof body === 'string';
    const contentType = isText ? 'application/xml; charset=utf-8' : 'application/json';
    return { method, url, headers: { ...headers, 'content-type': contentType }, body: isText ? body : JSON.stringify(body) };
  }

  async #tokenNow(signal: AbortSignal): Promise<string> {
    if (this.#token !== undefined && this.clock.nowMs() < this.#token.untilMs) return this.#token.value;
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined;
    });
    return abortable(this.#asking, signal);
  }

  /** A token may be revoked before it expires. */
  #forget(authorization: string | undefined): void {
    if (this.#token !== undefined && authorization === bearer(this.#token.value)) this.#token = undefined;
  }

  /** One request shared by all waiting calls, so that no call's abort ends it. */
  async #ask(): Promise<string> {
    const { tokenUrl, clientId, clientSecret } = this.#settings;
    const headers = { authorization: basicCredentials(clientId, clientSecret.reveal()) };
    const body = new URLSearchParams({ grant_type: 'client_credentials' });
    const message = 'the carrier gave out no token for its account';
    try {
      const answer = await this.rest.read({ method: 'POST', url: new URL(tokenUrl), headers, body }, granted, neverAborted);
      if (answer === undefined) throw new CarrierControlError(message, { retryable: false, surelyNotDone: true });
      const { access_token: value, expires_in: seconds } = answer.value;
      this.#token = { value, untilMs: this.clock.nowMs() + Math.max(0, seconds * 1000 - MARGIN_MS) };
      return value;
    } catch (cause) {
      const retryable = cause instanceof CarrierControlError && cause.retryable;
      const facts = cause instanceof CarrierControlError ? cause.facts : {};
      throw new CarrierControlError(message, { retryable, surelyNotDone: true, cause, facts });
    }
  }
}

/** Never aborted: the requests have a time limit of their own. */
const { signal: neverAborted } = new AbortController();

function bearer(token: string): string {
  return `Bearer ${token}`;
}

/** Names the refused credentials in its errors. */
class TokenRest extends CarrierRest {
  readonly #refused: (authorization: string | undefined) => void;

  constructor(clock: Clock, refused: (authorization: string | undefined) => void) {
    super(clock, problemOf);
    this.#refused = refused;
  }

  override async once(request: RestRequest, signal: AbortSignal, withinMs?: number): Promise<RestAnswer> {
    try {
      return await super.once(request, signal, withinMs);
    } catch (error) {
      if (error instanceof CarrierControlError && error.facts['status'] === 401) this.#refused(request.headers['authorization']);
      throw error;
    }
  }
}

/** Address of a call below the calls. */
export function callPath(carrierCallId: string): string {
  return `/${encodeURIComponent(carrierCallId)}`;
}

function problemOf(body: string): RestProblem {
  const { type, description, error } = problemSchema.catch({}).parse(parseJson(body));
  return { code: type ?? error, message: description };
}
