import type { FastifyRequest } from 'fastify';
import { OffhookError } from '../../../kernel/errors.ts';
import { Refusal } from '../refusal.ts';
import { type AudioBytes, bytesInMemory, spoolToDisk, tooLarge } from './audio-bytes.ts';
import type { FormFields } from './transcription-fields.ts';

export interface TranscriptionForm {
  readonly fields: FormFields;
  /** To be disposed of by the caller. */
  readonly audio: AudioBytes;
}

export interface FormLimits {
  readonly audioBytes: number;
  /** Where uploads are kept while they are worked on. */
  readonly uploadFolder: string;
}

/** Largest field that is not audio: a long list of phrases. */
const maxFieldBytes = 256 * 1024;
const maxFields = 100;
/** A V8 string holds fewer than 2^29 characters, so base64 ends there whatever the limit on audio says. */
const maxBase64Characters = 500_000_000;

/**
 * Reads a multipart upload with exactly one of `file`, `audio_base64` and `url` (ASR doc, batch transcription).
 * @throws Refusal 400 for no audio or two, for base64 that is none and for a body of another type, 413 for too much
 */
export async function readTranscriptionForm(request: FastifyRequest, limits: FormLimits): Promise<TranscriptionForm> {
  if (!request.isMultipart()) throw new Refusal(400, 'The body must be multipart/form-data');
  const declared = Number(request.headers['content-length'] ?? 0);
  // Base64 adds a third; fields and boundaries are small beside it.
  if (declared > limits.audioBytes * 1.34 + 4 * 1024 * 1024) throw tooLarge(limits.audioBytes);

  const fields = new Map<string, string>();
  let upload: AudioBytes | undefined;
  const base64Limit = Math.min(maxBase64Characters, Math.ceil(limits.audioBytes / 3) * 4 + 256);
  try {
    const parts = request.parts({
      limits: {
        fileSize: Number.POSITIVE_INFINITY,
        fieldSize: Math.max(base64Limit, maxFieldBytes),
        fields: maxFields,
        files: 4,
        parts: maxFields + 4,
      },
    });
    for await (const part of parts) {
      if (part.type === 'file') {
        if (part.fieldname !== 'file') part.file.resume();
        else if (upload !== undefined) throw new Refusal(400, 'file was sent more than once');
        else upload = await spoolToDisk(part.file, limits.uploadFolder, limits.audioBytes);
        continue;
      }
      const value = String(part.value);
      if (part.valueTruncated) throw tooLarge(limits.audioBytes);
      if (part.fieldname !== 'audio_base64' && value.length > maxFieldBytes) {
        throw new Refusal(400, `${part.fieldname.slice(0, 40)}: longer than ${maxFieldBytes} bytes`);
      }
      if (!fields.has(part.fieldname)) fields.set(part.fieldname, value);
    }
    return { fields, audio: pickAudio(fields, upload, limits.audioBytes) };
  } catch (error) {
    await upload?.[Symbol.asyncDispose]();
    throw isOurs(error) ? error : new Refusal(400, 'The multipart body is malformed', { cause: error });
  }
}

/** Refusals, the framework's coded errors, and the disk's; what is left are the multipart parser's complaints. */
function isOurs(error: unknown): boolean {
  return error instanceof OffhookError || (error instanceof Error && ('syscall' in error || isCoded(error)));
}

function isCoded(error: Error): boolean {
  return 'code' in error && typeof error.code === 'string' && error.code.startsWith('FST_');
}

function pickAudio(fields: Map<string, string>, upload: AudioBytes | undefined, maxBytes: number): AudioBytes {
  const base64 = fields.get('audio_base64');
  const url = fields.get('url');
  fields.delete('audio_base64');
  const given = [upload, base64, url].filter((source) => source !== undefined).length;
  if (given !== 1) throw new Refusal(400, 'Exactly one of file, audio_base64 and url is required');
  if (url !== undefined)
    throw new Refusal(400, 'url: fetching audio is not served by this platform yet; send file or audio_base64');
  return upload ?? bytesInMemory(decodeBase64(base64 ?? '', maxBytes));
}

/** A `data:` prefix is tolerated (D). The limit counts decoded bytes. */
function decodeBase64(text: string, maxBytes: number): Uint8Array {
  const body = text.replace(/^data:[^,]{0,200},/, '').replaceAll(/\s+/g, '');
  if (body === '' || body.length % 4 === 1 || !/^[A-Za-z0-9+/_-]*={0,2}$/.test(body)) {
    throw new Refusal(400, 'audio_base64: not base64');
  }
  const bytes = Buffer.from(body, 'base64');
  if (bytes.length > maxBytes) throw tooLarge(maxBytes);
  return bytes;
}
