import { createHash } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
// For its type declarations on requests.
import '@fastify/multipart';
import type { FastifyRequest } from 'fastify';
import { atMost } from '../../../kernel/bounded-reading.ts';
import { hasCode, OffhookError } from '../../../kernel/errors.ts';
import { pourIntoFile } from '../../../kernel/file-streams.ts';
import { temporaryPath } from '../../../kernel/temporary.ts';
import { RequestRefused } from '../../problem.ts';

/** Kind of an uploaded file, for error messages. */
export type UploadKind = 'recording' | 'contacts';

/** An uploaded file on this disk. Disposal deletes it. */
export class UploadedFile implements AsyncDisposable {
  readonly path: string;
  readonly sha256: string;
  readonly bytes: number;
  /** Name given by the client, without folders; its kind without one. */
  readonly name: string;

  constructor({ path, sha256, bytes, name }: Pick<UploadedFile, 'path' | 'sha256' | 'bytes' | 'name'>) {
    this.path = path;
    this.sha256 = sha256;
    this.bytes = bytes;
    this.name = name;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return rm(this.path, { force: true });
  }
}

export interface UploadForm {
  /** The first value of a repeated field. */
  readonly fields: Readonly<Record<string, string>>;
  readonly file: UploadedFile;
}

export interface UploadLimits {
  readonly folder: string;
  readonly maxBytes: number;
}

interface Upload extends UploadLimits {
  readonly kind: UploadKind;
}

const MOST_FIELDS = 20;
const FIELD_BYTES = 65_536;
/** Room for fields, boundaries and part headers. */
const FORM_BYTES = 2_097_152;
/** Concurrent uploads of one process; more get 503. */
const MOST_AT_ONCE = 8;
let atOnce = 0;

/**
 * Reads a multipart body, or contacts as the body; the file is written to disk as it arrives, and removed after a refusal.
 * @throws RequestRefused that names what is accepted: 400 for a broken body or not exactly one file, 413 for a too large one, 503 for too many at
 * once
 */
export async function readUpload(request: FastifyRequest, kind: UploadKind, limits: UploadLimits): Promise<UploadForm> {
  const upload = { ...limits, kind };
  if (Number(request.headers['content-length'] ?? 0) > limits.maxBytes + FORM_BYTES)
    throw refused(413, 'The file is too large', upload);
  if (atOnce >= MOST_AT_ONCE) throw new RequestRefused(503, 'Too many uploads at once: send it again in a while.');
  atOnce += 1;
  try {
    const form = request.isMultipart() ? await readForm(request, upload) : { fields: {}, file: await readBody(request, upload) };
    if (form.file.bytes > 0) return form;
    await form.file[Symbol.asyncDispose]();
    throw refused(400, 'The file is empty', upload);
  } finally {
    atOnce -= 1;
  }
}

/** A body that is the file. */
async function readBody(request: FastifyRequest, upload: Upload): Promise<UploadedFile> {
  try {
    // Not destroyed on refusal: the answer uses the same socket.
    return await spool(request.raw.iterator({ destroyOnReturn: false }), upload.kind, upload);
  } catch (error) {
    if (error instanceof OffhookError || isOfTheDisk(error)) throw error;
    throw refused(400, 'The body breaks off before its end', upload, error);
  }
}

async function readForm(request: FastifyRequest, upload: Upload): Promise<UploadForm> {
  const fields: Record<string, string> = {};
  let file: UploadedFile | undefined;
  try {
    const parts = request.parts({
      limits: {
        fileSize: Number.POSITIVE_INFINITY,
        files: 1,
        fields: MOST_FIELDS,
        fieldSize: FIELD_BYTES,
        parts: MOST_FIELDS + 1,
      },
      isPartAFile: (name) => name === 'file',
    });
    for await (const part of parts) {
      if (part.type === 'file') file = await spool(part.file, part.filename ?? '', upload);
      else if (part.valueTruncated) throw refused(400, 'A field is too long', upload);
      else if (!(part.fieldname in fields)) fields[part.fieldname] = String(part.value);
    }
    if (file === undefined) throw refused(400, 'There is no file in the body', upload);
    return { fields, file };
  } catch (error) {
    await file?.[Symbol.asyncDispose]();
    if (error instanceof OffhookError || isOfTheDisk(error)) throw error;
    if (hasCode(error, 'FST_FILES_LIMIT')) throw refused(400, 'There is more than one file in the body', upload, error);
    if (hasCode(error, 'FST_FIELDS_LIMIT', 'FST_PARTS_LIMIT'))
      throw refused(400, `There are more than ${MOST_FIELDS} fields in the body`, upload, error);
    throw refused(400, 'The body breaks off before its end, or is no multipart form', upload, error);
  }
}

function refused(status: 400 | 413, what: string, { kind, maxBytes }: Upload, cause?: unknown): RequestRefused {
  const accepted = {
    recording: `multipart/form-data with one part \`file\` (WAV, MP3, FLAC, OGG, M4A, MP4 or WebM, 1 to ${maxBytes} bytes) and the fields \`profile\`, \`name\`, \`recordedAt\` and \`metadata\` (a JSON object)`,
    contacts: `CSV of 1 to ${maxBytes} bytes as text/csv (JSON Lines as application/jsonl), or as the one part \`file\` of multipart/form-data`,
  };
  return new RequestRefused(status, `${what}. Accepted is ${accepted[kind]}.`, { cause, closes: true });
}

async function spool(part: AsyncIterable<Uint8Array>, givenName: string, upload: Upload): Promise<UploadedFile> {
  const { folder, maxBytes, kind } = upload;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = temporaryPath(join(folder, 'upload'));
  const hash = createHash('sha256');
  let bytes: number;
  try {
    bytes = await pourIntoFile(part, path, {
      flags: 'wx',
      async *through(chunks: AsyncIterable<Uint8Array>) {
        for await (const chunk of atMost(chunks, maxBytes, () => refused(413, 'The file is too large', upload))) {
          hash.update(chunk);
          yield chunk;
        }
      },
    });
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
  const name = givenName.split(/[/\\]/u).at(-1)?.slice(0, 200) ?? '';
  return new UploadedFile({ path, bytes, sha256: hash.digest('hex'), name: name === '' ? kind : name });
}

function isOfTheDisk(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error && 'path' in error;
}
