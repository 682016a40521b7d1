import { z } from 'zod';
import { SpeechProtocolError, SpeechUnavailableError } from './errors.ts';

export interface ServiceHealth {
  readonly healthy: boolean;
  /** The synthesizer's voices; empty for the recogniser. Names are known only at run time. */
  readonly voices: readonly string[];
  readonly defaultVoice: string | undefined;
}

const HEALTH_TIMEOUT_MS = 3_000;
const answer = z.looseObject({
  ok: z.boolean().optional(),
  status: z.string().optional(),
  voices: z.array(z.string()).optional(),
  default_voice: z.string().optional(),
});

/**
 * Asks a service how it is, in one shape for both (`{ok}` of recognition, `{status}` of synthesis). No credential is sent.
 * @throws SpeechUnavailableError when it does not answer in time, SpeechProtocolError when the answer cannot be read
 */
export async function serviceHealth(fetcher: typeof fetch, baseUrl: string, signal: AbortSignal): Promise<ServiceHealth> {
  let value: unknown;
  try {
    const response = await fetcher(new URL('/health', baseUrl), {
      signal: AbortSignal.any([signal, AbortSignal.timeout(HEALTH_TIMEOUT_MS)]),
    });
    if (!response.ok) return { healthy: false, voices: [], defaultVoice: undefined };
    value = await response.json();
  } catch (cause) {
    throw new SpeechUnavailableError('the speech platform does not answer its health check', { cause });
  }
  const parsed = answer.safeParse(value);
  if (!parsed.success) throw new SpeechProtocolError('the health answer cannot be read');
  const { ok, status, voices = [], default_voice: defaultVoice } = parsed.data;
  return { healthy: ok === true || status === 'ok' || status === 'healthy', voices, defaultVoice };
}
