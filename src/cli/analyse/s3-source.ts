import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { AwsClient } from 'aws4fetch';
import type { Environment } from '../../config/env.ts';
import { UsageError } from '../speech/usage.ts';
import { RecordingRefusedError } from '../../jobs/analysis/errors.ts';
import { FetchError } from './fetch-error.ts';
import type { BrokenItem, Item, Place } from './items.ts';

/** Of a request without a body. */
const EMPTY_SHA256 = createHash('sha256').digest('hex');

type S3Place = Extract<Place, { kind: 's3' }>;

/**
 * Recordings in S3-compatible storage, as the usual environment names it: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY,
 * AWS_SESSION_TOKEN, AWS_REGION, and AWS_ENDPOINT_URL for a service that is not Amazon's. Objects are read, never written.
 */
export class S3Source {
  readonly #env: Environment;

  constructor(env: Environment) {
    this.#env = env;
  }

  /** The object that an address names; undefined for a bucket or a folder. */
  place(address: string): S3Place | undefined {
    const [, bucket, key] = /^s3:\/\/([^/]+)\/(.+)$/iu.exec(address) ?? [];
    return bucket === undefined || key === undefined || key.endsWith('/') ? undefined : { kind: 's3', bucket, key };
  }

  /** The object itself, or all recordings under it as a folder. @throws UsageError when there are none */
  async *items(address: string, isRecording: (key: string) => boolean, signal: AbortSignal): AsyncIterable<Item | BrokenItem> {
    const [, bucket = '', prefix = ''] = /^s3:\/\/([^/]+)\/?(.*)$/iu.exec(address) ?? [];
    let found = 0;
    for await (const { key, tag, modifiedMs } of this.#list(bucket, prefix, signal)) {
      const isItself = key === prefix;
      const isInside = prefix === '' || prefix.endsWith('/') || key.startsWith(`${prefix}/`);
      if (!isItself && !(isInside && isRecording(key))) continue;
      found += 1;
      const place = { kind: 's3', bucket, key } as const;
      yield { name: `s3://${bucket}/${key}`, place, version: tag, recordedAtMs: modifiedMs, metadata: {} };
    }
    if (found === 0) throw new UsageError(`there is no recording at ${address}`);
  }

  /** @throws FetchError; RecordingRefusedError when there is no such object or it is larger than allowed */
  async download({ bucket, key }: S3Place, path: string, maxBytes: number, signal: AbortSignal): Promise<void> {
    const response = await this.#get(bucket, `/${key.split('/').map(encodeURIComponent).join('/')}`, signal);
    if (response.status === 404) throw new RecordingRefusedError('missing', 'there is no such object');
    if (!response.ok || response.body === null) throw refused(response.status);
    let bytes = 0;
    const counted = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        bytes += chunk.length;
        done(bytes > maxBytes ? new RecordingRefusedError('too-large', `the object is over ${maxBytes} bytes`) : null, chunk);
      },
    });
    await pipeline(Readable.fromWeb(response.body), counted, createWriteStream(path, { mode: 0o600 }), { signal });
  }

  async *#list(bucket: string, prefix: string, signal: AbortSignal): AsyncIterable<ListedObject> {
    let next: string | undefined;
    do {
      const query = new URLSearchParams({ 'list-type': '2', 'encoding-type': 'url', prefix });
      if (next !== undefined) query.set('continuation-token', next);
      const response = await this.#get(bucket, `?${query.toString().replaceAll('+', '%20')}`, signal);
      const text = await response.text();
      if (!response.ok) throw refused(response.status);
      yield* objectsIn(text);
      next = /<IsTruncated>true<\/IsTruncated>/u.test(text) ? plain(inTag(text, 'NextContinuationToken')) : undefined;
    } while (next !== undefined);
  }

  async #get(bucket: string, rest: string, signal: AbortSignal): Promise<Response> {
    const { client, base } = this.#client();
    const headers = { 'x-amz-content-sha256': EMPTY_SHA256 };
    const signed = await client.sign(`${base}/${bucket}${rest}`, { method: 'GET', headers });
    try {
      return await fetch(signed.url, { headers: signed.headers, redirect: 'error', signal });
    } catch (error) {
      signal.throwIfAborted();
      throw new FetchError('the object store cannot be reached', true, error);
    }
  }

  #client(): { readonly client: AwsClient; readonly base: string } {
    const env = this.#env;
    const accessKeyId = env['AWS_ACCESS_KEY_ID'];
    const secretAccessKey = env['AWS_SECRET_ACCESS_KEY'];
    if (!accessKeyId || !secretAccessKey)
      throw new UsageError('set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY to read from s3://');
    const region = env['AWS_REGION'] ?? env['AWS_DEFAULT_REGION'] ?? 'us-east-1';
    const sessionToken = env['AWS_SESSION_TOKEN'];
    const base = env['AWS_ENDPOINT_URL_S3'] ?? env['AWS_ENDPOINT_URL'] ?? `https://s3.${region}.amazonaws.com`;
    const token = sessionToken === undefined ? {} : { sessionToken };
    return {
      client: new AwsClient({ accessKeyId, secretAccessKey, ...token, region, service: 's3' }),
      base: base.replace(/\/+$/u, ''),
    };
  }
}

interface ListedObject {
  readonly key: string;
  readonly tag: string;
  readonly modifiedMs: number | undefined;
}

function objectsIn(xml: string): ListedObject[] {
  return [...xml.matchAll(/<Contents>(.*?)<\/Contents>/gsu)].map(([, object = '']) => {
    const modifiedMs = Date.parse(inTag(object, 'LastModified') ?? '');
    return {
      // Asked for in percent encoding, so that any key survives XML.
      key: decodeURIComponent((inTag(object, 'Key') ?? '').replaceAll('+', ' ')),
      tag: plain(inTag(object, 'ETag')) ?? '',
      modifiedMs: Number.isNaN(modifiedMs) ? undefined : modifiedMs,
    };
  });
}

function inTag(xml: string, tag: string): string | undefined {
  return new RegExp(`<${tag}>([^<]*)</${tag}>`, 'u').exec(xml)?.[1];
}

function plain(text: string | undefined): string | undefined {
  return text?.replaceAll('&quot;', '"').replaceAll('&amp;', '&').replaceAll('"', '');
}

function refused(status: number): FetchError {
  return new FetchError(`the object store answered ${status}`, status === 429 || status >= 500);
}
