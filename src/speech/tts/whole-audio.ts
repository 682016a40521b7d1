import { SpeechProtocolError } from '../errors.ts';
import type { SpeechFormat } from './speech-fields.ts';

const RIFF_HEADER_BYTES = 8;
/** Writers that do not know their length yet say none, or one near the most that fits. */
const MOST_KNOWN_BYTES = 0x7fff_0000;

/**
 * Passes audio on, and holds its end against what the format itself says of its length, since a length in the head of an
 * answer may be wrong: a WAV file says how long it is, and no PCM ends in half a sample. The other formats can be cut
 * anywhere without showing it.
 * @throws SpeechProtocolError at the end of audio that is none, or not all of it
 */
export async function* wholeAudio(
  format: SpeechFormat,
  audio: AsyncIterable<Uint8Array>,
  requestId: string | undefined,
): AsyncGenerator<Uint8Array, void, undefined> {
  let bytes = 0;
  let header: Uint8Array = new Uint8Array();
  for await (const part of audio) {
    if (header.length < RIFF_HEADER_BYTES) header = Buffer.concat([header, part.subarray(0, RIFF_HEADER_BYTES)]);
    bytes += part.length;
    yield part;
  }
  const broken = (what: string): never => {
    throw new SpeechProtocolError(`synthesis: ${what}; ask again`, { requestId });
  };
  if (bytes === 0) broken('the answer has no audio');
  if (format === 'pcm' && bytes % 2 === 1) broken('the audio ends in half a sample');
  const told = format === 'wav' ? riffBytes(header) : 0;
  if (told > bytes) broken(`the audio ends after ${bytes} of ${told} bytes`);
}

/** How long the file is by its own first chunk; 0 when it does not say. */
function riffBytes(header: Uint8Array): number {
  if (header.length < RIFF_HEADER_BYTES) return RIFF_HEADER_BYTES;
  const size = new DataView(header.buffer, header.byteOffset).getUint32(4, true);
  return size > MOST_KNOWN_BYTES ? 0 : size + RIFF_HEADER_BYTES;
}
