import { z } from 'zod';
import { SpeechProtocolError } from './errors.ts';
import type { SpeechAnswer } from './requests.ts';

/** An error keeps less of it. */
const MOST_TOLD = 8_000;

/**
 * Reads a JSON answer by its shape.
 * @param what names the answer in the error, for example `the speaker list`
 * @returns what the shape makes of it, and the answer's own JSON
 * @throws SpeechProtocolError with the request id and the raw body
 */
export function readAnswer<Output>(
  shape: z.ZodType<Output>,
  { text, requestId, status, attempts, mask }: SpeechAnswer,
  what: string,
): { readonly data: Output; readonly value: unknown } {
  const wrong = (message: string): SpeechProtocolError => {
    const body = mask(text.slice(0, MOST_TOLD));
    return new SpeechProtocolError(mask(message), { status, requestId, body, attempts });
  };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // Its own error repeats the text, with whatever is in it.
    throw wrong(`${what} is not JSON`);
  }
  const parsed = shape.safeParse(value);
  if (!parsed.success) throw wrong(`${what} cannot be read: ${z.prettifyError(parsed.error)}`);
  return { data: parsed.data, value };
}

/** What the shape makes of a JSON answer. @throws as `readAnswer` */
export function parseAnswer<Output>(shape: z.ZodType<Output>, answer: SpeechAnswer, what: string): Output {
  return readAnswer(shape, answer, what).data;
}
