import { z } from 'zod';
import { SpeechProtocolError } from './errors.ts';
import type { SpeechAnswer } from './requests.ts';

/**
 * Reads a JSON answer by its shape.
 * @param what names the answer in the error, for example `the speaker list`
 * @throws SpeechProtocolError with the request id and the raw body
 */
export function parseAnswer<Output>(
  shape: z.ZodType<Output>,
  { text: body, requestId, status, attempts }: SpeechAnswer,
  what: string,
): Output {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch (cause) {
    throw new SpeechProtocolError(`${what} is not JSON`, { status, requestId, body, attempts, cause });
  }
  const parsed = shape.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new SpeechProtocolError(`${what} cannot be read: ${z.prettifyError(parsed.error)}`, {
    status,
    requestId,
    body,
    attempts,
  });
}
