import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { MessageSink } from '../../../src/carriers/media-codec.ts';

const read = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`../../fixtures/wire/twilio/${name}`, import.meta.url), 'utf8'));
const anything = z.record(z.string(), z.unknown());

export const session = z
  .object({ messages: z.array(z.object({ message: anything, reads: anything })) })
  .parse(read('session.json')).messages;
export const outbound = z.object({ media: anything, mark: anything, clear: anything }).parse(read('outbound.json'));
export const refusedCases = z
  .object({
    cases: z.array(
      z.object({
        note: z.string(),
        started: z.boolean(),
        fatal: z.boolean().default(false),
        text: z.string().optional(),
        message: anything.optional(),
        problem: z.string(),
      }),
    ),
  })
  .parse(read('refused.json')).cases;
const signed = z.object({ note: z.string(), url: z.string(), signature: z.string() });
export const signatures = z
  .object({
    token: z.string(),
    params: z.record(z.string(), z.string()),
    cases: z.array(signed),
    json: z.object({ url: z.string(), body: z.string(), signature: z.string() }),
  })
  .parse(read('signatures.json'));

/** A message of the recorded session by its event name. */
export function message(event: string): Record<string, unknown> {
  const found = session.find(({ message }) => message['event'] === event);
  if (found === undefined) throw new Error(`no ${event} in the session`);
  return structuredClone(found.message);
}

/** Keeps what is sent, as the JSON that a socket would see. */
export function jsonSink(): MessageSink & { readonly sent: unknown[] } {
  const sent: unknown[] = [];
  let room = Buffer.alloc(0);
  return {
    sent,
    room: (length) => (room = Buffer.alloc(length)),
    send: (_, length) => void sent.push(JSON.parse(room.toString('utf8', 0, length))),
    sendText: (message) => void sent.push(JSON.parse(message)),
  };
}
