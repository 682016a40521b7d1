import { z } from 'zod';
import { sleep } from '../../kernel/waiting.ts';
import type { Clock } from '../../kernel/clock.ts';
import { readText } from '../../kernel/bounded-reading.ts';
import type { Secret } from '../../config/secrets.ts';
import { CarrierControlError } from '../errors.ts';
import type { CallControl } from '../port.ts';
import { dialAnswer, digitsAnswer } from './answer.ts';

export interface TwilioControlSettings {
  readonly apiUrl: string;
  readonly accountSid: string;
  readonly authToken: Secret;
  /** The address of the voice webhook, for calls that are to come back. */
  readonly voiceUrl: () => string;
}

const ATTEMPTS = 2;
const RETRY_AFTER_MS = 300;
const TIMEOUT_MS = 5_000;
const MOST_ANSWER_BYTES = 64 * 1024;
const problemSchema = z.object({ code: z.number().optional(), message: z.string().optional() });

/**
 * Acts on live calls over the carrier's REST interface: `POST /2010-04-01/Accounts/{sid}/Calls/{call}.json` with `Status` or
 * `Twiml` (the carrier's page "Call resource", "Update a Call"). A new answer document ends the media stream of the old one.
 */
export class TwilioControl implements CallControl {
  readonly #settings: TwilioControlSettings;
  readonly #clock: Clock;

  constructor(settings: TwilioControlSettings, clock: Clock) {
    this.#settings = settings;
    this.#clock = clock;
  }

  async hangUp(carrierCallId: string, signal: AbortSignal): Promise<void> {
    await this.#update(carrierCallId, { Status: 'completed' }, signal);
  }

  async transfer(carrierCallId: string, to: string, signal: AbortSignal): Promise<void> {
    await this.#update(carrierCallId, { Twiml: dialAnswer(to) }, signal);
  }

  async sendDigits(carrierCallId: string, digits: string, signal: AbortSignal): Promise<void> {
    // Not repeated: an update without an answer may have been carried out, and the keys would be pressed twice.
    await this.#attempt(carrierCallId, { Twiml: digitsAnswer(digits, this.#settings.voiceUrl()) }, signal);
  }

  /** May be repeated: it says what the call shall be. */
  async #update(carrierCallId: string, fields: Record<string, string>, signal: AbortSignal): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await this.#attempt(carrierCallId, fields, signal);
        return;
      } catch (error) {
        const again = error instanceof CarrierControlError && error.retryable && attempt < ATTEMPTS;
        if (!again || signal.aborted) throw error;
        await sleep(this.#clock, RETRY_AFTER_MS, signal);
      }
    }
  }

  async #attempt(carrierCallId: string, fields: Record<string, string>, signal: AbortSignal): Promise<void> {
    const { apiUrl, accountSid, authToken } = this.#settings;
    const path = `/2010-04-01/Accounts/${accountSid}/Calls/${encodeURIComponent(carrierCallId)}.json`;
    const authorization = `Basic ${Buffer.from(`${accountSid}:${authToken.reveal()}`).toString('base64')}`;
    const late = new AbortController();
    const timer = this.#clock.after(TIMEOUT_MS, () => late.abort(new Error(`no answer within ${TIMEOUT_MS} ms`)));
    let response: Response;
    let body: string;
    try {
      response = await fetch(new URL(path, apiUrl), {
        method: 'POST',
        headers: { authorization },
        body: new URLSearchParams(fields),
        signal: AbortSignal.any([signal, late.signal]),
        redirect: 'error',
      });
      body = await readText(response, MOST_ANSWER_BYTES);
    } catch (cause) {
      if (signal.aborted) throw cause;
      throw new CarrierControlError('the carrier cannot be reached', { retryable: true, cause });
    } finally {
      timer.cancel();
    }
    if (response.ok) return;
    const { code, message } = problemOf(body);
    const retryable = response.status === 429 || response.status >= 500;
    // The carrier may repeat the number or the keys that it was given, and this text goes into the log.
    const told = message === undefined ? '' : `: ${message.replaceAll(/\+?\d{3,}/gu, '…').slice(0, 200)}`;
    throw new CarrierControlError(`the carrier answered with HTTP ${response.status}${told}`, {
      retryable,
      facts: { status: response.status, carrierCode: code },
    });
  }
}

function problemOf(body: string): z.infer<typeof problemSchema> {
  try {
    return problemSchema.catch({}).parse(JSON.parse(body));
  } catch {
    return {};
  }
}
