/** Formats a recording is stored in: WAV during the call, compressed afterwards if so configured. */
export const RECORDING_FORMATS = ['wav', 'flac', 'opus'] as const;
export type RecordingFormat = (typeof RECORDING_FORMATS)[number];

/** Formats a WAV recording can be compressed to. */
export const COMPRESSED_FORMATS = ['flac', 'opus'] as const;
export type CompressedFormat = (typeof COMPRESSED_FORMATS)[number];

/** Media types (RFC 9639, section 10; RFC 7845, section 9). */
export const RECORDING_TYPES: Readonly<Record<RecordingFormat, string>> = {
  wav: 'audio/wav',
  flac: 'audio/flac',
  opus: 'audio/ogg; codecs=opus',
};

/** The path or object key of a recording in another format: its ending is replaced, also before `.sealed`. */
export function inFormat(name: string, format: RecordingFormat): string {
  return name.replace(/\.(?:wav|flac|opus)(?=(?:\.sealed)?$)/u, `.${format}`);
}
