import type { Environment } from '../../config/env.ts';
import { Secret } from '../../config/secrets.ts';
import type { Clock } from '../../kernel/clock.ts';
import { atMost } from '../../kernel/bounded-reading.ts';
import { pourIntoFile } from '../../kernel/file-streams.ts';
import { inTag, S3Client, type S3Answer, type S3Request } from '../../records/objects/s3.ts';
import { UsageError } from '../shell/output.ts';
import { RecordingFetchError, RecordingRefusedError } from '../../records/errors.ts';
import type { BrokenItem, Item, Place } from './items.ts';

/** Time limit for an answer's head, and for each part of its body. */
const STALL_MS = 60_000;
/** A page has 1,000 keys of 1,024 bytes at most (S3, ListObjectsV2), three times as long in percent encoding. */
const MOST_LIST_BYTES = 16 * 1024 * 1024;

type S3Place = Extract<Place, { kind: 's3' }>;

/**
 * Recordings in S3-compatible storage, with the usual environment variables: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY,
 * AWS_SESSION_TOKEN, AWS_REGION, and AWS_ENDPOINT_URL for a service that is not Amazon's. Objects are read, never written.
 */
export class S3Source {
  readonly #env: Environment;
  readonly #clock: Clock;

  constructor(env: Environment, clock: Clock) {
    this.#env = env;
    this.#clock = clock;
  }

  /** The object of an address; undefined for a bucket or a folder. */
  place(address: string): S3Place | undefined {
    const [, bucket, key] = /^s3:\/\/([^/]+)\/(.+)$/iu.exec(address) ?? [];
    return bucket === undefined || key === undefined || key.endsWith('/') ? undefined : { kind: 's3', bucket, key };
  }

  /**
   * The object of an address, or all recordings under it as a folder.
   * @throws UsageError when there are none; RecordingFetchError; the signal's reason when aborted
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
   * @throws RecordingFetchError; RecordingRefusedError when there is no such object or it is larger than allowed; the signal's reason
   * when aborted
   */
  async download({ bucket, key }: S3Place, path: string, maxBytes: number, signal: AbortSignal): Promise<void> {
    const object: S3Request = { method: 'GET', path: `${bucket}/${key}`, expected: [200, 404] };
    const copy = async ({ status, parts }: S3Answer): Promise<void> => {
      if (status === 404) throw new RecordingRefusedError('missing', 'there is no such object');
      const tooLarge = (): Error => new RecordingRefusedError('too-large', `the object is over ${maxBytes} bytes`);
      await pourIntoFile(parts(), path, { through: (content) => atMost(content, maxBytes, tooLarge) });
    };
    await this.#send(object, copy, signal);
  }

  async *#list(bucket: string, prefix: string, signal: AbortSignal): AsyncIterable<ListedObject> {
    let next: string | undefined;
    do {
      const query = { 'list-type': '2', 'encoding-type': 'url', prefix, ...(next && { 'continuation-token': next }) };
      const page: S3Request = { method: 'GET', path: bucket, query, expected: [200] };
      const text = (await this.#send(page, ({ whole }) => whole(MOST_LIST_BYTES), signal)).toString('utf8');
      yield* objectsIn(text);
      const before = next;
      const goesOn = /<IsTruncated>true<\/IsTruncated>/u.test(text);
      next = goesOn ? plain(inTag(text, 'NextContinuationToken')) : undefined;
      if (goesOn && (next === undefined || next === before))
        throw new RecordingFetchError('the object store does not say where its list goes on', false);
    } while (next !== undefined);
  }

  async #send<T>(request: S3Request, read: (answer: S3Answer) => Promise<T>, signal: AbortSignal): Promise<T> {
    try {
      return await this.#client().send(request, read, signal);
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    }
  }

  #client(): S3Client {
    const env = this.#env;
    const accessKeyId = env['AWS_ACCESS_KEY_ID'];
    const secretAccessKey = env['AWS_SECRET_ACCESS_KEY'];
    if (!accessKeyId || !secretAccessKey)
      throw new UsageError('set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY to read from s3://');
    const sessionToken = env['AWS_SESSION_TOKEN'];
    const region = env['AWS_REGION'] ?? env['AWS_DEFAULT_REGION'] ?? 'us-east-1';
    const access = {
      endpoint: env['AWS_ENDPOINT_URL_S3'] ?? env['AWS_ENDPOINT_URL'] ?? `https://s3.${region}.amazonaws.com`,
      region,
      accessKeyId: new Secret(accessKeyId),
      secretAccessKey: new Secret(secretAccessKey),
      sessionToken: sessionToken === undefined ? undefined : new Secret(sessionToken),
    };
    return new S3Client(
      access,
      this.#clock,
      STALL_MS,
      (text, retryable, { cause }) => new RecordingFetchError(text, retryable, cause),
    );
  }
}

interface ListedObject {
  readonly key: string;
  readonly tag: string;
  readonly modifiedMs: number | undefined;
}

/** @throws RecordingFetchError for a key that is not in percent encoding */
function objectsIn(xml: string): ListedObject[] {
  return [...xml.matchAll(/<Contents>(.*?)<\/Contents>/gsu)].map(([, object = '']) => {
    const modifiedMs = Date.parse(inTag(object, 'LastModified') ?? '');
    return {
      // Requested in percent encoding, so that XML can carry any key.
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
    throw new RecordingFetchError('the object store lists a key that cannot be read', false, error);
  }
}

function plain(text: string | undefined): string | undefined {
  return text?.replaceAll('&quot;', '"').replaceAll('&amp;', '&').replaceAll('"', '');
}
