export const CONTAINERS = ['wav', 'mp3', 'flac', 'ogg', 'mp4', 'webm', 'aac', 'asf', 'avi'] as const;

/** An audio container, told by its first bytes; a file's name and declared type are ignored. */
export type Container = (typeof CONTAINERS)[number];

/**
 * Recognises the container of a file.
 * @param head its first 16 bytes or more
 * @returns undefined for text and anything else that is no known audio container
 */
export function containerOf(head: Uint8Array): Container | undefined {
  const ascii = Buffer.from(head.subarray(0, 16)).toString('latin1');
  if (ascii.startsWith('RIFF')) return ascii.slice(8, 12) === 'AVI ' ? 'avi' : 'wav';
  if (ascii.startsWith('fLaC')) return 'flac';
  if (ascii.startsWith('OggS')) return 'ogg';
  if (ascii.slice(4, 8) === 'ftyp') return 'mp4';
  // Matroska too: WebM is a subset of it.
  if (ascii.startsWith('\x1aE\xdf\xa3')) return 'webm';
  if (ascii.startsWith('0&\xb2\x75\x8e\x66\xcf\x11')) return 'asf';
  if (ascii.startsWith('ID3')) return 'mp3';
  if (head[0] !== 0xff) return undefined;
  const second = head[1] ?? 0;
  // An ADTS header is an MPEG frame header whose layer is 0.
  if ((second & 0xf6) === 0xf0) return 'aac';
  return (second & 0xe0) === 0xe0 && (second & 0x18) !== 0x08 && (second & 0x06) !== 0 ? 'mp3' : undefined;
}
