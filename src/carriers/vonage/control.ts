import { createPrivateKey, type KeyObject, randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Secret } from '../../config/secrets.ts';
import { sleep } from '../../kernel/waiting.ts';
import type { Clock } from '../../kernel/clock.ts';
import { CarrierControlError } from '../errors.ts';
import type { CallControl } from '../port.ts';
import { CarrierRest, type RestProblem, type RestRequest } from '../rest.ts';
import { dialNcco } from './answer.ts';

export interface VonageControlSettings {
  readonly apiUrl: string;
  readonly applicationId: string;
  /** PEM. */
  readonly privateKey: Secret;
}

const TOKEN_SECONDS = 60;
/** A `w` among keys. */
const WAIT_MS = 500;
const problemSchema = z.object({ type: z.string().optional(), title: z.string().optional(), detail: z.string().optional() });

/** Acts on live calls over `PUT /v1/calls/{uuid}` (developer.vonage.com/api/voice); a new NCCO ends the media socket of the old one. */
export class VonageControl implements CallControl {
  readonly #settings: VonageControlSettings;
  readonly #clock: Clock;
  readonly #rest: CarrierRest;
  readonly #key: KeyObject;

  /** @throws when the private key is none */
  constructor(settings: VonageControlSettings, clock: Clock) {
    this.#settings = settings;
    this.#clock = clock;
    this.#rest = new CarrierRest(clock, problemOf);
    this.#key = createPrivateKey(settings.privateKey.reveal());
  }

  async hangUp(carrierCallId: string, signal: AbortSignal): Promise<void> {
    try {
      await this.#rest.repeat(await this.#put(carrierCallId, '', { action: 'hangup' }), signal);
    } catch (error) {
      // The call is over, which is what was wanted.
      if (!(error instanceof CarrierControlError && error.facts['status'] === 404)) throw error;
    }
  }

  async transfer(carrierCallId: string, to: string, signal: AbortSignal): Promise<void> {
    const destination = { type: 'ncco', ncco: dialNcco(to) };
    await this.#rest.repeat(await this.#put(carrierCallId, '', { action: 'transfer', destination }), signal);
  }

  async sendDigits(carrierCallId: string, digits: string, signal: AbortSignal): Promise<void> {
    for (const part of digits.split(/(w)/u).filter((piece) => piece !== '')) {
      if (part === 'w') await sleep(this.#clock, WAIT_MS, signal);
      else await this.#rest.once(await this.#put(carrierCallId, '/dtmf', { digits: part }), signal);
    }
  }

  async #put(carrierCallId: string, below: string, body: object): Promise<RestRequest> {
    const { apiUrl } = this.#settings;
    const url = new URL(`/v1/calls/${encodeURIComponent(carrierCallId)}${below}`, apiUrl);
    const headers = { authorization: `Bearer ${await this.#token()}`, 'content-type': 'application/json' };
    return { method: 'PUT', url, headers, body: JSON.stringify(body) };
  }

  async #token(): Promise<string> {
    const { SignJWT } = await import('jose');
    const nowSeconds = Math.floor(this.#clock.wallMs() / 1000);
    return new SignJWT({ application_id: this.#settings.applicationId })
      .setProtectedHeader({ alg: 'RS256', typ: 'JWT' })
      .setIssuedAt(nowSeconds)
      .setExpirationTime(nowSeconds + TOKEN_SECONDS)
      .setJti(randomUUID())
      .sign(this.#key);
  }
}

function problemOf(body: string): RestProblem {
  try {
    const { type, title, detail } = problemSchema.catch({}).parse(JSON.parse(body));
    return { code: type, message: detail ?? title };
  } catch {
    return {};
  }
}
