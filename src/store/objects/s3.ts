import { createHash } from 'node:crypto';
import { AwsClient } from 'aws4fetch';
import type { Secret } from '../../config/secrets.ts';
import type { Clock } from '../../kernel/clock.ts';
import { OffhookError } from '../../kernel/errors.ts';
import { readWhole } from '../../kernel/read-text.ts';
import { ObjectStoreError } from '../errors.ts';
import type { ObjectStore } from './port.ts';

export interface S3Settings {
  /** Base address of the service, without a bucket: `https://s3.eu-central-1.amazonaws.com`, or one's own server. */
  readonly endpoint: string;
  readonly bucket: string;
  readonly region: string;
  /** Stands before every key, for example `offhook/`; may be empty. */
  readonly prefix: string;
  readonly accessKeyId: Secret;
  readonly secretAccessKey: Secret;
}

/** Objects up to this size are put in one request, larger ones in parts of this size (S3 wants parts of at least 5 MiB). */
const PART_BYTES = 8 * 1024 * 1024;

/** For one request, its body included. */
const REQUEST_LIMIT_MS = 120_000;

/** Of the XML that orders are answered with. */
const MOST_ANSWER_BYTES = 64 * 1024;

type Ask = {
  readonly method: string;
  readonly path: string;
  readonly body?: Uint8Array;
  readonly headers?: Record<string, string>;
  /** The longest answer that is read; of any other one no more is needed than its code. */
  readonly maxBytes?: number;
};
type Answer = { readonly status: number; readonly headers: Headers; readonly bytes: Buffer };

/** Objects in a bucket of an S3-compatible service, addressed by path, every body signed by its own hash. */
export function s3Objects(settings: S3Settings, clock: Clock): ObjectStore {
  const { endpoint, bucket, region, prefix } = settings;
  const client = new AwsClient({
    accessKeyId: settings.accessKeyId.reveal(),
    secretAccessKey: settings.secretAccessKey.reveal(),
    service: 's3',
    region,
  });
  const base = `${endpoint.replace(/\/+$/u, '')}/${bucket}/`;
  const pathOf = (key: string): string => `${prefix}${key}`.split('/').map(encodeURIComponent).join('/');

  /** @param expected statuses that are an answer; any other one is an error */
  const ask = async (
    { method, path, body, headers = {}, maxBytes = MOST_ANSWER_BYTES }: Ask,
    expected: readonly number[],
    signal: AbortSignal | undefined,
  ): Promise<Answer> => {
    const limit = new AbortController();
    const stop = (): void => limit.abort(signal?.reason);
    signal?.addEventListener('abort', stop, { once: true });
    if (signal?.aborted === true) stop();
    const timer = clock.after(REQUEST_LIMIT_MS, () => limit.abort(new Error(`no answer within ${REQUEST_LIMIT_MS} ms`)));
    try {
      const hash = createHash('sha256')
        .update(body ?? '')
        .digest('hex');
      const datetime = new Date(clock.wallMs()).toISOString().replaceAll(/[:-]|\.\d{3}/gu, '');
      const signed = await client.sign(base + path, {
        method,
        headers: { ...headers, 'x-amz-content-sha256': hash },
        aws: { datetime },
      });
      const response = await fetch(signed.url, {
        method,
        headers: signed.headers,
        ...(body === undefined ? {} : { body: Buffer.from(body) }),
        redirect: 'error',
        signal: limit.signal,
      });
      const { status } = response;
      const bytes = await readWhole(response, maxBytes);
      if (expected.includes(status)) return { status, headers: response.headers, bytes };
      const code = /<Code>([^<]{1,100})<\/Code>/u.exec(bytes.toString('utf8', 0, 10_000))?.[1];
      throw new ObjectStoreError(`the object store answered ${status}${code === undefined ? '' : ` ${code}`}`, {
        facts: { status },
      });
    } catch (error) {
      if (error instanceof OffhookError) throw error;
      throw new ObjectStoreError('the object store cannot be reached', { cause: error });
    } finally {
      timer.cancel();
      signal?.removeEventListener('abort', stop);
    }
  };

  const putInParts = async (path: string, parts: AsyncIterable<Uint8Array>, signal: AbortSignal | undefined): Promise<void> => {
    const begun = (await ask({ method: 'POST', path: `${path}?uploads=` }, [200], signal)).bytes.toString('utf8');
    const uploadId = /<UploadId>([^<]+)<\/UploadId>/u.exec(begun)?.[1];
    if (uploadId === undefined) throw new ObjectStoreError('the object store began no upload');
    const upload = `uploadId=${encodeURIComponent(uploadId)}`;
    try {
      const tags: string[] = [];
      for await (const body of inPieces(parts, PART_BYTES)) {
        const query = `partNumber=${tags.length + 1}&${upload}`;
        const answer = await ask({ method: 'PUT', path: `${path}?${query}`, body }, [200], signal);
        tags.push(answer.headers.get('etag') ?? '');
      }
      const list = tags.map((tag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>${tag}</ETag></Part>`).join('');
      const body = Buffer.from(`<CompleteMultipartUpload>${list}</CompleteMultipartUpload>`);
      const done = await ask({ method: 'POST', path: `${path}?${upload}`, body }, [200], signal);
      // It may say 200 first and only then find out that it failed (S3, CompleteMultipartUpload).
      if (done.bytes.includes('<Error>')) throw new ObjectStoreError('the object store did not complete an upload');
    } catch (error) {
      await ask({ method: 'DELETE', path: `${path}?${upload}` }, [204, 404], undefined).catch(() => {});
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
      await ask({ method: 'PUT', path, body: Buffer.concat(pieces) }, [200], signal);
    },
    async size(key, signal) {
      const answer = await ask({ method: 'HEAD', path: pathOf(key) }, [200, 404], signal);
      if (answer.status === 404) return undefined;
      const bytes = answer.headers.get('content-length');
      if (bytes === null) throw new ObjectStoreError('the object store does not say how long an object is');
      return Number(bytes);
    },
    async *read(key, start, end, signal) {
      for (let from = start; from < end; from += PART_BYTES) {
        const to = Math.min(end, from + PART_BYTES);
        const headers = { range: `bytes=${from}-${to - 1}` };
        const ordered = { method: 'GET', path: pathOf(key), headers, maxBytes: to - from };
        const { bytes } = await ask(ordered, [206], signal);
        yield bytes;
      }
    },
    async remove(key, signal) {
      await ask({ method: 'DELETE', path: pathOf(key) }, [204, 200, 404], signal);
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
