import { z } from 'zod';
import type { Secret } from '../../config/secrets.ts';
import type { Clock } from '../../kernel/clock.ts';
import { abortable } from '../../kernel/waiting.ts';
import { basicCredentials } from '../proofs.ts';
import { CarrierControlError } from '../errors.ts';
import { CarrierRest, type RestHeaders, type RestProblem } from '../rest.ts';

export interface BandwidthAccountSettings {
  readonly apiUrl: string;
  /** Endpoint for OAuth tokens. */
  readonly tokenUrl: string;
  readonly accountId: string;
  readonly clientId: string;
  readonly clientSecret: Secret;
}

const granted = z.object({ access_token: z.string().min(1).max(8192), expires_in: z.number().positive().catch(300) });
const problem = z.object({ type: z.string(), description: z.string(), error: z.string() }).partial().catch({});
/** A token is renewed this long before it expires. */
const MARGIN_MS = 60_000;

/** Requests below an account's calls, proven by a token of OAuth (client credentials). Without one a request throws, and nothing was asked. */
export function bandwidthAccount(
  { apiUrl, accountId, ...settings }: BandwidthAccountSettings,
  clock: Clock,
  tokens = new AccountTokens(settings, clock),
): CarrierRest {
  return new CarrierRest(
    {
      base: new URL(`/api/v2/accounts/${encodeURIComponent(accountId)}/calls`, apiUrl).href,
      headers: (signal) => tokens.headers(signal),
      problem: problemOf,
      refused: (headers) => tokens.forget(headers),
    },
    clock,
  );
}

/** The token in force. */
export class AccountTokens {
  readonly #rest: CarrierRest;
  readonly #clock: Clock;
  #token: { readonly headers: RestHeaders; readonly untilMs: number } | undefined;
  #asking: Promise<RestHeaders> | undefined;

  constructor(settings: Pick<BandwidthAccountSettings, 'tokenUrl' | 'clientId' | 'clientSecret'>, clock: Clock) {
    const { tokenUrl, clientId, clientSecret } = settings;
    const headers = () => ({ authorization: basicCredentials(clientId, clientSecret.reveal()) });
    this.#clock = clock;
    this.#rest = new CarrierRest({ base: tokenUrl, headers, problem: problemOf }, clock);
  }

  /** @throws CarrierControlError when no token could be obtained */
  async headers(signal: AbortSignal): Promise<RestHeaders> {
    if (this.#token !== undefined && this.#clock.nowMs() < this.#token.untilMs) return this.#token.headers;
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined;
    });
    return abortable(this.#asking, signal);
  }

  /** A token may be revoked before it expires. */
  forget(headers: RestHeaders): void {
    if (headers['authorization'] === this.#token?.headers['authorization']) this.#token = undefined;
  }

  /** One request shared by all waiting calls, so that no call's abort ends it. */
  async #ask(): Promise<RestHeaders> {
    const body = new URLSearchParams({ grant_type: 'client_credentials' });
    try {
      const answer = await this.#rest.repeat({ method: 'POST', path: '', body }, neverAborted);
      const parsed = granted.safeParse(answer.body);
      if (!parsed.success) throw new CarrierControlError("the carrier's answer cannot be read", { retryable: true });
      const { access_token: value, expires_in: seconds } = parsed.data;
      const headers = { authorization: `Bearer ${value}` };
      this.#token = { headers, untilMs: this.#clock.nowMs() + Math.max(0, seconds * 1000 - MARGIN_MS) };
      return headers;
    } catch (cause) {
      const retryable = cause instanceof CarrierControlError && cause.retryable;
      // That the token's address is not found (404) says nothing of a call.
      const facts = cause instanceof CarrierControlError && cause.facts['status'] !== 404 ? cause.facts : {};
      const message = 'the carrier gave out no token for its account';
      throw new CarrierControlError(message, { retryable, surelyNotDone: true, cause, facts });
    }
  }
}

/** Never aborted: the requests have a time limit of their own. */
const { signal: neverAborted } = new AbortController();

function problemOf(body: unknown): RestProblem {
  const { type, description, error } = problem.parse(body);
  return { code: type ?? error, message: description };
}
