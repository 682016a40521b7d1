import type { Clock } from '../../kernel/clock.ts';
import { withDeadline } from '../deadline.ts';
import { errorOfAnswer, SpeechUnavailableError } from '../errors.ts';
import { readText } from '../../kernel/read-text.ts';
import { type PlatformLanguages, readLanguages } from './languages.ts';
import { serviceUrl } from '../service-url.ts';

const TIMEOUT_MS = 10_000;
const MOST_ANSWER_BYTES = 1024 * 1024;

/**
 * Asks the primary recogniser what it knows: `GET {asr_url}/languages`. No credential is sent (ASR doc, "Authentication").
 * @throws SpeechUnavailableError when it does not answer in time; SpeechError by status; the signal's reason when aborted
 */
export async function askLanguages(
  { fetch: fetcher, clock }: { readonly fetch: typeof fetch; readonly clock: Clock },
  asrUrl: string,
  signal: AbortSignal,
): Promise<PlatformLanguages> {
  let response: Response;
  let text: string;
  try {
    [response, text] = await withDeadline(clock, TIMEOUT_MS, [signal], async (limited) => {
      const given = await fetcher(serviceUrl(asrUrl, '/languages'), { redirect: 'manual', signal: limited });
      return [given, await readText(given, MOST_ANSWER_BYTES)];
    });
  } catch (cause) {
    signal.throwIfAborted();
    throw new SpeechUnavailableError('the recogniser does not tell its languages', { cause });
  }
  if (!response.ok) throw errorOfAnswer('languages', response.status, text, response.headers.get('x-request-id') ?? undefined);
  return readLanguages(text);
}
