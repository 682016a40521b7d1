import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { systemClock } from '../../src/kernel/clock.ts';
import { silentLogger } from '../../src/observability/logger.ts';
import { SpeechPlatform } from '../../src/speech/platform.ts';
import { temporaryFolder } from '../support/databases.ts';
import { MemoryWatch } from './memory-watch.ts';

const BYTES = 500 * 1024 * 1024;

it('uploads 500 MB from disk in under 100 MB of memory, and tells how far it is', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'long.wav');
  const file = await open(path, 'w');
  // Sparse: it takes no room on disk.
  await file.truncate(BYTES);
  await file.close();
  let received = 0;
  let declared = 0;
  const server = createServer((request, response) => {
    declared = Number(request.headers['content-length']);
    request.on('data', (part: Buffer) => (received += part.length));
    request.on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end('{"text":"all of it"}'));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const asrUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    await using client = new SpeechPlatform({ asrUrl, token: 'a-token' }, { clock: systemClock, logger: silentLogger });
    const watch = new MemoryWatch();
    const told: number[] = [];
    const onProgress = (sent: number, total: number): void => {
      expect(total).toBe(BYTES);
      told.push(sent);
    };
    const result = await client.transcribe({ path }, { language: 'en' }, new AbortController().signal, { onProgress });
    expect(result.text).toBe('all of it');
    expect(received).toBeGreaterThan(BYTES);
    expect(received).toBe(declared);
    expect(told.length).toBeGreaterThan(100);
    expect(told.at(-1)).toBe(BYTES);
    expect(told).toEqual([...told].sort((one, other) => one - other));
    expect(watch.grownMb).toBeLessThan(100);
  } finally {
    server.close();
  }
}, 120_000);
