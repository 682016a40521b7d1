import fc from 'fast-check';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { wavHeader } from '../../src/audio/wav.ts';
import { startTestPlatform, type TestPlatform } from '../integration/platform/setup.ts';
import { requireTool } from '../support/requires.ts';
import { tinyHours } from '../unit/audio/media/tiny-hours.ts';

const fixtures = join(import.meta.dirname, '../fixtures/audio');
const hasFfmpeg = requireTool('ffmpeg') !== undefined;
const seed = 20_240_607;
const megabyte = 1024 * 1024;

/** Runs the task, and tells by how much the process grew at its largest. */
async function growthOf<Value>(task: () => Promise<Value>): Promise<{ value: Value; megabytes: number }> {
  const before = process.memoryUsage().rss;
  let most = before;
  const timer = setInterval(() => {
    most = Math.max(most, process.memoryUsage().rss);
  }, 20);
  try {
    const value = await task();
    return { value, megabytes: (Math.max(most, process.memoryUsage().rss) - before) / megabyte };
  } finally {
    clearInterval(timer);
  }
}

describe('bad input over HTTP', () => {
  let test: TestPlatform;
  /** Each takes a file; what it answers is held against the documented statuses. */
  let targets: { name: string; url: string; headers: Record<string, string> }[];
  beforeAll(async () => {
    test = await startTestPlatform({ limits: { audioBytes: 100 * megabyte } });
    const token = { authorization: `Bearer ${await test.token()}` };
    const key = { authorization: `Bearer ${test.platform.apiKey}` };
    const { asrUrl, asrAltUrl, medUrl } = test.platform;
    targets = [
      { name: 'transcription', url: `${asrUrl}/v1/audio/transcriptions`, headers: token },
      { name: 'transcription at Variant B', url: `${asrAltUrl}/v1/audio/transcriptions`, headers: key },
      { name: 'speaker registration', url: `${asrUrl}/v1/speakers/register`, headers: token },
      { name: 'speaker identification', url: `${asrAltUrl}/v1/speakers/identify`, headers: key },
      { name: 'medical transcription', url: `${medUrl}/transcribe`, headers: { 'x-api-key': test.platform.apiKey } },
    ];
  });
  afterAll(() => test[Symbol.asyncDispose]());

  type Target = (typeof targets)[number];
  const send = async ({ url, headers }: Target, body: Buffer | string, contentType: string) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': contentType },
      body: Buffer.from(body),
    });
    return { status: response.status, text: await response.text() };
  };
  const multipart = 'multipart/form-data; boundary=x';
  const formOf = (bytes: Uint8Array): Buffer =>
    Buffer.concat([
      Buffer.from('--x\r\nContent-Disposition: form-data; name="name"\r\n\r\nAsha\r\n'),
      Buffer.from('--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n'),
      bytes,
      Buffer.from('\r\n--x--\r\n'),
    ]);
  const stillWell = async (): Promise<void> => {
    for (const base of [test.platform.asrUrl, test.platform.asrAltUrl, test.platform.medUrl]) {
      expect((await fetch(`${base}/health`)).status).toBe(200);
    }
    // Whoever was cut off may still be cleaned up after.
    await expect.poll(() => uploads()).toEqual([]);
    expect(test.recognition.openStreams).toBe(0);
  };
  const uploads = (): string[] => {
    try {
      return readdirSync(join(test.dataDir, 'uploads'));
    } catch {
      return [];
    }
  };

  it('multipart bodies of shuffled pieces and bytes are a 4xx with a JSON body', async () => {
    const heads = ['Content-Disposition: form-data', '; name="file"', '; name="audio_base64"', '; name="url"', '; name=""'];
    const marks = [
      '--x',
      '--x--',
      '\r\n',
      '\r\n\r\n',
      '; filename="a.wav"',
      '; name="__proto__"',
      'RIFF',
      '\0',
      '"',
      ';',
      ':',
      '=',
    ];
    const piece = fc.constantFrom(...heads, ...marks);
    const body = fc.array(fc.oneof(piece, piece, fc.uint8Array({ maxLength: 40 })), { maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(fc.nat(targets.length - 1), body, async (target, pieces) => {
        const bytes = Buffer.concat(pieces.map((each) => Buffer.from(each)));
        const { status, text } = await send(targets[target]!, bytes, multipart);
        expect([400, 413, 415, 422]).toContain(status);
        expect(typeof JSON.parse(text)).toBe('object');
      }),
      { numRuns: 600, seed },
    );
    await stillWell();
  });

  it('a sound form with changed bytes is answered 200 or 4xx', async () => {
    const sound = formOf(readFileSync(join(fixtures, 'tones.flac')));
    await fc.assert(
      fc.asyncProperty(
        fc.nat(targets.length - 1),
        fc.array(fc.tuple(fc.nat(sound.length - 1), fc.nat(255)), { minLength: 1, maxLength: 6 }),
        async (target, edits) => {
          const body = Buffer.from(sound);
          for (const [at, value] of edits) body[at] = value;
          expect([200, 400, 415]).toContain((await send(targets[target]!, body, multipart)).status);
        },
      ),
      { numRuns: 40, seed },
    );
    await stillWell();
  });

  it('noise that begins like a container is a 415, or audio after all', async () => {
    const starts = [
      'RIFF\xff\0\0\0WAVEfmt ',
      'ID3\x04\0\0\0\0\0\0',
      '\xff\xfb\x90\x64',
      'fLaC\0\0\0\x22',
      'OggS\0\x02',
      '\0\0\0\x18ftypM4A ',
      '\x1aE\xdf\xa3\x9f',
      '\xff\xf1\x50\x80',
      '0&\xb2\x75\x8e\x66\xcf\x11',
    ];
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...starts), fc.uint8Array({ maxLength: 3000 }), async (start, rest) => {
        const { status } = await send(targets[0]!, formOf(Buffer.concat([Buffer.from(start, 'latin1'), rest])), multipart);
        expect([200, 415]).toContain(status);
      }),
      { numRuns: 80, seed },
    );
    await stillWell();
  });

  it('JSON bodies of any shape at Variant B are a 4xx in its envelope', async () => {
    const url = fc.oneof(
      fc.webUrl(),
      fc.string(),
      fc.ipV4().map((ip) => `https://${ip.replace(/^\d+/, '127')}/`),
    );
    const body = fc.oneof(
      fc.json(),
      fc.string(),
      fc.record({ url: fc.constant('http://127.0.0.1/'), model: fc.json() }).map((value) => JSON.stringify(value)),
    );
    await fc.assert(
      fc.asyncProperty(body, url, async (text, address) => {
        for (const each of [text, JSON.stringify({ url: address.replace(/^https:/, 'ftp:') })]) {
          const answer = await send(targets[1]!, each, 'application/json');
          expect([400, 413, 422]).toContain(answer.status);
          expect(JSON.parse(answer.text)).toMatchObject({ success: false, error: { code: 'invalid_request' } });
        }
      }),
      { numRuns: 150, seed },
    );
    await stillWell();
  });

  it('a body shorter or longer than it says does no harm', async () => {
    const body = formOf(readFileSync(join(fixtures, 'tones.mp3')));
    for (const said of [0, 10, body.length - 50, body.length + 50, 10 ** 9, 10 ** 15]) {
      for (const { url, headers } of targets) {
        const { port, pathname } = new URL(url);
        const socket = connect(Number(port), '127.0.0.1');
        socket.on('error', () => undefined);
        const lines = Object.entries({ ...headers, host: 'x', 'content-type': multipart, 'content-length': String(said) });
        socket.write(`POST ${pathname} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`);
        socket.write(body);
        socket.end();
        const chunks: Buffer[] = [];
        socket.on('data', (chunk: Buffer) => chunks.push(chunk));
        await once(socket, 'close');
        const status = Buffer.concat(chunks).toString('latin1').slice(9, 12);
        expect(['', '200', '400', '413', '415']).toContain(status);
      }
    }
    await stillWell();
  });

  it('a WAV header that says four gigabytes, or four hundred years, is a 415 or a 400', async () => {
    for (const dataBytes of [0x7ffe_0000, 0x7000_0000]) {
      const header = wavHeader({ rateHz: 8000, channels: 1, dataBytes, encoding: 'pcm16' });
      const { status } = await send(targets[0]!, formOf(Buffer.concat([header, Buffer.alloc(2000)])), multipart);
      expect(status).toBe(415);
    }
  });

  it('a tiny file that holds hours is refused within bounded memory, with ffmpeg and without', async () => {
    const bomb = formOf(tinyHours(5));
    const { value, megabytes } = await growthOf(() => send(targets[0]!, bomb, multipart));
    expect([value.status, megabytes < 200]).toEqual([hasFfmpeg ? 400 : 413, true]);
    await using bare = await startTestPlatform({ media: { ffmpeg: 'no-such-ffmpeg' } });
    const alone = { ...targets[0]!, url: `${bare.platform.asrUrl}/v1/audio/transcriptions` };
    const headers = { authorization: `Bearer ${await bare.token()}` };
    const refused = await growthOf(() => send({ ...alone, headers }, bomb, multipart));
    expect([refused.value.status, refused.megabytes < 200]).toEqual([413, true]);
    expect(refused.value.text).toContain('30 minutes');
    await stillWell();
  });

  const upload = async ({ url, headers }: Target, parts: Iterable<Uint8Array>): Promise<number> => {
    const request = httpRequest(url, { method: 'POST', headers: { ...headers, 'content-type': multipart } });
    const answered = once(request, 'response');
    await pipeline(Readable.from(parts), request);
    const [response] = (await answered) as [IncomingMessage];
    response.resume();
    await once(response, 'end');
    return response.statusCode ?? 0;
  };
  const head = (name: string): Buffer => Buffer.from(`--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n`);
  const tail = Buffer.from('\r\n--x--\r\n');

  it('two hours of WAV are read in less than 100 MB, as a file and as base64', async () => {
    const seconds = 7200;
    const header = Buffer.from(wavHeader({ rateHz: 8000, channels: 1, dataBytes: seconds * 8000, encoding: 'mulaw' }));
    // Divisible by three, so that each piece is base64 of its own.
    const second = Buffer.alloc(7998, 0xff);
    function* file(): Generator<Buffer> {
      yield Buffer.concat([header, Buffer.alloc(1, 0xff)]);
      for (let left = seconds * 8000 - 1; left > 0; left -= second.length)
        yield second.subarray(0, Math.min(left, second.length));
    }
    function* asFile(): Generator<Buffer> {
      yield head('file');
      yield* file();
      yield tail;
    }
    function* asBase64(): Generator<Buffer> {
      yield head('audio_base64');
      for (const block of file()) yield Buffer.from(block.toString('base64'));
      yield tail;
    }
    for (const parts of [asFile, asBase64]) {
      const { value, megabytes } = await growthOf(() => upload(targets[0]!, parts()));
      expect([value, megabytes < 100 ? 'small' : `${megabytes} MB`]).toEqual([200, 'small']);
    }
    await stillWell();
  });
});
