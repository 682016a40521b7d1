import { z } from 'zod';
import { basicCredentials } from '../proofs.ts';
import type { Secret } from '../../config/secrets.ts';
import { address, secret, settingFacts } from '../../config/setting.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { TypedConfig } from '../carrier.ts';
import { CarrierControlError } from '../errors.ts';
import { progressBy, type ProgressWords } from '../dialling.ts';
import type { DialProgress } from '../port.ts';
import { CarrierRest, type RestRequest } from '../rest.ts';

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
const problem = z
  .object({ message: z.string().optional(), error: z.string().optional() })
  .catch({})
  .transform(({ message, error: code }) => ({ message, code }));

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
  readonly #rest: CarrierRest;

  constructor({ ariUrl, ariUsername, ariPassword }: AriAccount, clock: Clock) {
    const headers = () => ({ authorization: basicCredentials(ariUsername, ariPassword.reveal()) });
    this.clock = clock;
    this.#rest = new CarrierRest(
      { base: `${ariUrl.replace(/\/+$/u, '')}/ari`, headers, problem: (body) => problem.parse(body) },
      clock,
    );
  }

  /** @returns undefined for a channel that is over. @throws CarrierControlError */
  async channel(id: string, signal: AbortSignal): Promise<AriChannel | undefined> {
    return (await this.#rest.read(channelPath(id), channel, signal))?.value;
  }

  /** Which channels hear each other. @throws CarrierControlError */
  async bridges(signal: AbortSignal): Promise<readonly { readonly channels: readonly string[] }[]> {
    return (await this.#rest.read('/bridges', bridges, signal))?.value ?? [];
  }

  /** Ends a channel; one that is over stays so. @throws CarrierControlError */
  async end(id: string, signal: AbortSignal): Promise<void> {
    await this.#rest.end({ method: 'DELETE', path: channelPath(id) }, signal);
  }

  /** Makes a channel, once. @throws CarrierControlError */
  async create(asked: NewChannel, signal: AbortSignal): Promise<void> {
    await this.#rest.once(creation(asked), signal);
  }

  /**
   * Makes the channel of a dialled call.
   * @returns its id
   * @throws CarrierControlError when it was certainly not made; DialUnknownError when that is not known
   */
  async dial(asked: NewChannel, signal: AbortSignal): Promise<string> {
    try {
      return (await this.#rest.dial(creation(asked), created, signal)).id;
    } catch (error) {
      // For an unknown endpoint, Asterisk answers 500 and has made nothing.
      const { cause } = error instanceof Error ? error : {};
      if (!(cause instanceof CarrierControlError && cause.facts['carrierCode'] === NOT_ALLOCATED)) throw error;
      throw new CarrierControlError('Asterisk has no such endpoint', { retryable: false, surelyNotDone: true, cause });
    }
  }
}

function creation(asked: NewChannel): RestRequest {
  return { method: 'POST', path: '/channels', body: { ...asked, priority: 1 } };
}

const NOT_ALLOCATED = 'Allocation failed';

function channelPath(id: string): string {
  return `/channels/${encodeURIComponent(id)}`;
}

const STATES: ProgressWords = { Ring: 'ringing', Ringing: 'ringing', Up: 'answered' };

/** How far a dialled channel has come by its state. */
export function channelProgress({ state }: AriChannel): DialProgress {
  return state === 'Busy' ? { state: 'ended', outcome: 'busy' } : (progressBy(STATES, state) ?? { state: 'queued' });
}
