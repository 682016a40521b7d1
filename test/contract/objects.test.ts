import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Secret } from '../../src/config/secrets.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { diskObjects } from '../../src/records/objects/disk.ts';
import { objectKey, type ObjectStore } from '../../src/records/objects/port.ts';
import { s3Objects } from '../../src/records/objects/s3.ts';
import { temporaryFolder } from '../support/databases.ts';
import { type S3StandIn, S3_CREDENTIALS, startS3 } from '../support/s3-server.ts';

async function* inParts(bytes: Buffer, size = 100_000): AsyncIterable<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function collect(parts: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const part of parts) pieces.push(part);
  return Buffer.concat(pieces);
}

const s3On = (server: S3StandIn, secret = S3_CREDENTIALS.secretAccessKey, lockDays?: number): ObjectStore =>
  s3Objects(
    {
      endpoint: `${server.url}/`,
      bucket: 'calls',
      region: S3_CREDENTIALS.region,
      prefix: 'off hook/',
      accessKeyId: new Secret(S3_CREDENTIALS.accessKeyId),
      secretAccessKey: new Secret(secret),
      lockDays,
    },
    systemClock,
  );

describe.each(['a folder', 'an S3-compatible server'] as const)('objects in %s', (place) => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let server: S3StandIn;
  let objects: ObjectStore;

  beforeAll(async () => {
    folder = await temporaryFolder();
    server = await startS3();
    objects = place === 'a folder' ? diskObjects(join(folder.path, 'objects')) : s3On(server);
  });
  afterAll(async () => {
    expect(server.refused).toEqual([]);
    await server[Symbol.asyncDispose]();
    await folder[Symbol.asyncDispose]();
  });

  it('come back whole and in ranges, and are gone when removed', async () => {
    const bytes = randomBytes(250_000);
    const key = objectKey('tenant +1/…', '..', 'call.wav');
    await objects.put(key, inParts(bytes), bytes.length);
    expect(await objects.size(key)).toBe(bytes.length);
    expect(await collect(objects.read(key, 0, bytes.length))).toEqual(bytes);
    expect(await collect(objects.read(key, 99_999, 100_002))).toEqual(bytes.subarray(99_999, 100_002));
    await objects.remove(key);
    await objects.remove(key);
    expect(await objects.size(key)).toBeUndefined();
    await expect(collect(objects.read(key, 0, 5))).rejects.toMatchObject({ code: 'OFFHOOK_OBJECT_STORE' });
  });

  it('are replaced whole, and put in parts when they are large', async () => {
    const bytes = randomBytes(17 * 1024 * 1024 + 3);
    await objects.put('large', inParts(Buffer.from('before')), 6);
    await objects.put('large', inParts(bytes, 1_000_000), bytes.length);
    expect(await objects.size('large')).toBe(bytes.length);
    expect((await collect(objects.read('large', 0, bytes.length))).equals(bytes)).toBe(true);
  });

  it('keep the old object whole when the source of a new one fails', async () => {
    await objects.put('source', inParts(Buffer.from('before')), 6);
    async function* failing(): AsyncIterable<Uint8Array> {
      yield Buffer.alloc(9 * 1024 * 1024);
      throw new Error('the file is gone');
    }
    await expect(objects.put('source', failing(), 10 * 1024 * 1024)).rejects.toThrow();
    expect(await collect(objects.read('source', 0, 6))).toEqual(Buffer.from('before'));
    if (place === 'a folder')
      expect((await readdir(join(folder.path, 'objects'))).filter((name) => name.includes('tmp'))).toEqual([]);
  });
});

describe('an S3-compatible server', () => {
  it('reports a wrong secret and a bucket that is away by their codes', async () => {
    await using server = await startS3();
    const wrong = s3On(server, 'wrong').put('a', inParts(Buffer.from('x')), 1);
    await expect(wrong).rejects.toMatchObject({
      message: expect.stringContaining('403 SignatureDoesNotMatch'),
      facts: { status: 403 },
    });
    expect(server.objects.size).toBe(0);
    server.failing = 503;
    await expect(s3On(server).size('a')).rejects.toMatchObject({ code: 'OFFHOOK_OBJECT_STORE', retryable: true });
  });

  it('locks objects for days where it is told to, small and large ones', async () => {
    await using server = await startS3();
    const objects = s3On(server, S3_CREDENTIALS.secretAccessKey, 30);
    await objects.put('small', inParts(Buffer.from('x')), 1);
    await objects.put('large', inParts(Buffer.alloc(9 * 1024 * 1024)), 9 * 1024 * 1024);
    for (const key of ['small', 'large']) {
      const { 'x-amz-object-lock-mode': mode, 'x-amz-object-lock-retain-until-date': until } =
        [...server.headers].find(([name]) => name.endsWith(key))?.[1] ?? {};
      expect(mode).toBe('COMPLIANCE');
      expect(Math.round((Date.parse(String(until)) - Date.now()) / 86_400_000)).toBe(30);
    }
    const small = [...server.headers].find(([name]) => name.endsWith('small'))?.[1];
    expect(small?.['content-md5']).toBe('ndTkYSaMgDT1yFZOFVxnpg==');
  });
});
