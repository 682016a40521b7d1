import { createHash } from 'node:crypto';
import { AwsClient } from 'aws4fetch';
import type { Secret } from '../../config/secrets.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { ErrorDetails, OffhookError } from '../../kernel/errors.ts';
import { readText, readWhole } from '../../kernel/bounded-reading.ts';

export interface S3Access {
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
