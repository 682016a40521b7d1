/** What a recording is kept as: written as WAV while the call goes, and turned into one of the others after it. */
export const RECORDING_FORMATS = ['wav', 'flac', 'opus'] as const;
export type RecordingFormat = (typeof RECORDING_FORMATS)[number];

/** What a recording can be turned into. */
export const COMPRESSED_FORMATS = ['flac', 'opus'] as const;
export type CompressedFormat = (typeof COMPRESSED_FORMATS)[number];

/** As HTTP names them (RFC 9639, section 10; RFC 7845, section 9). */
export const RECORDING_TYPES: Readonly<Record<RecordingFormat, string>> = {
  wav: 'audio/wav',
  flac: 'audio/flac',
  opus: 'audio/ogg; codecs=opus',
};

/** A recording's path or object key as it is in another format: its ending tells, with or without `.sealed` behind it. */
export function inFormat(name: string, format: RecordingFormat): string {
  return name.replace(/\.(?:wav|flac|opus)(?=(?:\.sealed)?$)/u, `.${format}`);
}
