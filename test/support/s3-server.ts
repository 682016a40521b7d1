import { createHash, createHmac } from 'node:crypto';
import { type IncomingHttpHeaders, type IncomingMessage, createServer } from 'node:http';
import { onLoopback } from './loopback.ts';

export const S3_CREDENTIALS = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
  region: 'eu-test-1',
};

export interface S3StandIn extends AsyncDisposable {
  readonly url: string;
  /** By bucket and key: `bucket/key`. */
  readonly objects: Map<string, Buffer>;
  /** The headers of the request that put each object, or began its upload. */
  readonly headers: Map<string, IncomingHttpHeaders>;
  /** Requests whose signature or body hash was wrong; each got a 403. */
  readonly refused: string[];
  /** While set, every request gets this status. */
  failing: number | undefined;
}

/** As much of S3 as recordings need, checking each request's Signature Version 4 the long way, from its documentation. */
export async function startS3(): Promise<S3StandIn> {
  const objects = new Map<string, Buffer>();
  const uploads = new Map<string, Map<number, Buffer>>();
  const headers: S3StandIn['headers'] = new Map();
  const refused: string[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      const body = await bodyOf(request);
      const url = new URL(request.url ?? '/', 'http://s3');
      const reply = (status: number, headers: Record<string, string> = {}, content: string | Buffer = ''): void => {
        response.writeHead(status, { 'content-length': String(Buffer.byteLength(content)), ...headers });
        response.end(request.method === 'HEAD' ? undefined : content);
      };
      if (standIn.failing !== undefined) return reply(standIn.failing, {}, '<Error><Code>ServiceUnavailable</Code></Error>');
      const problem = signatureProblem(request, url, body);
      if (problem !== undefined) {
        refused.push(`${request.method} ${request.url}: ${problem}`);
        return reply(403, {}, '<Error><Code>SignatureDoesNotMatch</Code></Error>');
      }
      const key = decodeURIComponent(url.pathname.slice(1));
      const uploadId = url.searchParams.get('uploadId');
      switch (request.method ?? '') {
        case 'POST': {
          if (uploadId === null) {
            const id = `upload/${uploads.size + 1}`;
            uploads.set(id, new Map());
            headers.set(key, request.headers);
            return reply(200, {}, `<R><UploadId>${id}</UploadId></R>`);
          }
          const parts = uploads.get(uploadId);
          const listed = [...body.toString().matchAll(/<PartNumber>(\d+)<\/PartNumber><ETag>"(\w+)"<\/ETag>/gu)];
          const chosen = listed.map(([, number, tag]) => ({ bytes: parts?.get(Number(number)), tag }));
          if (chosen.some(({ bytes, tag }) => bytes === undefined || md5(bytes) !== tag))
            return reply(200, {}, '<Error></Error>');
          if (chosen.slice(0, -1).some(({ bytes }) => bytes!.length < 5 * 1024 * 1024)) return reply(400);
          objects.set(key, Buffer.concat(chosen.map(({ bytes }) => bytes!)));
          uploads.delete(uploadId);
          return reply(200, {}, '<Complete/>');
        }
        case 'PUT':
          if (uploadId === null) {
            objects.set(key, body);
            headers.set(key, request.headers);
          } else uploads.get(uploadId)?.set(Number(url.searchParams.get('partNumber')), body);
          return reply(200, { etag: `"${md5(body)}"` });
        case 'DELETE':
          if (uploadId === null) objects.delete(key);
          else uploads.delete(uploadId);
          return reply(204);
        default: {
          const found = objects.get(key);
          if (found === undefined) return reply(404, {}, '<Error><Code>NoSuchKey</Code></Error>');
          const range = /^bytes=(\d+)-(\d+)$/u.exec(request.headers.range ?? '');
          if (range === null) return reply(200, { 'content-length': String(found.length) }, found);
          return reply(206, {}, found.subarray(Number(range[1]), Number(range[2]) + 1));
        }
      }
    })().catch(() => response.destroy());
  });
  const standIn: S3StandIn = { objects, headers, refused, failing: undefined, ...(await onLoopback(server)) };
  return standIn;
}

/** Amazon S3 API Reference, "Signature Calculations for the Authorization Header". */
function signatureProblem(request: IncomingMessage, url: URL, body: Buffer): string | undefined {
  const { accessKeyId, secretAccessKey, region } = S3_CREDENTIALS;
  const form = /^AWS4-HMAC-SHA256 Credential=([^,]+), SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/u;
  const [, credential = '', signedHeaders = '', signature] = form.exec(request.headers.authorization ?? '') ?? [];
  const stamp = String(request.headers['x-amz-date']);
  const scope = `${stamp.slice(0, 8)}/${region}/s3/aws4_request`;
  if (credential !== `${accessKeyId}/${scope}`) return 'credential';
  if (request.headers['x-amz-content-sha256'] !== sha256(body)) return 'body hash';
  const headers = signedHeaders.split(';');
  for (const needed of ['host', 'x-amz-content-sha256', 'x-amz-date'])
    if (!headers.includes(needed)) return `${needed} is not signed`;
  const encode = (text: string): string =>
    encodeURIComponent(text).replaceAll(/[!'()*]/gu, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
  const path = url.pathname
    .split('/')
    .map((part) => encode(decodeURIComponent(part)))
    .join('/');
  const query = [...url.searchParams]
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .sort()
    .join('&');
  const canonical = [
    request.method,
    path,
    query,
    ...headers.map((name) => `${name}:${String(request.headers[name]).trim()}`),
    '',
    signedHeaders,
    sha256(body),
  ].join('\n');
  const toSign = ['AWS4-HMAC-SHA256', stamp, scope, sha256(Buffer.from(canonical))].join('\n');
  const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();
  const key = scope.split('/').reduce<string | Buffer>((made, part) => hmac(made, part), `AWS4${secretAccessKey}`);
  return hmac(key, toSign).toString('hex') === signature ? undefined : 'signature';
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function md5(bytes: Buffer): string {
  return createHash('md5').update(bytes).digest('hex');
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces);
}
