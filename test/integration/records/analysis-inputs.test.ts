import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type BrokenItem, isBroken, type Item, itemsOf, type ItemOptions, watchItems } from '../../../src/cli/analyse/items.ts';
import { S3Source } from '../../../src/cli/analyse/s3-source.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { eventually } from '../../support/eventually.ts';
import { hangs } from '../../support/patience.ts';

describe('what the command is given', () => {
  let folder: string;
  const signal = hangs();
  const options = (): ItemOptions => ({ s3: new S3Source({}, systemClock), outFolder: join(folder, 'out'), signal });
  const all = async (inputs: readonly string[], more: Partial<ItemOptions> = {}): Promise<(Item | BrokenItem)[]> => {
    const found: (Item | BrokenItem)[] = [];
    for await (const item of itemsOf(inputs, { ...options(), ...more })) found.push(item);
    return found;
  };
  const fail = (error: unknown): void => {
    throw new Error('a look failed', { cause: error });
  };
  const names = (items: readonly (Item | BrokenItem)[]): string[] => items.map(({ name }) => name.replace(`${folder}/`, ''));

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'offhook-inputs-'));
    for (const path of [
      'in/b.wav',
      'in/a.MP3',
      'in/deep/c.m4a',
      'in/notes.txt',
      'in/.hidden.wav',
      'out/done.wav',
      'in/deep/out/d.ogg',
    ]) {
      await mkdir(join(folder, path, '..'), { recursive: true });
      await writeFile(join(folder, path), 'x');
    }
    await writeFile(
      join(folder, 'list.csv'),
      'file,agent\nin/b.wav,7\ngone.wav,8\ns3://bucket/,9\nhttps://example.com/a.mp3,10\n',
    );
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('takes recordings of a folder by name, without its own results and what is hidden', async () => {
    expect(names(await all([folder]))).toEqual(['in/a.MP3', 'in/b.wav', 'in/deep/c.m4a', 'in/deep/out/d.ogg']);
  });

  it('takes a pattern, a file of any name, an address, and a list with its broken rows', async () => {
    expect(names(await all([join(folder, 'in/**/*.{m4a,wav}')]))).toEqual(['in/b.wav', 'in/deep/c.m4a']);
    expect(names(await all([join(folder, 'in/notes.txt'), 'https://example.com/x']))).toEqual([
      'in/notes.txt',
      'https://example.com/x',
    ]);
    const listed = await all([join(folder, 'list.csv')]);
    expect(listed.map((item) => (isBroken(item) ? item.reason.split(':')[0] : item.metadata['agent']))).toEqual([
      '7',
      'there is no such file',
      'not an address of an object',
      '10',
    ]);
    expect(names(listed)[1]).toBe('list.csv:3');
  });

  it.each(['nowhere', 'nowhere/*.wav'])('says so when %s names nothing', async (input) => {
    await expect(all([join(folder, input)])).rejects.toThrow(/^(?:there is no|nothing matches)/u);
  });

  it('lists a bucket page by page, whatever its keys are called', async () => {
    const keys = ['2026/a b.wav', '2026/ü&<x>.mp3', '2026/notes.txt', '2026-old/c.wav'];
    const asked: URLSearchParams[] = [];
    const server = createServer((request, response) => {
      const query = new URL(request.url ?? '', 'http://s3').searchParams;
      asked.push(query);
      const from = Number(query.get('continuation-token') ?? 0);
      const contents = keys
        .filter((key) => key.startsWith(query.get('prefix') ?? ''))
        .slice(from, from + 2)
        .map(
          (key) =>
            `<Contents><Key>${encodeURIComponent(key).replaceAll('%20', '+')}</Key><LastModified>2026-01-02T03:04:05.000Z</LastModified><ETag>&quot;e&quot;</ETag></Contents>`,
        );
      const more = from + 2 < keys.length && contents.length === 2;
      response.end(
        `<ListBucketResult><IsTruncated>${more}</IsTruncated>${contents.join('')}${more ? `<NextContinuationToken>${from + 2}</NextContinuationToken>` : ''}</ListBucketResult>`,
      );
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    const s3 = new S3Source(
      {
        AWS_ACCESS_KEY_ID: 'a',
        AWS_SECRET_ACCESS_KEY: 'b',
        AWS_ENDPOINT_URL: `http://127.0.0.1:${port}/`,
      },
      systemClock,
    );
    try {
      expect(names(await all(['s3://calls'], { s3 }))).toEqual([
        's3://calls/2026/a b.wav',
        's3://calls/2026/ü&<x>.mp3',
        's3://calls/2026-old/c.wav',
      ]);
      expect(asked).toHaveLength(2);
      // A folder by its name is not every key that begins so.
      const inside = await all(['s3://calls/2026'], { s3 });
      expect(names(inside)).toEqual(['s3://calls/2026/a b.wav', 's3://calls/2026/ü&<x>.mp3']);
      expect(inside[0]).toMatchObject({ version: 'e', recordedAtMs: Date.UTC(2026, 0, 2, 3, 4, 5) });
      expect(names(await all(['s3://calls/2026/notes.txt'], { s3 }))).toEqual(['s3://calls/2026/notes.txt']);
      await expect(all(['s3://calls/none/'], { s3 })).rejects.toThrow('there is no recording');
      await expect(all(['s3://calls'])).rejects.toThrow('AWS_ACCESS_KEY_ID');
    } finally {
      server.close();
    }
  });

  it('watches a folder: what is new counts once it has stopped growing, and once only', async () => {
    const inbox = join(folder, 'inbox');
    await mkdir(inbox);
    await writeFile(join(inbox, 'old.wav'), 'x');
    const clock = new ManualClock();
    const stop = new AbortController();
    const watched = watchItems([inbox], await all([inbox]), { ...options(), signal: stop.signal }, clock, fail)[
      Symbol.asyncIterator
    ]();
    const seen: string[][] = [];
    const reading = (async () => {
      for (let next = await watched.next(); next.done !== true; next = await watched.next()) seen.push(names(next.value));
    })().catch(() => undefined);
    const rested = () => eventually('the look to be over', () => clock.pendingTimers > 0);
    const look = async (): Promise<void> => {
      clock.advance(2000);
      await rested();
    };
    await rested();
    await look();
    await writeFile(join(inbox, 'new.wav'), 'half');
    await look();
    await writeFile(join(inbox, 'new.wav'), 'half and the rest');
    await look();
    expect(seen).toEqual([]);
    await look();
    await look();
    expect(seen).toEqual([['inbox/new.wav']]);
    stop.abort(new Error('enough'));
    await reading;
  });

  it('goes on watching a bucket that was away for a while, and says so', async () => {
    let asked = 0;
    const server = createServer((_request, response) => {
      asked += 1;
      if (asked < 3) response.writeHead(503).end();
      else response.end('<ListBucketResult><Contents><Key>a.wav</Key><ETag>&quot;e&quot;</ETag></Contents></ListBucketResult>');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    const env = { AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b', AWS_ENDPOINT_URL: `http://127.0.0.1:${port}` };
    const clock = new ManualClock();
    const problems: unknown[] = [];
    const bucket = { ...options(), s3: new S3Source(env, systemClock) };
    const watched = watchItems(['s3://calls'], [], bucket, clock, (error) => void problems.push(error))[Symbol.asyncIterator]();
    let found: readonly Item[] | undefined;
    const reading = watched.next().then(({ value }) => (found = value as readonly Item[]));
    try {
      await eventually('the recording to be found', () => {
        if (clock.pendingTimers > 0) clock.advance(2000);
        return found !== undefined;
      });
      await reading;
      expect(names(found ?? [])).toEqual(['s3://calls/a.wav']);
      expect(problems.map(String)).toEqual(Array.from({ length: 2 }, () => expect.stringContaining('503')));
    } finally {
      server.close();
    }
  });
});
