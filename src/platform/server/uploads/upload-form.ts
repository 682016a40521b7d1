import type { FastifyRequest } from 'fastify';
import { OffhookError } from '../../../kernel/errors.ts';
import { Refusal } from '../listener/refusal.ts';
import { type AudioBytes, spoolToDisk, tooLarge } from './open-audio.ts';

/** A multipart body, with its audio on disk. The receiver disposes of it. */
export interface UploadForm extends AsyncDisposable {
  /** Values of fields: the first of a repeated one; all parts of one `name[]` as a JSON array. */
  readonly fields: ReadonlyMap<string, string>;
  readonly file: AudioBytes | undefined;
  /** The client's file name; may be empty. */
  readonly fileName: string;
  /** The decoded field `audio_base64`. */
  readonly base64: AudioBytes | undefined;
}

/** Largest field other than audio: a long list of phrases. */
const maxFieldBytes = 256 * 1024;
const maxFields = 100;

/**
 * Reads a multipart body; `file` and `audio_base64` go to disk as they arrive.
 * @param audioBytes largest size of a file
 * @throws Refusal 400 for a body of another type, a malformed one and invalid base64; 413 for a body that is too large
 */
export async function readUploadForm(request: FastifyRequest, audioBytes: number, uploadFolder: string): Promise<UploadForm> {
  if (!request.isMultipart()) throw new Refusal(400, 'The body must be multipart/form-data');
  const declared = Number(request.headers['content-length'] ?? 0);
  // Base64 adds a third; fields and boundaries are small beside it.
  if (declared > audioBytes * 1.34 + 4 * 1024 * 1024) throw tooLarge(audioBytes);

  const fields = new Map<string, string>();
  const lists = new Map<string, string[]>();
  const audio = new Map<'file' | 'audio_base64', AudioBytes>();
  const dispose = async (): Promise<void> => {
    await Promise.all([...audio.values()].map((bytes) => bytes[Symbol.asyncDispose]()));
  };
  let fileName = '';
  try {
    const parts = request.parts({
      limits: {
        fileSize: Number.POSITIVE_INFINITY,
        fieldSize: maxFieldBytes,
        fields: maxFields,
        files: 4,
        parts: maxFields + 4,
      },
      // `audio_base64` is read as a file, so that it is streamed to disk.
      isPartAFile: (name, _type, givenName) => name === 'audio_base64' || name === 'file' || givenName !== undefined,
    });
    for await (const part of parts) {
      if (part.type === 'field') {
        if (part.valueTruncated) {
          throw new Refusal(400, `${part.fieldname.slice(0, 40)}: longer than ${maxFieldBytes} bytes`);
        }
        const { fieldname } = part;
        // Parts named `name[]` are one list, however many there are.
        if (fieldname.endsWith('[]')) lists.set(fieldname, [...(lists.get(fieldname) ?? []), String(part.value)]);
        else if (!fields.has(fieldname)) fields.set(fieldname, String(part.value));
        continue;
      }
      const { fieldname: name } = part;
      if (name !== 'file' && name !== 'audio_base64') {
        part.file.resume();
        continue;
      }
      if (audio.has(name)) throw new Refusal(400, `${name} was sent more than once`);
      const bytes = name === 'file' ? part.file : decodeBase64(part.file);
      audio.set(name, await spoolToDisk(bytes, uploadFolder, audioBytes));
      if (name === 'file') fileName = part.filename ?? '';
    }
    for (const [name, list] of lists) fields.set(name, JSON.stringify(list));
  } catch (error) {
    await dispose();
    throw isNoParserError(error) ? error : new Refusal(400, 'The multipart body is malformed', { cause: error });
  }
  return { fields, file: audio.get('file'), fileName, base64: audio.get('audio_base64'), [Symbol.asyncDispose]: dispose };
}

/** Refusals, errors of the framework and of the disk; all other errors come from the multipart parser. */
function isNoParserError(error: unknown): boolean {
  return error instanceof OffhookError || (error instanceof Error && ('syscall' in error || isCoded(error)));
}

function isCoded(error: Error): boolean {
  return 'code' in error && typeof error.code === 'string' && error.code.startsWith('FST_');
}

/** Longest `data:` prefix, which is accepted (D). */
const maxPrefixCharacters = 200;

/**
 * Decodes base64 as a stream: either alphabet, with or without padding and line ends.
 * @throws Refusal 400 for invalid or empty base64
 */
export async function* decodeBase64(chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  let pending = '';
  let begun = false;
  let padded = false;
  let any = false;
  const take = (text: string): Buffer => {
    if (padded && text !== '') throw notBase64();
    padded = text.includes('=');
    if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(text)) throw notBase64();
    any ||= text !== '';
    return Buffer.from(text, 'base64');
  };
  for await (const chunk of chunks) {
    // Latin-1 keeps characters outside ASCII invalid.
    pending += Buffer.from(chunk).toString('latin1').replaceAll(/\s+/g, '');
    if (!begun) {
      const comma = pending.indexOf(',');
      const prefixed = 'data:'.startsWith(pending.slice(0, 5));
      if (prefixed && comma === -1 && pending.length <= maxPrefixCharacters) continue;
      if (prefixed && comma !== -1) pending = pending.slice(comma + 1);
      begun = true;
    }
    const whole = pending.length - (pending.length % 4);
    yield take(pending.slice(0, whole));
    pending = pending.slice(whole);
  }
  if (pending.replace(/=+$/, '').length === 1) throw notBase64();
  yield take(pending);
  if (!any) throw notBase64();
}

function notBase64(): Refusal {
  return new Refusal(400, 'audio_base64: not base64');
}
