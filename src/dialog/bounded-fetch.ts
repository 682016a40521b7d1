import { DialogServerError } from './wire.ts';

/** Limits of one answer in bytes, about 250 a token of a model, and of one of its events. */
const MOST_ANSWER_BYTES = 16 * 1024 * 1024;
const MOST_EVENT_BYTES = 512 * 1024;
const EVENT_ENDS = ['\n\n', '\r\n\r\n', '\r\r'] as const;

/** `fetch` with a limited answer: clients buffer an event until it ends, and searches all of it at each read. */
export const boundedFetch: typeof fetch = async (input, init) => {
  const response = await fetch(input, init);
  if (response.body === null) return response;
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(bounded()), { status, statusText, headers });
};

function bounded(): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  let bytes = 0;
  let eventBytes = 0;
  return new TransformStream({
    transform(part, controller) {
      bytes += part.length;
      const end = Math.max(...EVENT_ENDS.map((mark) => Buffer.from(part.buffer, part.byteOffset, part.length).lastIndexOf(mark)));
      eventBytes = end === -1 ? eventBytes + part.length : part.length - end;
      if (bytes > MOST_ANSWER_BYTES) throw tooLong(`${MOST_ANSWER_BYTES} bytes`);
      if (eventBytes > MOST_EVENT_BYTES) throw tooLong(`${MOST_EVENT_BYTES} bytes in one event`);
      controller.enqueue(part);
    },
  });
}

function tooLong(most: string): DialogServerError {
  return new DialogServerError(`the server's answer is longer than ${most}`, { retryable: false });
}
