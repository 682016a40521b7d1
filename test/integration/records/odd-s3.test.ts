import { once } from 'node:events';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { S3Source } from '../../../src/cli/analyse/s3-source.ts';
import { Secret } from '../../../src/config/secrets.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { s3Objects } from '../../../src/records/objects/s3.ts';
import { eventually } from '../../support/eventually.ts';
import { hangs } from '../../support/patience.ts';

const signal = hangs();

async function serving(answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('a TCP server has a port');
  return `http://127.0.0.1:${address.port}`;
}

/** Sends for as long as it is listened to. */
function pour(response: ServerResponse): void {
  const more = (): void => {
    while (!response.destroyed && response.write(Buffer.alloc(256 * 1024, 'x')));
  };
  response.on('drain', more);
  more();
}

function sourceOn(url: string, clock: ManualClock): S3Source {
  return new S3Source({ AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b', AWS_ENDPOINT_URL: url }, clock);
}

async function listed(source: S3Source): Promise<string[]> {
  const names: string[] = [];
  for await (const { name } of source.items('s3://calls', () => true, signal)) names.push(name);
  return names;
}

describe('a bucket that recordings are read from', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'offhook-s3-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it.each(['head', 'list', 'object'] as const)('gives up when the %s of an answer stalls', async (what) => {
    let asked = false;
    const url = await serving((_request, response) => {
      asked = true;
      if (what === 'list') response.write('<ListBucketResult>');
      if (what === 'object') response.write('RIFF');
    });
    const clock = new ManualClock();
    const source = sourceOn(url, clock);
    const place = { kind: 's3', bucket: 'calls', key: 'a.wav' } as const;
    const done = what === 'object' ? source.download(place, join(folder, 'a.wav'), 1e9, signal) : listed(source);
    let isOver = false;
    const refused = expect(done.finally(() => (isOver = true))).rejects.toMatchObject({
      code: 'OFFHOOK_RECORDING_FETCH',
      message: 'the object store sent nothing for 60 s',
      retryable: true,
    });
    await eventually('the request to arrive', () => asked);
    // Each piece that arrives begins the time anew, so it is turned on until the last of them has.
    await eventually('the wait to end', () => {
      clock.advance(10_000);
      return isOver;
    });
    await refused;
    expect(clock.pendingTimers).toBe(0);
  });

  it('reads a slow object for as long as data arrives', async () => {
    let answer: ServerResponse | undefined;
    const url = await serving((_request, response) => (answer = response));
    const clock = new ManualClock();
    const path = join(folder, 'slow.wav');
    const done = sourceOn(url, clock).download({ kind: 's3', bucket: 'calls', key: 'slow.wav' }, path, 1e9, signal);
    await eventually('the request to arrive', () => answer !== undefined);
    for (let pieces = 1; pieces <= 3; pieces += 1) {
      answer?.write('RIFF');
      await eventually('the piece to arrive', async () => (await stat(path).catch(() => undefined))?.size === pieces * 4);
      clock.advance(59_999);
    }
    answer?.end();
    await done;
    expect(clock.pendingTimers).toBe(0);
  });

  it.each([
    { note: 'an endless list', answer: pour, says: 'more than' },
    {
      note: 'a list that goes on from where it is, for ever',
      answer: (response: ServerResponse) =>
        void response.end('<IsTruncated>true</IsTruncated><NextContinuationToken>t</NextContinuationToken>'),
      says: 'where its list goes on',
    },
    {
      note: 'a list that goes on nowhere',
      answer: (response: ServerResponse) => void response.end('<IsTruncated>true</IsTruncated>'),
      says: 'where its list goes on',
    },
    {
      note: 'a key that is no percent encoding',
      answer: (response: ServerResponse) => void response.end('<Contents><Key>%zz</Key></Contents>'),
      says: 'a key that cannot be read',
    },
  ])('is refused for $note', async ({ answer, says }) => {
    const url = await serving((_request, response) => answer(response));
    await expect(listed(sourceOn(url, new ManualClock()))).rejects.toMatchObject({
      code: 'OFFHOOK_RECORDING_FETCH',
      message: expect.stringContaining(says),
      retryable: false,
    });
  });
});

describe('a bucket that recordings are kept in', () => {
  const objectsOn = (endpoint: string, clock: ManualClock) => {
    const [accessKeyId, secretAccessKey] = [new Secret('a'), new Secret('b')];
    return s3Objects({ endpoint, bucket: 'calls', region: 'eu', prefix: '', accessKeyId, secretAccessKey }, clock);
  };

  it.each([200, 206, 503])('bounds the memory of an endless answer with status %i', async (status) => {
    const url = await serving((_request, response) => pour(response.writeHead(status)));
    const read = objectsOn(url, new ManualClock()).read('a', 0, 100, signal)[Symbol.asyncIterator]();
    await expect(read.next()).rejects.toMatchObject({ code: 'OFFHOOK_OBJECT_STORE' });
  });

  it('gives up when its answer stalls in the middle', async () => {
    let asked = false;
    const url = await serving((_request, response) => {
      asked = true;
      response.writeHead(206).write('RIFF');
    });
    const clock = new ManualClock();
    const read = objectsOn(url, clock).read('a', 0, 100, signal)[Symbol.asyncIterator]();
    const refused = expect(read.next()).rejects.toMatchObject({ code: 'OFFHOOK_OBJECT_STORE', retryable: true });
    await eventually('the request to arrive', () => asked);
    clock.advance(120_000);
    await refused;
    expect(clock.pendingTimers).toBe(0);
  });

  it("refuses an answer without the object's length", async () => {
    const url = await serving((_request, response) => response.writeHead(200, { 'transfer-encoding': 'chunked' }).end());
    await expect(objectsOn(url, new ManualClock()).size('a', signal)).rejects.toThrow('how long');
  });
});
