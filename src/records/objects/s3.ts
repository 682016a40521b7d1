import { createHash } from 'node:crypto';
import type { Clock } from '../../kernel/clock.ts';
import { ObjectStoreError } from '../errors.ts';
import type { ObjectStore } from './port.ts';
import { inTag, type S3Access, S3Client, type S3Request } from './s3-client.ts';

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
