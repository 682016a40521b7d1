// Written from the documents alone, with a bare WebSocket: no helper of the project's own but the tones to send.
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { testPlatform } from '../integration/platform/setup.ts';
import { sayTones } from '../integration/platform/tone-engines.ts';

type Message = Record<string, unknown>;

/** Messages in the order they came, bytes as they are, until the socket closes. */
async function* messages(socket: WebSocket): AsyncGenerator<Message | Buffer> {
  const came: (Message | Buffer)[] = [];
  let wake = (): void => undefined;
  let closed = false;
  socket.on('message', (data: Buffer, isBinary) => {
    came.push(isBinary ? data : (JSON.parse(data.toString()) as Message));
    wake();
  });
  socket.on('close', () => {
    closed = true;
    wake();
  });
  for (;;) {
    const next = came.shift();
    if (next !== undefined) yield next;
    else if (closed) return;
    else await new Promise<void>((resolve) => (wake = resolve));
  }
}

describe('a session written from the documents', () => {
  const test = testPlatform();

  const address = (http: string, path: string): string => http.replace('http', 'ws') + path;

  it('is recognised turn by turn: init, ready, audio, commit, finals, end', async () => {
    const socket = new WebSocket(address(test.platform.asrUrl, '/v1/realtime'));
    const incoming = messages(socket);
    await once(socket, 'open');
    socket.send(JSON.stringify({ token: await test.token(), language_code: 'en', sample_rate: 8000 }));
    expect((await incoming.next()).value).toMatchObject({ type: 'ready' });

    const turn = (word: 'alpha' | 'bravo'): void => {
      const pcm = sayTones([word], 8000);
      // 100 ms a frame, little-endian.
      for (let at = 0; at < pcm.length; at += 800) {
        const frame = Buffer.alloc(2 * Math.min(800, pcm.length - at));
        for (let index = 0; 2 * index < frame.length; index += 1) frame.writeInt16LE(pcm[at + index]!, 2 * index);
        socket.send(frame);
      }
    };
    turn('alpha');
    socket.send('commit');
    const finals: string[] = [];
    const closed = once(socket, 'close');
    for await (const message of incoming) {
      expect(Buffer.isBuffer(message)).toBe(false);
      const { type, text } = message as Message;
      expect(['partial', 'final']).toContain(type);
      if (type !== 'final') continue;
      finals.push(String(text));
      // The first turn is over: the second follows on the same socket.
      if (finals.length === 1) {
        turn('bravo');
        socket.send('end');
      }
    }
    expect(finals.join(' ')).toMatch(/alpha .*bravo/i);
    expect((await closed)[0]).toBe(1000);
  });

  it('is told why it is refused, then closed with 1008', async () => {
    const socket = new WebSocket(address(test.platform.asrUrl, '/v1/realtime'));
    const incoming = messages(socket);
    await once(socket, 'open');
    const closed = once(socket, 'close');
    socket.send(JSON.stringify({ token: 'not-a-token', language_code: 'en', sample_rate: 8000 }));
    const { value } = await incoming.next();
    expect(value).toEqual({ type: 'error', error: expect.any(String) });
    const [code, reason] = (await closed) as [number, Buffer];
    expect([code, reason.toString()]).toEqual([1008, (value as Message)['error']]);
  });

  /** What one synthesis sends: chunk and audio in turn, then the completion. */
  async function spoken(incoming: AsyncGenerator<Message | Buffer>): Promise<{ bytes: Buffer; completion: Message }> {
    const audio: Buffer[] = [];
    for (;;) {
      const { value } = await incoming.next();
      const message = value as Message;
      if (message['type'] === 'completion') return { bytes: Buffer.concat(audio), completion: message };
      expect(message).toMatchObject({ type: 'chunk', chunk_index: audio.length, format: 'pcm' });
      const { value: frame } = await incoming.next();
      expect(Buffer.isBuffer(frame)).toBe(true);
      audio.push(frame as Buffer);
    }
  }
  const text = { model: 'zero-indic', voice: 'Rajesh', input: 'Hello' };
  type Way = (token: string) => { query: string; headers: Record<string, string>; send: object[] };
  const ways: readonly (readonly [string, Way])[] = [
    [
      'one message with everything',
      (token) => ({ query: '', headers: { Authorization: `Bearer ${token}` }, send: [{ ...text, response_format: 'pcm' }] }),
    ],
    [
      'a config message, then the text',
      (token) => ({
        query: '',
        headers: { Authorization: `Bearer ${token}` },
        send: [{ type: 'config', model: text.model, voice: text.voice, response_format: 'pcm' }, { ...text }],
      }),
    ],
    [
      'settings and token in the address, as a browser does',
      (token) => ({ query: `?model=zero-indic&voice=Rajesh&encoding=pcm&token=${token}`, headers: {}, send: [{ ...text }] }),
    ],
  ];

  it.each(ways)('is spoken to: %s', async (_name, way) => {
    const { query, headers, send } = way(await test.token());
    const socket = new WebSocket(address(test.platform.ttsUrl, `/v1/realtime${query}`), { headers });
    const incoming = messages(socket);
    await once(socket, 'open');
    for (const message of send) socket.send(JSON.stringify(message));
    const { bytes, completion } = await spoken(incoming);
    expect(completion).toMatchObject({ status: 'complete', format: 'pcm' });
    const seconds = bytes.length / 2 / Number(completion['sample_rate']);
    expect(completion['total_duration_seconds']).toBeCloseTo(seconds, 3);
    socket.close();
    await once(socket, 'close');
  });
});
