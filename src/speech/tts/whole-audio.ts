import { SpeechProtocolError } from '../client/errors.ts';
import type { Exchange } from '../client/exchange.ts';
import type { MaskSecret } from '../../kernel/mask-secret.ts';
import type { SpeechFormat } from './speech-fields.ts';

const RIFF_HEADER_BYTES = 8;
/** WAV writers with an unknown length state zero, or a length near the maximum. */
const MOST_KNOWN_BYTES = 0x7fff_0000;
/** Enough to tell audio from text: 20 ms of speech at 8 kHz are never all letters. */
const HEAD_BYTES = 160;
const MOST_SHOWN_CHARACTERS = 120;

const CONTAINERS = { RIFF: 'a WAV file', fLaC: 'a FLAC file', OggS: 'an Ogg file' } as const;
/** HTML, JSON, and plain text. */
const TEXT = /^\uFEFF?(?:\s*[[{<"]|[^]{16})/u;
const PRINTABLE = /^[\t\n\r\x20-\x7E\u00A0-\uFFFC]*$/u;

/**
 * Passes on an answer's audio. Its first bytes are held back until they prove to be the requested format: a proxy's page or a JSON
 * error may have status 200. Its end is checked against the format's own length, since a Content-Length may be wrong: a WAV file
 * states its length, and PCM has whole samples. A truncation of other formats cannot be detected.
 * @param trustsLength false for a service whose WAV files do not know their length when they begin
 * @throws SpeechProtocolError before the first byte for anything else than such audio, and at the end of truncated audio
 */
export async function* wholeAudio(
  format: SpeechFormat,
  exchange: Exchange,
  trustsLength = true,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { requestId } = exchange;
  const contentType = exchange.response.headers.get('content-type') ?? undefined;
  let bytes = 0;
  let head = Buffer.alloc(0);
  let isChecked = false;
  const check = (): void => {
    isChecked = true;
    const wrong = wrongAudio(format, contentType, head);
    if (wrong === undefined) return;
    const { status } = exchange.response;
    const came = `${contentType === undefined ? 'no content type' : exchange.mask(contentType)}, which begins ${shownHead(head, exchange.mask)}`;
    throw new SpeechProtocolError(`synthesis: asked for ${format} and got ${wrong} (HTTP ${status}, ${came})`, {
      status,
      requestId,
      body: exchange.mask(head.toString('utf8')),
    });
  };
  for await (const part of exchange.body()) {
    bytes += part.length;
    if (isChecked) {
      yield part;
      continue;
    }
    head = Buffer.concat([head, part]);
    if (!isDecided(format, head)) continue;
    check();
    yield head;
  }
  const broken = (what: string): never => {
    throw new SpeechProtocolError(`synthesis: ${what}; ask again`, { requestId });
  };
  if (bytes === 0) broken('the answer has no audio');
  if (!isChecked) {
    check();
    yield head;
  }
  if (format === 'pcm' && bytes % 2 === 1) broken('the audio ends in half a sample');
  const told = format === 'wav' && trustsLength ? riffBytes(head) : 0;
  if (told > bytes) broken(`the audio ends after ${bytes} of ${told} bytes`);
}

/** What bytes are that should be raw audio but are a text or a file; undefined for audio. */
export function notRawAudio(head: Uint8Array): string | undefined {
  const text = textOf(head);
  return text !== undefined && TEXT.test(text) ? 'text' : containerOf(head);
}

/** Whether these bytes suffice to decide. The first unprintable byte tells raw samples from text. */
function isDecided(format: SpeechFormat, head: Buffer): boolean {
  return head.length >= HEAD_BYTES || (hasFormat(format, head) ?? textOf(head) === undefined);
}

/** The bytes as text; undefined for bytes that are not text. */
function textOf(bytes: Uint8Array): string | undefined {
  // The last character may be truncated.
  const text = Buffer.from(bytes.subarray(0, HEAD_BYTES))
    .toString('utf8')
    .replace(/\uFFFD{1,3}$/u, '');
  return text !== '' && PRINTABLE.test(text) ? text : undefined;
}

function wrongAudio(format: SpeechFormat, contentType: string | undefined, head: Buffer): string | undefined {
  if (
    contentType !== undefined &&
    /^\s*(?:text\/|application\/(?:[\w.-]+\+)?(?:json|xml)|application\/xhtml)/iu.test(contentType)
  )
    return 'text';
  const isIt = hasFormat(format, head);
  if (isIt === true) return undefined;
  return notRawAudio(head) ?? (isIt === undefined ? undefined : 'something else');
}

/** Whether the bytes begin with the format's signature; undefined for raw samples, which have none. */
function hasFormat(format: SpeechFormat, head: Buffer): boolean | undefined {
  const magic = head.toString('latin1', 0, 12);
  switch (format) {
    case 'wav':
      return /^R(?:IFF|F64)[^]{4}WAVE/u.test(magic);
    case 'flac':
      return magic.startsWith('fLaC');
    case 'ogg_opus':
      return magic.startsWith('OggS');
    case 'mp3':
      return magic.startsWith('ID3') || (head[0] === 0xff && ((head[1] ?? 0) & 0xe0) === 0xe0);
    case 'pcm':
    case 'mulaw':
    case 'alaw':
      return undefined;
  }
}

function containerOf(head: Uint8Array): string | undefined {
  const magic = Buffer.from(head.subarray(0, 4)).toString('latin1');
  return Object.entries(CONTAINERS).find(([name]) => name === magic)?.[1];
}

/** The first characters in quotes, or the first bytes in hex. */
export function shownHead(head: Uint8Array, mask: MaskSecret): string {
  const text = mask(Buffer.from(head).toString('utf8'));
  const words = text
    .replaceAll(/[\s\p{C}\uFFFD]+/gu, ' ')
    .trim()
    .slice(0, MOST_SHOWN_CHARACTERS);
  return words === '' ? Buffer.from(head.subarray(0, 8)).toString('hex') : JSON.stringify(words);
}

/** Length of the file by its RIFF header; 0 when unstated. */
function riffBytes(header: Uint8Array): number {
  if (header.length < RIFF_HEADER_BYTES) return RIFF_HEADER_BYTES;
  const size = new DataView(header.buffer, header.byteOffset).getUint32(4, true);
  return size > MOST_KNOWN_BYTES ? 0 : size + RIFF_HEADER_BYTES;
}
