import { constants, openAsBlob } from 'node:fs';
import { access } from 'node:fs/promises';
import { basename } from 'node:path';
import { SpeechRequestError } from '../client/errors.ts';

/** Audio to upload: a file, streamed from disk, bytes, or base64. */
export type AudioFile =
  | { readonly path: string }
  | { readonly bytes: Uint8Array; readonly name: string }
  /** Decoded before it is sent. A `data:` prefix is allowed. */
  | { readonly base64: string; readonly name: string };

/** Exactly one source of audio; the platform fetches a URL. */
export type TranscriptionSource = AudioFile | { readonly url: string };

/** A file for a form. */
export interface OpenedAudio {
  readonly blob: Blob;
  readonly name: string;
}

/** @throws SpeechRequestError unless there is exactly one source, or for an address that is not public https */
export async function openSource(source: TranscriptionSource, maxBytes: number): Promise<string | OpenedAudio> {
  requireOne(source);
  return 'url' in source ? publicAddress(source.url) : await openAudioFile(source, maxBytes);
}

/** @throws SpeechRequestError for more or less than one source, one that cannot be read, is empty or over the limit */
export async function openAudioFile(source: AudioFile, maxBytes: number): Promise<OpenedAudio> {
  requireOne(source);
  const audio =
    'path' in source
      ? { blob: await opened(source.path), name: basename(source.path) }
      : { blob: new Blob([Uint8Array.from('bytes' in source ? source.bytes : decode(source.base64))]), name: source.name };
  if (audio.blob.size === 0) throw new SpeechRequestError(`the recording ${audio.name} is empty`);
  if (audio.blob.size > maxBytes)
    throw new SpeechRequestError(
      `a recording of ${audio.blob.size} bytes is over the platform's ${Math.floor(maxBytes / 1024 / 1024)} MB`,
    );
  return audio;
}

/** Opens a file; the runtime's own error lacks the file's name and the reason. */
async function opened(path: string): Promise<Blob> {
  try {
    await access(path, constants.R_OK);
    return await openAsBlob(path);
  } catch (cause) {
    const said = cause instanceof Error ? cause.message : String(cause);
    throw new SpeechRequestError(`the recording ${path} cannot be opened: ${said}`, { cause });
  }
}

function requireOne(source: TranscriptionSource): void {
  const given = ['path', 'bytes', 'base64', 'url'].filter((key) => key in source);
  if (given.length !== 1) throw new SpeechRequestError(`audio comes from one source, not from ${given.join(' and ') || 'none'}`);
}

/** Refuses an address with a password: addresses are in the platform's logs. */
function publicAddress(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'https:' || url.username !== '' || url.password !== '')
    throw new SpeechRequestError('the address of a recording is public https, without a user name or password');
  return url.href;
}

function decode(base64: string): Uint8Array {
  const text = base64.replace(/^data:[^,]{0,200},/u, '').replaceAll(/\s/gu, '');
  // No repeated group in the pattern: it would need a stack as deep as the recording is long.
  if (text === '' || text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/u.test(text))
    throw new SpeechRequestError('the recording is not base64');
  return Buffer.from(text, 'base64');
}

/** Bodies from this size on must not be copied in memory. */
const LARGE_BYTES = 8 * 1024 * 1024;
const PIECE_BYTES = 256 * 1024;

export function isLargeUpload({ blob }: OpenedAudio): boolean {
  return blob.size > LARGE_BYTES;
}

/**
 * A file that is read only as fast as it is sent, with progress. The runtime's own file stream reads all of it ahead into memory.
 * Its length is known, so that the request has a Content-Length.
 */
export class PacedFile extends File {
  readonly #onProgress: ((sentBytes: number, totalBytes: number) => void) | undefined;

  constructor({ blob, name }: OpenedAudio, onProgress?: (sentBytes: number, totalBytes: number) => void) {
    super([blob], name);
    this.#onProgress = onProgress;
  }

  override stream(): ReturnType<File['stream']> {
    let sent = 0;
    return new ReadableStream<Uint8Array<ArrayBuffer>>(
      {
        pull: async (controller) => {
          const piece = new Uint8Array(await this.slice(sent, sent + PIECE_BYTES).arrayBuffer());
          sent += piece.length;
          if (piece.length === 0) {
            controller.close();
            return;
          }
          controller.enqueue(piece);
          this.#onProgress?.(sent, this.size);
        },
      },
      { highWaterMark: 0 },
    );
  }
}
