import { z } from 'zod';
import type { Clock, Timer } from '../../kernel/clock.ts';
import type { Logger } from '../../observability/logger.ts';
import { withDeadline } from './deadline.ts';
import { SpeechProtocolError, SpeechUnavailableError } from './errors.ts';
import { readText } from '../../kernel/bounded-reading.ts';
import { parseJson } from '../../kernel/json.ts';
import { serviceUrl } from './settings.ts';

/** A service's health (ASR doc, "GET {asr_url}/health"; TTS doc, "Health result"). */
export interface ServiceHealth {
  readonly healthy: boolean;
  /** The synthesizer's voices; empty for the recogniser. Names are known only at run time. */
  readonly voices: readonly string[];
  readonly defaultVoice: string | undefined;
}

const HEALTH_TIMEOUT_MS = 3_000;
const MOST_ANSWER_BYTES = 256 * 1024;
const answer = z.looseObject({
  ok: z.boolean().optional(),
  status: z.string().optional(),
  voices: z.array(z.string()).optional(),
  default_voice: z.string().optional(),
});

/**
 * Asks a service for its health, in one shape for both (`{ok}` of recognition, `{status}` of synthesis). Sends no credential.
 * @throws SpeechUnavailableError when it does not answer in time, SpeechProtocolError when the answer cannot be read; the
 * signal's reason when it aborts first
 */
export async function serviceHealth(
  fetcher: typeof fetch,
  clock: Clock,
  baseUrl: string,
  signal: AbortSignal,
): Promise<ServiceHealth> {
  let response: Response;
  let text: string;
  try {
    [response, text] = await withDeadline(clock, HEALTH_TIMEOUT_MS, [signal], async (limited) => {
      const given = await fetcher(serviceUrl(baseUrl, '/health'), { redirect: 'manual', signal: limited });
      return [given, await readText(given, MOST_ANSWER_BYTES)];
    });
  } catch (cause) {
    signal.throwIfAborted();
    const { origin } = new URL(baseUrl);
    throw new SpeechUnavailableError(`${origin} does not answer its health check; check the address and the network`, { cause });
  }
  if (!response.ok) return { healthy: false, voices: [], defaultVoice: undefined };
  const parsed = answer.safeParse(parseJson(text));
  if (!parsed.success) throw new SpeechProtocolError('the health answer cannot be read', { status: response.status, body: text });
  const { ok, status, voices = [], default_voice: defaultVoice } = parsed.data;
  return { healthy: ok === true || status === 'ok' || status === 'healthy', voices, defaultVoice };
}

export interface HealthWatchOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Whether everything is well; a throw counts as no. */
  readonly ask: (signal: AbortSignal) => Promise<boolean>;
}

const EVERY_MS = 5_000;

/** Checks a service's health every few seconds and keeps the last result. */
export class HealthWatch implements Disposable {
  readonly #options: HealthWatchOptions;
  readonly #closing = new AbortController();
  #timer: Timer | undefined;
  #isUp = true;
  #onUp: () => void = () => undefined;

  constructor(options: HealthWatchOptions) {
    this.#options = options;
  }

  /** The last result; true before the first. */
  get isUp(): boolean {
    return this.#isUp;
  }

  /** Starts checking. @param onUp called when the service is back */
  start(onUp: () => void): void {
    this.#onUp = onUp;
    void this.check();
  }

  /** Checks now, and again later. Never rejects. */
  async check(): Promise<boolean> {
    const { clock, logger, ask } = this.#options;
    const { signal } = this.#closing;
    const before = this.#isUp;
    let isUp = false;
    try {
      isUp = await ask(signal);
    } catch {
      // Away.
    }
    // A check that closing ended says nothing about the platform.
    if (signal.aborted) return before;
    this.#isUp = isUp;
    if (before !== isUp) {
      logger.warn({ up: isUp }, 'speech platform changed state');
      if (isUp) this.#onUp();
    }
    this.#timer?.cancel();
    this.#timer = clock.after(EVERY_MS, () => void this.check());
    return isUp;
  }

  [Symbol.dispose](): void {
    this.#closing.abort(new Error('the speech client was closed'));
    this.#timer?.cancel();
  }
}
