import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect } from 'vitest';
import { z } from 'zod';
import type { MediaCodec, MessageSink } from '../../../src/carriers/media-codec.ts';

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

/** Keeps what is sent, as a socket would see it. */
export function sink(): MessageSink & { readonly sent: (string | Buffer)[] } {
  const sent: (string | Buffer)[] = [];
  return { sent, ...sinkTo((message) => void sent.push(message)) };
}

/** Keeps what is sent, as the JSON that a socket would see. */
export function jsonSink(): MessageSink & { readonly sent: unknown[] } {
  const sent: unknown[] = [];
  return { sent, ...sinkTo((message) => void sent.push(JSON.parse(String(message)))) };
}

function sinkTo(keep: (message: string | Buffer) => void): MessageSink {
  let room = Buffer.alloc(0);
  return {
    room: (length) => (room = Buffer.alloc(length)),
    send: (kind, length) => keep(kind === 'text' ? room.toString('utf8', 0, length) : room.subarray(0, length)),
    sendText: keep,
  };
}

/**
 * Whatever comes, the codec does not throw, and it reads the audio that follows unless it was told to stop.
 * @param started makes a codec whose session has begun
 * @param words names of events and fields that the carrier has
 */
export function expectSurvival(started: () => MediaCodec, audio: Buffer, isBinary: boolean, ...words: string[]): void {
  const word = fc.constantFrom('event', ...words);
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof({ maxDepth: 3 }, fc.jsonValue(), word, fc.dictionary(word, tie('value'), { maxKeys: 5 })),
  }));
  const message = fc.oneof(
    fc
      .oneof(
        fc.string(),
        fc.json(),
        fc.dictionary(word, value).map((fields) => JSON.stringify(fields)),
        fc.array(word).map((line) => line.join(' ')),
      )
      .map((text) => Buffer.from(text)),
    fc.uint8Array({ maxLength: 700 }).map((bytes) => Buffer.from(bytes)),
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(message, fc.boolean()), { maxLength: 12 }), (messages) => {
      const codec = started();
      const types = messages.map(([bytes, isBytes]) => codec.read(bytes, isBytes, sink()).type);
      expect(codec.read(audio, isBinary, sink()).type === 'audio' || types.includes('stopped')).toBe(true);
    }),
  );
}
