import { z } from 'zod';
import type { Clock } from '../kernel/clock.ts';
import { withDeadline } from './deadline.ts';
import { SpeechProtocolError, SpeechUnavailableError } from './errors.ts';
import { readText } from '../kernel/read-text.ts';
import { serviceUrl } from './service-url.ts';

/** How one service is (ASR doc, "GET {asr_url}/health"; TTS doc, "Health result"). */
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
 * Asks a service how it is, in one shape for both (`{ok}` of recognition, `{status}` of synthesis). No credential is sent.
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

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
