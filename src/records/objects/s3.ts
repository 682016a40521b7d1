import { createHash } from 'node:crypto';
import { AwsClient } from 'aws4fetch';
import type { Secret } from '../../config/secrets.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { ErrorDetails, OffhookError } from '../../kernel/errors.ts';
import { readText, readWhole } from '../../kernel/bounded-reading.ts';
import { ObjectStoreError } from '../errors.ts';
import type { ObjectStore } from './port.ts';

interface S3Access {
  /** Base address of the service, without a bucket: `https://s3.eu-central-1.amazonaws.com`, or one's own server. */
  readonly endpoint: string;
  readonly region: string;
  readonly accessKeyId: Secret;
  readonly secretAccessKey: Secret;
  readonly sessionToken?: Secret | undefined;
}

export interface S3Request {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';
  /** Bucket and key, not yet encoded: `calls/2026/a b.wav`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** Statuses that are an answer; any other one is an error. */
  readonly expected: readonly number[];
}

/** An answer's body is read part by part or as a whole; what is left unread is dropped. */
export interface S3Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly parts: () => AsyncIterable<Uint8Array>;
  readonly whole: (maxBytes: number) => Promise<Buffer>;
}

/** Makes the error of the client's user. @param retryable whether the same request may succeed later */
export type S3Failure = (message: string, retryable: boolean, details: ErrorDetails) => OffhookError;

/** Longest XML error. */
const ERROR_BYTES = 10_000;

/** Signed requests to an S3-compatible service, buckets addressed by path, every body signed by its own hash. */
export class S3Client {
  readonly #aws: AwsClient;
  readonly #base: string;
  readonly #clock: Clock;
  readonly #limitMs: number;
  readonly #failure: S3Failure;

  /** @param limitMs for the head of an answer, then for the whole of its body or for each part of it */
  constructor({ endpoint, region, ...keys }: S3Access, clock: Clock, limitMs: number, failure: S3Failure) {
    const [accessKeyId, secretAccessKey] = [keys.accessKeyId.reveal(), keys.secretAccessKey.reveal()];
    const token = keys.sessionToken && { sessionToken: keys.sessionToken.reveal() };
    this.#aws = new AwsClient({ accessKeyId, secretAccessKey, ...token, region, service: 's3' });
    this.#base = endpoint.replace(/\/+$/u, '');
    this.#clock = clock;
    this.#limitMs = limitMs;
    this.#failure = failure;
  }

  /** @throws what `failure` makes, also when `outer` aborts; what `read` throws */
  async send<T>(request: S3Request, read: (answer: S3Answer) => Promise<T>, outer?: AbortSignal): Promise<T> {
    const limitMs = this.#limitMs;
    // Unlike AbortSignal.any, this leaves nothing on a signal that lives long.
    const stop = new AbortController();
    const follow = (): void => stop.abort(outer?.reason);
    outer?.addEventListener('abort', follow, { once: true });
    if (outer?.aborted === true) follow();
    let isLate = false;
    const late = (): void => {
      isLate = true;
      stop.abort();
    };
    let timer = this.#clock.after(limitMs, late);
    const came = (): void => {
      timer.cancel();
      timer = this.#clock.after(limitMs, late);
    };
    const broke = (cause: unknown): never => {
      if (isLate) throw this.#failure(`the object store sent nothing for ${limitMs / 1000} s`, true, { cause });
      if (cause instanceof RangeError) throw this.#failure(`the object store sent ${cause.message}`, false, { cause });
      throw this.#failure('the object store cannot be reached, or hung up', true, { cause });
    };
    try {
      const response = await this.#fetch(request, stop.signal).catch(broke);
      came();
      const { status, headers, body } = response;
      if (!request.expected.includes(status)) throw await this.#refused(response);
      const parts = async function* (): AsyncIterable<Uint8Array> {
        try {
          for await (const part of body ?? []) {
            came();
            yield part;
          }
        } catch (error) {
          broke(error);
        }
      };
      return await read({ status, headers, parts, whole: (maxBytes) => readWhole(response, maxBytes).catch(broke) });
    } finally {
      timer.cancel();
      outer?.removeEventListener('abort', follow);
      stop.abort();
    }
  }

  async #fetch({ method, path, query, headers, body }: S3Request, signal: AbortSignal): Promise<Response> {
    const hash = createHash('sha256')
      .update(body ?? '')
      .digest('hex');
    const search = query === undefined ? '' : `?${new URLSearchParams(query).toString().replaceAll('+', '%20')}`;
    const signed = await this.#aws.sign(`${this.#base}/${path.split('/').map(encodeURIComponent).join('/')}${search}`, {
      method,
      headers: { ...headers, 'x-amz-content-sha256': hash },
      aws: { datetime: new Date(this.#clock.wallMs()).toISOString().replaceAll(/[:-]|\.\d{3}/gu, '') },
    });
    const sent = { method, headers: signed.headers, ...(body && { body: Buffer.from(body) }) };
    return fetch(signed.url, { ...sent, redirect: 'error', signal });
  }

  async #refused(response: Response): Promise<OffhookError> {
    const { status } = response;
    const code = inTag(await readText(response, ERROR_BYTES).catch(() => ''), 'Code');
    const message = `the object store answered ${status}${code === undefined ? '' : ` ${code.slice(0, 100)}`}`;
    return this.#failure(message, status === 429 || status >= 500, { facts: { status } });
  }
}

/** The text of the first element of this name, entities as they stand. */
export function inTag(xml: string, tag: string): string | undefined {
  return new RegExp(`<${tag}>([^<]*)</${tag}>`, 'u').exec(xml)?.[1];
}

export interface S3Settings extends S3Access {
  readonly bucket: string;
  /** Stands before every key, for example `offhook/`; may be empty. */
  readonly prefix: string;
  /** Days for which each object is locked against change and deletion, in a bucket with object lock; as the bucket says when absent. */
  readonly lockDays?: number | undefined;
}

const DAY_MS = 86_400_000;

/** Objects up to this size are put in one request, larger ones in parts of this size (S3 wants parts of at least 5 MiB). */
const PART_BYTES = 8 * 1024 * 1024;

/** For the answer to begin, the body of the request included, and again for it to be whole. */
const REQUEST_LIMIT_MS = 120_000;

/** Longest XML answer. */
const MOST_ANSWER_BYTES = 64 * 1024;

/** Objects in a bucket of an S3-compatible service. */
export function s3Objects(settings: S3Settings, clock: Clock): ObjectStore {
  const { endpoint, bucket, prefix, lockDays } = settings;
  const client = new S3Client(settings, clock, REQUEST_LIMIT_MS, (text, _, details) => new ObjectStoreError(text, details));
  const pathOf = (key: string): string => `${bucket}/${prefix}${key}`;

  const ask = (request: S3Request, signal: AbortSignal | undefined, maxBytes = MOST_ANSWER_BYTES) =>
    client.send(request, async ({ status, headers, whole }) => ({ status, headers, bytes: await whole(maxBytes) }), signal);

  const lock = (): Record<string, string> =>
    lockDays === undefined
      ? {}
      : {
          'x-amz-object-lock-mode': 'COMPLIANCE',
          'x-amz-object-lock-retain-until-date': new Date(clock.wallMs() + lockDays * DAY_MS).toISOString(),
        };

  const putInParts = async (path: string, parts: AsyncIterable<Uint8Array>, signal: AbortSignal | undefined): Promise<void> => {
    const begin: S3Request = { method: 'POST', path, query: { uploads: '' }, headers: lock(), expected: [200] };
    const begun = (await ask(begin, signal)).bytes.toString('utf8');
    const uploadId = inTag(begun, 'UploadId');
    if (!uploadId) throw new ObjectStoreError('the object store began no upload');
    try {
      const tags: string[] = [];
      for await (const body of inPieces(parts, PART_BYTES)) {
        const query = { partNumber: String(tags.length + 1), uploadId };
        const answer = await ask({ method: 'PUT', path, query, body, expected: [200] }, signal);
        tags.push(answer.headers.get('etag') ?? '');
      }
      const list = tags.map((tag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>${tag}</ETag></Part>`).join('');
      const body = Buffer.from(`<CompleteMultipartUpload>${list}</CompleteMultipartUpload>`);
      const done = await ask({ method: 'POST', path, query: { uploadId }, body, expected: [200] }, signal);
      // It may say 200 first and only then find out that it failed (S3, CompleteMultipartUpload).
      if (done.bytes.includes('<Error>')) throw new ObjectStoreError('the object store did not complete an upload');
    } catch (error) {
      await ask({ method: 'DELETE', path, query: { uploadId }, expected: [204, 404] }, undefined).catch(() => {});
      throw error;
    }
  };

  return {
    place: `${bucket} at ${endpoint}`,
    async put(key, parts, bytes, signal) {
      const path = pathOf(key);
      if (bytes > PART_BYTES) return putInParts(path, parts, signal);
      const pieces: Uint8Array[] = [];
      for await (const part of parts) pieces.push(part);
      const body = Buffer.concat(pieces);
      // S3 wants the digest of an object that it locks (PutObject, "Object Lock").
      const headers = lockDays === undefined ? {} : { ...lock(), 'content-md5': createHash('md5').update(body).digest('base64') };
      await ask({ method: 'PUT', path, headers, body, expected: [200] }, signal);
    },
    async size(key, signal) {
      const answer = await ask({ method: 'HEAD', path: pathOf(key), expected: [200, 404] }, signal);
      if (answer.status === 404) return undefined;
      const bytes = answer.headers.get('content-length');
      if (bytes === null) throw new ObjectStoreError('the object store does not say how long an object is');
      return Number(bytes);
    },
    async *read(key, start, end, signal) {
      for (let from = start; from < end; from += PART_BYTES) {
        const to = Math.min(end, from + PART_BYTES);
        const headers = { range: `bytes=${from}-${to - 1}` };
        const { bytes } = await ask({ method: 'GET', path: pathOf(key), headers, expected: [206] }, signal, to - from);
        yield bytes;
      }
    },
    async remove(key, signal) {
      await ask({ method: 'DELETE', path: pathOf(key), expected: [204, 200, 404] }, signal);
    },
  };
}

/** Joins and cuts into pieces of exactly this size; the last one is what is left. */
async function* inPieces(parts: AsyncIterable<Uint8Array>, bytes: number): AsyncIterable<Uint8Array> {
  let pending: Uint8Array[] = [];
  let held = 0;
  for await (const part of parts) {
    pending.push(part);
    held += part.length;
    while (held >= bytes) {
      const joined = Buffer.concat(pending);
      yield joined.subarray(0, bytes);
      pending = [joined.subarray(bytes)];
      held -= bytes;
    }
  }
  if (held > 0) yield Buffer.concat(pending);
}
