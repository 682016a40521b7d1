import { createHash } from 'node:crypto';
import { Writable } from 'node:stream';
import fc from 'fast-check';
import * as ws from 'ws';
import { describe, expect, it } from 'vitest';
import { WholeMessages } from '../../../../src/kernel/websocket/lent-reads.ts';

// Of `ws`, without a type of their own.
const { Receiver, Sender } = ws as unknown as {
  Receiver: new (options: { isServer: boolean }) => Writable;
  Sender: new (stream: Writable) => {
    send(data: Buffer, options: { fin: boolean; binary: boolean; mask: boolean; compress: boolean }): void;
    ping(data: Buffer, mask: boolean): void;
    pong(data: Buffer, mask: boolean): void;
  };
};

interface Message {
  readonly kind: 'text' | 'binary' | 'ping' | 'pong';
  readonly data: Buffer;
  readonly fragments: number;
}

const message: fc.Arbitrary<Message> = fc.record({
  kind: fc.constantFrom('text', 'text', 'binary', 'binary', 'ping', 'pong'),
  data: fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 40 }).map((text) => Buffer.from(text)),
    // On both sides of the lengths that are written in another way.
    fc.constantFrom(0, 1, 125, 126, 127, 400).map((length) => Buffer.alloc(length, 'a')),
    fc.constantFrom(0, 1).map((more) => Buffer.alloc(65_535 + more, 'a')),
  ),
  fragments: fc.constantFrom(1, 1, 1, 2, 3),
});

describe.each([
  ['a client', true],
  ['a server', false],
])('messages that come whole from %s', (_who, masked) => {
  it('are found, and make the whole stream in order with a full reader of the rest, however it is cut', () => {
    fc.assert(
      fc.property(
        fc.array(message, { maxLength: 12 }),
        fc.array(fc.integer({ min: 1, max: 1500 }), { minLength: 1 }),
        (all, cuts) => {
          const sent = all.map((one) =>
            one.kind === 'ping' || one.kind === 'pong' ? { ...one, data: one.data.subarray(0, 125) } : one,
          );
          const { heard } = read(framed(sent, masked), cuts, masked);
          expect(heard).toEqual(sent.map(told));
        },
      ),
      { numRuns: 200 },
    );
  });

  it('need no other reader when a read has nothing else', () => {
    const messages: Message[] = ['one', 'two', 'x'.repeat(3000)].map((text, at) => ({
      kind: at === 1 ? 'binary' : 'text',
      data: Buffer.from(text),
      fragments: 1,
    }));
    const { heard, restBytes } = read(framed(messages, masked), [100_000], masked);
    expect(heard).toEqual(messages.map(told));
    expect(restBytes).toBe(0);
  });

  it('are passed on unchanged when they are refused', () => {
    const texts: Message[] = ['one', 'two'].map((text) => ({ kind: 'text', data: Buffer.from(text), fragments: 1 }));
    const bytes = framed(texts, masked);
    const rest: Buffer[] = [];
    const reader = new WholeMessages(masked);
    const sink = { message: () => false, rest: (part: Buffer) => void rest.push(Buffer.from(part)) };
    reader.read(Buffer.from(bytes), bytes.length, sink);
    expect(Buffer.concat(rest)).toEqual(bytes);
  });

  it('are not found inside a fragmented message, nor with a wrong mask bit', () => {
    // A first fragment, then a text where only its continuation may come.
    const fragmented = masked ? [0x01, 0x80, 1, 2, 3, 4, 0x81, 0x80, 1, 2, 3, 4] : [0x01, 0x00, 0x81, 0x02, 0x61, 0x61];
    const otherwise = framed([{ kind: 'text', data: Buffer.from('a text'), fragments: 1 }], !masked);
    for (const wrong of [Buffer.from(fragmented), otherwise]) {
      const seen: string[] = [];
      new WholeMessages(masked).read(Buffer.from(wrong), wrong.length, {
        message: () => seen.push('message') > 0,
        rest: (part) => void seen.push(part.toString('hex')),
      });
      expect(seen).toEqual([wrong.toString('hex')]);
    }
  });
});

const told = ({ kind, data }: Pick<Message, 'kind' | 'data'>): string =>
  `${kind} of ${data.length}: ${data.length < 50 ? data.toString('hex') : createHash('sha256').update(data).digest('hex')}`;

/** As a client's socket sends it, or a server's. */
function framed(messages: readonly Message[], mask: boolean): Buffer {
  const parts: Buffer[] = [];
  const stream = new Writable({
    write(part: Buffer, _encoding, done) {
      parts.push(Buffer.from(part));
      done();
    },
  });
  const sender = new Sender(stream);
  for (const { kind, data, fragments } of messages) {
    if (kind === 'ping') sender.ping(data, mask);
    else if (kind === 'pong') sender.pong(data, mask);
    else
      for (let part = 0; part < fragments; part += 1) {
        const at = (share: number): number => Math.floor((data.length * share) / fragments);
        const bytes = data.subarray(at(part), at(part + 1));
        sender.send(bytes, { fin: part === fragments - 1, binary: kind === 'binary', mask, compress: false });
      }
  }
  return Buffer.concat(parts);
}

/** Reads bytes in pieces into memory that is used again, and gives what is not told to the receiver of `ws`. */
function read(bytes: Buffer, cuts: readonly number[], masked: boolean): { readonly heard: string[]; readonly restBytes: number } {
  const heard: string[] = [];
  let restBytes = 0;
  const hear = (kind: Message['kind'], data: Buffer): boolean => heard.push(told({ kind, data })) > 0;
  const receiver = new Receiver({ isServer: masked });
  receiver.on('message', (data: Buffer, isBinary: boolean) => void hear(isBinary ? 'binary' : 'text', data));
  receiver.on('ping', (data: Buffer) => void hear('ping', data));
  receiver.on('pong', (data: Buffer) => void hear('pong', data));
  const memory = Buffer.alloc(65_536);
  const reader = new WholeMessages(masked);
  for (let at = 0, cut = 0; at < bytes.length; cut += 1) {
    const count = Math.min(cuts[cut % cuts.length]!, memory.length, bytes.length - at);
    bytes.copy(memory, 0, at, at + count);
    reader.read(memory, count, {
      message: (payload, isBinary) => hear(isBinary ? 'binary' : 'text', payload),
      rest(part) {
        restBytes += part.length;
        receiver.write(Buffer.from(part));
      },
    });
    at += count;
  }
  return { heard, restBytes };
}
