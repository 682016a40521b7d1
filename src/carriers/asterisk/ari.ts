import { z } from 'zod';
import { basicCredentials } from '../basic-credentials.ts';
import type { Secret } from '../../config/secrets.ts';
import { address, secret, settingFacts } from '../../config/setting.ts';
import type { Clock } from '../../kernel/clock.ts';
import { parseJson } from '../../kernel/json.ts';
import type { TypedConfig } from '../carrier.ts';
import { CarrierControlError } from '../errors.ts';
import type { DialProgress } from '../port.ts';
import { CarrierRest, type RestProblem, type RestRequest } from '../rest.ts';

/** Address and credentials of Asterisk's REST interface (`http.conf`, `ari.conf`). */
export interface AriAccount {
  readonly ariUrl: string;
  readonly ariUsername: string;
  readonly ariPassword: Secret;
}

/** The settings of a carrier that acts on calls over ARI. @param carrier its name in capitals, as in environment names */
export function ariSettings(carrier: string) {
  return {
    ariUrl: address(
      "Base address of Asterisk's HTTP server (http.conf), for outbound calls, transfers, keypad digits and hang-ups over ARI",
      `OFFHOOK_${carrier}_ARI_URL`,
    ),
    ariUsername: z
      .string()
      .min(1)
      .max(100)
      .default('offhook')
      .register(settingFacts, { description: 'User of ari.conf', aliases: [`OFFHOOK_${carrier}_ARI_USERNAME`] }),
  };
}

export function ariSecret(carrier: string) {
  return secret(
    `Password of that user of ari.conf; needed with ${carrier.toLowerCase()}.ariUrl`,
    `OFFHOOK_${carrier}_ARI_PASSWORD`,
  );
}

type AriConfig = TypedConfig<{ readonly ariUrl?: string | undefined; readonly ariUsername: string }>;

/** Undefined where no account is configured. */
export function ariAccount({ settings, secrets }: AriConfig): AriAccount | undefined {
  const { ariUrl, ariUsername } = settings;
  const [ariPassword] = secrets['ariPassword'] ?? [];
  return ariUrl === undefined || ariPassword === undefined ? undefined : { ariUrl, ariUsername, ariPassword };
}

/** What is wrong between the settings of an account. */
export function ariProblems({ settings, secrets }: AriConfig, carrier: string) {
  const hasUrl = settings.ariUrl !== undefined;
  const hasPassword = secrets['ariPassword']?.[0] !== undefined;
  if (hasUrl === hasPassword) return [];
  return hasUrl
    ? [{ setting: 'ariPassword', message: `${carrier}.ariUrl needs the password of ${carrier}.ariUsername in ari.conf` }]
    : [{ setting: 'ariUrl', message: `${carrier}.ariPassword needs the address of Asterisk's HTTP server` }];
}

const channel = z.object({
  state: z.string(),
  dialplan: z.object({ context: z.string().catch('') }).catch({ context: '' }),
});
export type AriChannel = z.output<typeof channel>;
const bridges = z.array(z.object({ channels: z.array(z.string()) }));
const created = z.object({ id: z.string() });
const problem = z.object({ message: z.string().optional(), error: z.string().optional() });

/** A channel to be made. */
export interface NewChannel {
  readonly endpoint: string;
  readonly context: string;
  readonly extension: string;
  readonly callerId?: string;
  /** How long it may ring, in whole seconds. */
  readonly timeout: number;
  readonly channelId?: string;
  readonly otherChannelId?: string;
  readonly variables: Readonly<Record<string, string>>;
}

/** Asterisk's REST interface (ARI; docs.asterisk.org, "Channels REST API"; checked against Asterisk 22.10.1). */
export class Ari {
  readonly clock: Clock;
  readonly #account: AriAccount;
  readonly #rest: CarrierRest;

  constructor(account: AriAccount, clock: Clock) {
    this.clock = clock;
    this.#account = account;
    this.#rest = new CarrierRest(clock, problemOf);
  }

  /** @returns undefined for a channel that is over. @throws CarrierControlError */
  async channel(id: string, signal: AbortSignal): Promise<AriChannel | undefined> {
    return (await this.#rest.read(this.#request('GET', channelPath(id)), channel, signal))?.value;
  }

  /** Which channels hear each other. @throws CarrierControlError */
  async bridges(signal: AbortSignal): Promise<readonly { readonly channels: readonly string[] }[]> {
    return (await this.#rest.read(this.#request('GET', '/bridges'), bridges, signal))?.value ?? [];
  }

  /** Ends a channel; one that is over stays so. @throws CarrierControlError */
  async end(id: string, signal: AbortSignal): Promise<void> {
    await this.#rest.end(this.#request('DELETE', channelPath(id)), signal);
  }

  /** Makes a channel, once. @throws CarrierControlError */
  async create(asked: NewChannel, signal: AbortSignal): Promise<void> {
    await this.#rest.once(this.#creation(asked), signal);
  }

  /**
   * Makes the channel of a dialled call.
   * @returns its id
   * @throws CarrierControlError when it was certainly not made; DialUnknownError when that is not known
   */
  async dial(asked: NewChannel, signal: AbortSignal): Promise<string> {
    try {
      return (await this.#rest.dial(this.#creation(asked), created, signal)).id;
    } catch (error) {
      // For an unknown endpoint, Asterisk answers 500 and has made nothing.
      const { cause } = error instanceof Error ? error : {};
      if (!(cause instanceof CarrierControlError && cause.facts['carrierCode'] === NOT_ALLOCATED)) throw error;
      throw new CarrierControlError('Asterisk has no such endpoint', { retryable: false, surelyNotDone: true, cause });
    }
  }

  #creation(asked: NewChannel): RestRequest {
    return this.#request('POST', '/channels', { ...asked, priority: 1 });
  }

  #request(method: RestRequest['method'], path: string, body?: object): RestRequest {
    const { ariUrl, ariUsername, ariPassword } = this.#account;
    const authorization = basicCredentials(ariUsername, ariPassword.reveal());
    const url = new URL(`${ariUrl.replace(/\/+$/u, '')}/ari${path}`);
    if (body === undefined) return { method, url, headers: { authorization } };
    return { method, url, headers: { authorization, 'content-type': 'application/json' }, body: JSON.stringify(body) };
  }
}

const NOT_ALLOCATED = 'Allocation failed';

function channelPath(id: string): string {
  return `/channels/${encodeURIComponent(id)}`;
}

function problemOf(body: string): RestProblem {
  const { message, error } = problem.catch({}).parse(parseJson(body));
  return { code: error, message };
}

/** How far a dialled channel has come by its state. */
export function channelProgress({ state }: AriChannel): DialProgress {
  switch (state) {
    case 'Ring':
    case 'Ringing':
      return { state: 'ringing' };
    case 'Up':
      return { state: 'answered' };
    case 'Busy':
      return { state: 'ended', outcome: 'busy' };
    default:
      return { state: 'queued' };
  }
}
