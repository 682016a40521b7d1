import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { deflateRawSync } from 'node:zlib';

export interface Entry {
  readonly name: string;
  readonly content?: string | Uint8Array;
  /** The type flag; `0`, a file, when absent. */
  readonly type?: string;
  readonly linkTo?: string;
}

/** A ustar archive, whatever its names are; names of more than 100 bytes go into GNU's extra entry. */
export function tarOf(entries: readonly Entry[]): Buffer {
  const blocks = entries.flatMap(({ name, content = '', type = '0', linkTo = '' }) => {
    const body = Buffer.from(content);
    const long = Buffer.byteLength(name) > 100 ? entryBlocks('././@LongLink', 'L', Buffer.from(`${name}\0`), '') : [];
    return [...long, ...entryBlocks(name, type, body, linkTo)];
  });
  return Buffer.concat([...blocks, Buffer.alloc(1_024)]);
}

function entryBlocks(name: string, type: string, body: Buffer, linkTo: string): Buffer[] {
  const header = Buffer.alloc(512);
  header.write(name.slice(0, 100), 0, 100, 'utf8');
  header.write('0000644\0', 100, 'latin1');
  header.write(`${body.length.toString(8).padStart(11, '0')}\0`, 124, 'latin1');
  header.write('        ', 148, 'latin1');
  header.write(type, 156, 'latin1');
  header.write(linkTo.slice(0, 100), 157, 100, 'utf8');
  header.write('ustar\u000000', 257, 'latin1');
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return [header, body, Buffer.alloc((512 - (body.length % 512)) % 512)];
}

/** A zip archive, whatever its names are; every entry is compressed. @param entry.type `2` for a symbolic link */
export function zipOf(entries: readonly Entry[]): Buffer {
  const locals: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name, content = '', type = '0' } of entries) {
    const body = Buffer.from(content);
    const packed = deflateRawSync(body);
    // From the version to the length of the extra field: what both headers have in common.
    const facts = Buffer.alloc(26);
    facts.writeUInt16LE(20, 0);
    facts.writeUInt16LE(8, 4);
    facts.writeUInt32LE(crc32(body), 10);
    facts.writeUInt32LE(packed.length, 14);
    facts.writeUInt32LE(body.length, 18);
    facts.writeUInt16LE(Buffer.byteLength(name), 22);
    const place = Buffer.alloc(14);
    place.writeUInt32LE((type === '2' ? 0o120777 : 0o100644) * 0x1_0000, 6);
    place.writeUInt32LE(offset, 10);
    const local = Buffer.concat([Buffer.from('PK\u0003\u0004'), facts, Buffer.from(name), packed]);
    locals.push(local);
    directory.push(Buffer.concat([Buffer.from('PK\u0001\u0002\u0014\u0003'), facts, place, Buffer.from(name)]));
    offset += local.length;
  }
  const listed = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write('PK\u0005\u0006', 0, 'latin1');
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(listed.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...locals, listed, end]);
}

function crc32(bytes: Uint8Array): number {
  let crc = 0xffff_ffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (0xedb8_8320 & -(crc & 1));
  }
  return (crc ^ 0xffff_ffff) >>> 0;
}

export function bzip2(bytes: Uint8Array): Buffer {
  return execFileSync('bzip2', ['-1c'], { input: bytes, maxBuffer: 1 << 30 });
}

export type Handler = (request: IncomingMessage, response: ServerResponse) => void;

export interface ModelServer extends AsyncDisposable {
  readonly url: string;
  /** Files by path; a function answers as it likes. */
  readonly files: Map<string, Buffer | Handler>;
  /** `path range` of each request. */
  readonly asked: string[];
}

/** A server on loopback that knows ranges and entity tags, for everything that `files` holds as bytes. */
export async function startModelServer(): Promise<ModelServer> {
  const files: ModelServer['files'] = new Map();
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    asked.push(`${path} ${request.headers.range ?? 'whole'}`);
    const file = files.get(path);
    if (file === undefined) response.writeHead(404).end();
    else if (typeof file === 'function') file(request, response);
    else sendFile(file, request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    files,
    asked,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/**
 * @param options.cutAt bytes of the file after which the connection breaks
 * @param options.arrived resolves when these bytes arrived: what is on its way is lost with a connection
 */
export function sendFile(
  file: Buffer,
  request: IncomingMessage,
  response: ServerResponse,
  {
    etag = `"${file.length}"`,
    cutAt = file.length,
    arrived = () => Promise.resolve(),
  }: { readonly etag?: string; readonly cutAt?: number; readonly arrived?: () => Promise<unknown> } = {},
): void {
  const from = Number(/^bytes=(\d+)-$/u.exec(request.headers.range ?? '')?.[1] ?? 0);
  const isRest = from > 0 && request.headers['if-range'] === etag;
  const start = isRest ? from : 0;
  if (start >= file.length && isRest) {
    response.writeHead(416, { 'content-range': `bytes */${file.length}` }).end();
    return;
  }
  response.writeHead(isRest ? 206 : 200, {
    etag,
    'content-length': file.length - start,
    ...(isRest ? { 'content-range': `bytes ${start}-${file.length - 1}/${file.length}` } : {}),
  });
  if (cutAt >= file.length) response.end(file.subarray(start));
  else {
    response.write(file.subarray(start, cutAt));
    void arrived().finally(() => response.destroy());
  }
}
