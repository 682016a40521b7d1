import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import {
  queryMessage,
  welcome,
  CANCEL_REQUEST,
  FrontendFrames,
  PROTOCOL_3,
  SSL_REQUEST,
  endsBatch,
  splitReply,
  sqlOf,
  subscriptionOf,
} from '../../../../src/records/embedded/wire.ts';

function startup(code: number, body = ''): Buffer {
  const bytes = Buffer.alloc(8 + body.length);
  bytes.writeInt32BE(bytes.length);
  bytes.writeInt32BE(code, 4);
  bytes.write(body, 8);
  return bytes;
}

/** Parse of an unnamed statement. */
function parse(sql: string): Buffer {
  const body = Buffer.from(`\0${sql}\0\0\0`);
  const head = Buffer.alloc(5);
  head.write('P');
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

const notification = Buffer.concat([Buffer.from([0x41, 0, 0, 0, 16, 0, 0, 0, 9]), Buffer.from('news\0hi\0')]);
const ready = (status: string): Buffer => Buffer.concat([Buffer.from([0x5a, 0, 0, 0, 5]), Buffer.from(status)]);

describe('a client byte stream', () => {
  it('is cut into the same messages, whatever the chunking', () => {
    const messages = fc.array(
      fc.record({ sql: fc.string(), simple: fc.boolean() }).map(({ sql, simple }) => (simple ? queryMessage(sql) : parse(sql))),
    );
    fc.assert(
      fc.property(messages, fc.array(fc.nat()), (sent, cuts) => {
        const bytes = Buffer.concat([startup(SSL_REQUEST), startup(PROTOCOL_3, 'user\0x\0\0'), ...sent]);
        const places = [0, ...cuts.map((cut) => cut % bytes.length).sort((a, b) => a - b), bytes.length];
        const frames = new FrontendFrames(1_000_000);
        const got = places.flatMap((from, index) => frames.push(bytes.subarray(from, places[index + 1] ?? bytes.length)));
        expect(got.slice(0, 2)).toEqual([
          { kind: 'startup', code: SSL_REQUEST },
          { kind: 'startup', code: PROTOCOL_3 },
        ]);
        expect(got.slice(2).map((frame) => (frame.kind === 'message' ? frame.bytes : undefined))).toEqual(sent);
      }),
    );
  });

  test.each([
    { note: 'longer than allowed', bytes: Buffer.concat([startup(PROTOCOL_3), Buffer.from([0x51, 0, 0, 4, 1])]) },
    { note: 'shorter than its own length', bytes: Buffer.concat([startup(PROTOCOL_3), Buffer.from([0x51, 0, 0, 0, 3])]) },
    { note: 'of negative length', bytes: Buffer.concat([startup(PROTOCOL_3), Buffer.from([0x51, 255, 0, 0, 3])]) },
    { note: 'a startup without a code', bytes: Buffer.from([0, 0, 0, 4]) },
  ])('is refused when a message is $note', ({ bytes }) => {
    expect(() => new FrontendFrames(1_024).push(bytes)).toThrow(RangeError);
  });

  it('may ask to cancel instead of starting', () => {
    expect(new FrontendFrames(100).push(startup(CANCEL_REQUEST, '12345678'))).toEqual([
      { kind: 'startup', code: CANCEL_REQUEST },
    ]);
  });

  it('shows the SQL of queries and of statements to prepare, and of nothing else', () => {
    expect(sqlOf({ type: 'Q', bytes: queryMessage('select 1') })).toBe('select 1');
    expect(sqlOf({ type: 'P', bytes: parse('select $1') })).toBe('select $1');
    expect(sqlOf({ type: 'S', bytes: Buffer.from([0x53, 0, 0, 0, 4]) })).toBeUndefined();
    expect(['P', 'B', 'D', 'E'].some(endsBatch)).toBe(false);
    expect(['S', 'Q'].every(endsBatch)).toBe(true);
  });
});

describe('a reply', () => {
  test.each(['I', 'T', 'E'] as const)('ends in status %s', (status) => {
    expect(splitReply(ready(status))).toEqual({ body: ready(status), notifications: [], status });
  });

  it('is parted from the notifications in it', () => {
    const split = splitReply(Buffer.concat([welcome(1), notification, ready('I')]));
    expect(split.notifications).toEqual([{ channel: 'news', bytes: notification }]);
    expect(split.body).toEqual(Buffer.concat([welcome(1), ready('I')]));
  });

  it('has no status when it stops before the backend is ready', () => {
    expect(splitReply(Buffer.concat([ready('I'), Buffer.from([0x31, 0, 0, 0, 4])])).status).toBeUndefined();
    expect(splitReply(Buffer.alloc(0)).status).toBeUndefined();
  });
});

test.each([
  { sql: 'LISTEN bullmq_jobs', found: { act: 'listen', channel: 'bullmq_jobs' } },
  { sql: '-- Subscribe.\n/* a\nb */ listen Jobs;\n', found: { act: 'listen', channel: 'jobs' } },
  { sql: 'LISTEN "A""b"', found: { act: 'listen', channel: 'A"b' } },
  { sql: 'UNLISTEN *', found: { act: 'unlisten', channel: '*' } },
  { sql: 'select 1 -- listen x', found: undefined },
  { sql: "select 'listen x'", found: undefined },
] as const)('subscriptionOf($sql)', ({ sql, found }) => {
  expect(subscriptionOf(sql)).toEqual(found);
});
