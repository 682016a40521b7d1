import { createServer, type RequestListener, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { MULAW_8K } from '../../../src/audio/format.ts';
import { sine } from '../../../src/audio/tone.ts';
import { wavFile } from '../../../src/audio/wav.ts';
import { SoundError } from '../../../src/call/outbound/sounds/port.ts';
import { SoundLibrary } from '../../../src/call/outbound/sounds/sound-library.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const WAV = wavFile(sine(440, 1_000, 16_000), 16_000);

let server: Server;
let host: string;
let answer: RequestListener;
let asked = 0;

beforeAll(async () => {
  server = createServer((request, response) => {
    asked += 1;
    answer(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const clock = new ManualClock(0);

function library(): SoundLibrary {
  return new SoundLibrary({ clock, allowedHosts: [host] });
}

async function bytesOf(sounds: SoundLibrary): Promise<number> {
  let bytes = 0;
  const { signal } = new AbortController();
  for await (const part of sounds.play('', `http://${host}/a.wav?key=1`, MULAW_8K, signal)) bytes += part.length;
  return bytes;
}

it('is fetched once for all who want it, and again after ten minutes', async () => {
  answer = (_, response) => response.end(WAV);
  const sounds = library();
  const before = asked;
  expect(await Promise.all([bytesOf(sounds), bytesOf(sounds)])).toEqual([8_000, 8_000]);
  expect(await bytesOf(sounds)).toBe(8_000);
  expect(asked - before).toBe(1);
  clock.advance(600_001);
  expect(await bytesOf(sounds)).toBe(8_000);
  expect(asked - before).toBe(2);
});

it('is not kept when it failed', async () => {
  const sounds = library();
  answer = (_, response) => response.writeHead(503).end();
  await expect(bytesOf(sounds)).rejects.toThrow('HTTP 503');
  answer = (_, response) => response.end(WAV);
  expect(await bytesOf(sounds)).toBe(8_000);
});

it('is refused when it leads elsewhere, is too large, or breaks off', async () => {
  answer = (_, response) => response.writeHead(302, { location: `http://${host}/b.wav` }).end();
  await expect(bytesOf(library())).rejects.toThrow('HTTP 302');
  answer = (_, response) => {
    const block = Buffer.alloc(1024 * 1024);
    const more = (): void => {
      while (!response.destroyed && response.write(block));
      response.once('drain', more);
    };
    more();
  };
  await expect(bytesOf(library())).rejects.toThrow('larger than');
  answer = (_, response) => {
    response.write(WAV.subarray(0, 100));
    response.destroy();
  };
  await expect(bytesOf(library())).rejects.toThrow(SoundError);
});

it('is given up after four seconds', async () => {
  answer = (_, response) => void response.write(WAV.subarray(0, 100));
  const waiting = bytesOf(library());
  const before = asked;
  await expect.poll(() => asked).toBeGreaterThan(before);
  clock.advance(4_001);
  await expect(waiting).rejects.toThrow('did not come within 4000 ms');
});
