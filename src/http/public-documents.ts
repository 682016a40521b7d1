import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { extname } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { hasCode } from '../kernel/errors.ts';
import { unlessMissing } from '../kernel/temporary.ts';

/** A public document, in memory with its encodings, so that requests need no copy or open file. */
export interface PublicDocument {
  readonly type: string;
  readonly plain: Buffer;
  readonly br: Buffer | undefined;
  readonly gzip: Buffer | undefined;
  /** Entity tag of the content, without quotes. */
  readonly tag: string;
}

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.wasm': 'application/wasm',
  '.woff2': 'font/woff2',
};

/** Compresses a text in threads, without blocking calls. */
export async function compressed(type: string, text: string): Promise<PublicDocument> {
  const plain = Buffer.from(text);
  const params = { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_SIZE_HINT]: plain.length };
  const [br, zipped] = await Promise.all([promisify(brotliCompress)(plain, { params }), promisify(gzip)(plain, { level: 9 })]);
  return { type, plain, br, gzip: zipped, tag: tagOf(plain) };
}

/**
 * Reads files with the build's `.br` and `.gz` versions, each once, and again after a change.
 * @returns reads one; undefined for a missing file
 */
export function fileReader(): (path: string) => Promise<PublicDocument | undefined> {
  const known = new Map<string, { readonly mtimeMs: number; readonly document: PublicDocument }>();
  return async (path) => {
    try {
      const { mtimeMs } = await stat(path);
      const before = known.get(path);
      if (before?.mtimeMs === mtimeMs) return before.document;
      const read = (suffix: string): Promise<Buffer | undefined> => readFile(path + suffix).catch(unlessMissing(undefined));
      const [plain, br, zipped] = await Promise.all([readFile(path), read('.br'), read('.gz')]);
      const type = TYPES[extname(path)] ?? 'application/octet-stream';
      const document = { type, plain, br, gzip: zipped, tag: tagOf(plain) };
      known.set(path, { mtimeMs, document });
      return document;
    } catch (error) {
      if (hasCode(error, 'ENOENT', 'EISDIR', 'ENOTDIR')) return undefined;
      throw error;
    }
  };
}

/** Sends a document in an encoding the client accepts, or 304 where it has it. */
export function sendDocument(
  request: FastifyRequest,
  reply: FastifyReply,
  document: PublicDocument,
  caching: string,
): FastifyReply {
  const coding = codingFor(request.headers['accept-encoding'], document);
  const tag = coding === 'plain' ? `"${document.tag}"` : `"${document.tag}-${coding}"`;
  reply.headers({ 'cache-control': caching, vary: 'accept-encoding', etag: tag });
  const known = request.headers['if-none-match']?.split(',').map((each) => each.trim().replace(/^W\//u, ''));
  if (known?.includes(tag) === true) return reply.code(304).send();
  if (coding !== 'plain') reply.header('content-encoding', coding);
  return reply.type(document.type).send(document[coding]);
}

function codingFor(accepted: string | undefined, document: PublicDocument): 'br' | 'gzip' | 'plain' {
  const taken = new Set<string>();
  for (const each of (accepted ?? '').split(',')) {
    const [name = '', ...parameters] = each.split(';').map((part) => part.trim().toLowerCase());
    if (!parameters.some((parameter) => /^q=0(?:\.0*)?$/u.test(parameter))) taken.add(name);
  }
  return (['br', 'gzip'] as const).find((coding) => taken.has(coding) && document[coding] !== undefined) ?? 'plain';
}

function tagOf(content: Buffer): string {
  return createHash('sha256').update(content).digest('base64url').slice(0, 22);
}
