import { createHash } from 'node:crypto';
import { AwsClient } from 'aws4fetch';
import type { Environment } from '../../config/env.ts';
import type { Clock } from '../../kernel/clock.ts';
import { atMost } from '../../kernel/at-most.ts';
import { OffhookError } from '../../kernel/errors.ts';
import { pourIntoFile } from '../../kernel/pour-into-file.ts';
import { readWhole } from '../../kernel/read-text.ts';
import { UsageError } from '../speech/usage.ts';
import { RecordingRefusedError } from '../../jobs/analysis/errors.ts';
import { FetchError } from './fetch-error.ts';
import type { BrokenItem, Item, Place } from './items.ts';
import { type StallLimit, stallLimit } from './stall-limit.ts';

/** Of a request without a body. */
const EMPTY_SHA256 = createHash('sha256').digest('hex');

/** For the head of an answer, and for each next piece of its body. */
const STALL_MS = 60_000;
/** A page has 1,000 keys of 1,024 bytes at most (S3, ListObjectsV2), three times as long in percent encoding. */
const MOST_LIST_BYTES = 16 * 1024 * 1024;

type S3Place = Extract<Place, { kind: 's3' }>;

/**
 * Recordings in S3-compatible storage, as the usual environment names it: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY,
 * AWS_SESSION_TOKEN, AWS_REGION, and AWS_ENDPOINT_URL for a service that is not Amazon's. Objects are read, never written.
 */
export class S3Source {
  readonly #env: Environment;
  readonly #clock: Clock;

  constructor(env: Environment, clock: Clock) {
    this.#env = env;
    this.#clock = clock;
  }

  /** The object that an address names; undefined for a bucket or a folder. */
  place(address: string): S3Place | undefined {
    const [, bucket, key] = /^s3:\/\/([^/]+)\/(.+)$/iu.exec(address) ?? [];
    return bucket === undefined || key === undefined || key.endsWith('/') ? undefined : { kind: 's3', bucket, key };
  }

  /**
   * The object itself, or all recordings under it as a folder.
   * @throws UsageError when there are none; FetchError; the signal's reason when aborted
   */
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

  /**
   * Copies an object into a new file of this disk.
   * @throws FetchError; RecordingRefusedError when there is no such object or it is larger than allowed; the signal's reason
   * when aborted
   */
  async download({ bucket, key }: S3Place, path: string, maxBytes: number, signal: AbortSignal): Promise<void> {
    using limit = stallLimit(this.#clock, STALL_MS, signal);
    const response = await this.#get(bucket, `/${key.split('/').map(encodeURIComponent).join('/')}`, limit, signal);
    if (response.status === 404) throw new RecordingRefusedError('missing', 'there is no such object');
    if (!response.ok || response.body === null) throw refused(response.status);
    const tooLarge = (): Error => new RecordingRefusedError('too-large', `the object is over ${maxBytes} bytes`);
    await pourIntoFile(bodyOf(response.body, limit, signal), path, { through: (parts) => atMost(parts, maxBytes, tooLarge) });
  }

  async *#list(bucket: string, prefix: string, signal: AbortSignal): AsyncIterable<ListedObject> {
    let next: string | undefined;
    do {
      const query = new URLSearchParams({ 'list-type': '2', 'encoding-type': 'url', prefix });
      if (next !== undefined) query.set('continuation-token', next);
      const text = await this.#page(bucket, `?${query.toString().replaceAll('+', '%20')}`, signal);
      yield* objectsIn(text);
      const before = next;
      const goesOn = /<IsTruncated>true<\/IsTruncated>/u.test(text);
      next = goesOn ? plain(inTag(text, 'NextContinuationToken')) : undefined;
      if (goesOn && (next === undefined || next === before))
        throw new FetchError('the object store does not say where its list goes on', false);
    } while (next !== undefined);
  }

  async #page(bucket: string, query: string, signal: AbortSignal): Promise<string> {
    using limit = stallLimit(this.#clock, STALL_MS, signal);
    const response = await this.#get(bucket, query, limit, signal);
    if (!response.ok) throw refused(response.status);
    try {
      return (await readWhole(response, MOST_LIST_BYTES)).toString('utf8');
    } catch (error) {
      throw broken(error, limit, signal);
    }
  }

  /** @param limit what stops the request, its body included; `signal` is the caller's own */
  async #get(bucket: string, rest: string, limit: StallLimit, signal: AbortSignal): Promise<Response> {
    const { client, base } = this.#client();
    const headers = { 'x-amz-content-sha256': EMPTY_SHA256 };
    const signed = await client.sign(`${base}/${bucket}${rest}`, { method: 'GET', headers });
    try {
      const response = await fetch(signed.url, { headers: signed.headers, redirect: 'error', signal: limit.signal });
      limit.came();
      return response;
    } catch (error) {
      throw broken(error, limit, signal);
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

async function* bodyOf(body: ReadableStream<Uint8Array>, limit: StallLimit, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  try {
    for await (const part of body) {
      limit.came();
      yield part;
    }
  } catch (error) {
    throw broken(error, limit, signal);
  }
}

/** @returns what to throw for a request that broke; @throws the signal's reason when it was aborted */
function broken(error: unknown, { isOver }: StallLimit, signal: AbortSignal): OffhookError {
  signal.throwIfAborted();
  if (error instanceof OffhookError) return error;
  if (isOver) return new FetchError(`the object store sent nothing for ${STALL_MS / 1000} s`, true, error);
  if (error instanceof RangeError) return new FetchError(`the object store's list is no list: ${error.message}`, false, error);
  return new FetchError('the object store cannot be reached, or hung up', true, error);
}

/** @throws FetchError for a key that is not in percent encoding */
function objectsIn(xml: string): ListedObject[] {
  return [...xml.matchAll(/<Contents>(.*?)<\/Contents>/gsu)].map(([, object = '']) => {
    const modifiedMs = Date.parse(inTag(object, 'LastModified') ?? '');
    return {
      // Asked for in percent encoding, so that any key survives XML.
      key: decoded((inTag(object, 'Key') ?? '').replaceAll('+', ' ')),
      tag: plain(inTag(object, 'ETag')) ?? '',
      modifiedMs: Number.isNaN(modifiedMs) ? undefined : modifiedMs,
    };
  });
}

function decoded(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch (error) {
    throw new FetchError('the object store lists a key that cannot be read', false, error);
  }
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
