import { SpeechProtocolError } from '../client/errors.ts';
import type { Exchange } from '../client/exchange.ts';
import type { MaskSecret } from '../../kernel/mask-secret.ts';
import type { SpeechFormat } from './speech-fields.ts';

const RIFF_HEADER_BYTES = 8;
/** Writers that do not know their length yet say none, or one near the most that fits. */
const MOST_KNOWN_BYTES = 0x7fff_0000;
/** So much decides what came: 20 ms of speech at 8 kHz are never all letters. */
const HEAD_BYTES = 160;
const MOST_SHOWN_CHARACTERS = 120;

const CONTAINERS = { RIFF: 'a WAV file', fLaC: 'a FLAC file', OggS: 'an Ogg file' } as const;
/** Pages, JSON, and sentences: what is printed where audio should be. */
const TEXT = /^\uFEFF?(?:\s*[[{<"]|[^]{16})/u;
const PRINTABLE = /^[\t\n\r\x20-\x7E\u00A0-\uFFFC]*$/u;

/**
 * Passes the audio of an answer on. Its head is held back until it shows that it is audio in the format that was asked for: a
 * proxy's page or an error as JSON may come with status 200. Its end is held against what the format itself says of its
 * length, since a length in the head of an answer may be wrong: a WAV file says how long it is, and no PCM ends in half a
 * sample. The other formats can be cut anywhere without showing it.
 * @throws SpeechProtocolError before the first byte for what is not such audio, and at the end of audio that is not whole
 */
export async function* wholeAudio(format: SpeechFormat, exchange: Exchange): AsyncGenerator<Uint8Array, void, undefined> {
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
  const told = format === 'wav' ? riffBytes(head) : 0;
  if (told > bytes) broken(`the audio ends after ${bytes} of ${told} bytes`);
}

/** What the first bytes of raw audio are when they are something else: words, or a file with a head. */
export function notRawAudio(head: Uint8Array): string | undefined {
  const text = textOf(head);
  return text !== undefined && TEXT.test(text) ? 'text' : containerOf(head);
}

/** More bytes change nothing. Raw samples are told from text by the first one that cannot be printed. */
function isDecided(format: SpeechFormat, head: Buffer): boolean {
  return head.length >= HEAD_BYTES || (hasFormat(format, head) ?? textOf(head) === undefined);
}

/** Undefined for bytes that no text has. */
function textOf(bytes: Uint8Array): string | undefined {
  // The last character may be cut in two.
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

/** Whether the bytes begin as the format does; undefined for raw samples, which may begin with anything. */
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

/** The first characters in quotes, or the first bytes where none can be printed. */
export function shownHead(head: Uint8Array, mask: MaskSecret): string {
  const text = mask(Buffer.from(head).toString('utf8'));
  const words = text
    .replaceAll(/[\s\p{C}\uFFFD]+/gu, ' ')
    .trim()
    .slice(0, MOST_SHOWN_CHARACTERS);
  return words === '' ? Buffer.from(head.subarray(0, 8)).toString('hex') : JSON.stringify(words);
}

/** How long the file is by its own first chunk; 0 when it does not say. */
function riffBytes(header: Uint8Array): number {
  if (header.length < RIFF_HEADER_BYTES) return RIFF_HEADER_BYTES;
  const size = new DataView(header.buffer, header.byteOffset).getUint32(4, true);
  return size > MOST_KNOWN_BYTES ? 0 : size + RIFF_HEADER_BYTES;
}
