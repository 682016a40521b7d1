import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Json, testPlatform, TestSocket } from '../integration/platform/setup.ts';
import { sayTones } from '../integration/platform/tone-engines.ts';

const seed = 20_261_121;
const megabyte = 1024 * 1024;
/** What a server may close with: normal, protocol error, unreadable data, policy, too big. */
const CLOSE_CODES = [1000, 1002, 1007, 1008, 1009];

/** What nobody who read the documents would send, by kind. */
const badFrame: fc.Arbitrary<string | Buffer> = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.uint8Array({ maxLength: 4_000 }).map((bytes) => Buffer.from(bytes)),
  fc.json({ maxDepth: 4 }),
  fc.constantFrom('null', '[]', '1e999', '"\\ud800"', '{"type":"config"}', '{"__proto__":{"a":1}}', 'commit', 'end', '{', ''),
  fc
    .record(
      {
        token: fc.constantFrom('x', '', null, 1),
        sample_rate: fc.constantFrom(NaN, -1, 1e300, 0, '8000', null, 7999.5, 8000),
        language_code: fc.constantFrom('xx', '', 7, '\ud800', 'en'),
        model: fc.constantFrom('zero-indic', 1, ''),
        input: fc.constantFrom('', ' ', 'x'.repeat(10_001), '\ud83d'.repeat(50), 'hello', null),
        voice: fc.constantFrom('Nobody', '', 'Nisha', 3),
        speed: fc.constantFrom(1e300, -1, '1', NaN, 1),
        boost_phrases: fc.constantFrom('a', ['a'], {}, 'a||'.repeat(5_000)),
      },
      { requiredKeys: [] },
    )
    .map((message) => JSON.stringify(message)),
);

describe(`bad input on the platform's sockets (seed ${seed})`, () => {
  const test = testPlatform();

  const synthesis = async (): Promise<TestSocket> =>
    TestSocket.open(`${test.platform.ttsUrl}/v1/realtime`, { authorization: `Bearer ${await test.token()}` });

  /** Whatever was sent, a new client is served as if nothing had been. */
  const expectStillServed = async (): Promise<void> => {
    await using hearing = await TestSocket.ready(test);
    hearing.pcm(sayTones(['alpha'], 8_000));
    hearing.text('end');
    await hearing.untilClosed();
    const texts: unknown[] = hearing.of('final').map((event: Json) => event['text']);
    expect(texts.filter((text) => text !== '')).toEqual(['alpha']);
    await using speaking = await synthesis();
    speaking.json({ model: 'zero-indic', input: 'alpha', voice: 'Nisha' });
    await speaking.until(() => speaking.of('completion').length === 1);
  };

  const sendAll = async (socket: TestSocket, frames: readonly (string | Buffer)[]): Promise<void> => {
    for (const frame of frames) socket.socket.send(frame);
    // A frame that can be read at once may be answered with less than a close; a malformed JSON text never is.
    socket.socket.send('{"this is": no JSON');
    const { code } = await socket.untilClosed();
    expect(CLOSE_CODES).toContain(code);
    const error = socket.of('error')[0];
    if (code === 1008) expect(error).toMatchObject({ type: 'error', error: expect.any(String) });
  };

  it('before the init frame ends in an error and a close', async () => {
    const frames = fc.array(badFrame, { maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(frames, async (sent) => {
        await using socket = await TestSocket.open(`${test.platform.asrUrl}/v1/realtime`);
        await sendAll(socket, sent);
      }),
      { seed, numRuns: 300 },
    );
    await expectStillServed();
  });

  it('in a running recognition ends that one in an error and a close', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(badFrame, { maxLength: 4 }), async (sent) => {
        await using socket = await TestSocket.ready(test);
        await sendAll(socket, sent);
      }),
      { seed, numRuns: 200 },
    );
    await expectStillServed();
  });

  it('on a synthesis socket ends in an error and a close', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(badFrame, { maxLength: 3 }), async (sent) => {
        await using socket = await synthesis();
        await sendAll(socket, sent);
      }),
      { seed, numRuns: 200 },
    );
    await expectStillServed();
  });

  it('a thousand sockets that say nothing cost little and block nobody', async () => {
    const before = process.memoryUsage().rss;
    const silent = await Promise.all(Array.from({ length: 1_000 }, () => TestSocket.open(`${test.platform.asrUrl}/v1/realtime`)));
    // Client and server live in this process: both ends are counted.
    expect((process.memoryUsage().rss - before) / megabyte).toBeLessThan(200);
    await expectStillServed();
    await Promise.all(silent.map((socket) => socket[Symbol.asyncDispose]()));
    await expectStillServed();
  });
});
