import type { ByteSource, DecodeBlocks } from '../byte-source.ts';
import { MediaNeedsFfmpegError, MediaUnreadableError } from '../errors.ts';
import { OggWriter } from '../ogg/ogg.ts';
import { decodeVorbisPages, vorbisChannelsAt } from './ogg-decoder.ts';
import { decodeRateHz, opusBlocks } from '../opus/ogg-opus.ts';

/** Decodes Opus or Vorbis in WebM or Matroska. */
export async function* decodeWebm(source: ByteSource): DecodeBlocks {
  const elements = webmElements(source);
  const first = elements.next();
  if (first.done === true || first.value instanceof Uint8Array)
    throw new MediaUnreadableError('there is no track in the WebM file');
  const { codec, codecPrivate } = first.value;
  if (codec === 'A_OPUS') yield* opusBlocks(codecPrivate, decodeRateHz, packetsOf(elements));
  else if (codec === 'A_VORBIS') {
    const headers = vorbisHeaders(codecPrivate);
    yield* decodeVorbisPages(vorbisPages(headers, packetsOf(elements)), headers[0]?.[vorbisChannelsAt] ?? 0);
  } else throw new MediaNeedsFfmpegError(`WebM with ${codec.slice(0, 40)}`);
}

function* packetsOf(elements: Iterable<WebmTrack | Uint8Array>): Generator<Uint8Array> {
  for (const element of elements) if (element instanceof Uint8Array) yield element;
}

/** The Vorbis decoder reads Ogg only, so each packet goes into a page of its own. */
function* vorbisPages(headers: readonly Uint8Array[], packets: Iterable<Uint8Array>): Generator<Uint8Array> {
  const ogg = new OggWriter(1);
  const page = (data: Uint8Array): Uint8Array => {
    try {
      return ogg.page([{ data, granule: 0 }], false);
    } catch (error) {
      throw new MediaUnreadableError('a Vorbis packet is too large', { cause: error });
    }
  };
  for (const header of headers) yield page(header);
  for (const packet of packets) yield page(packet);
}

/** The three headers of a Vorbis stream, joined with Xiph lacing (RFC 9559, section 10.3.2). @throws MediaUnreadableError */
function vorbisHeaders(codecPrivate: Uint8Array): Uint8Array[] {
  let at = 1;
  const lengths = [0, 0];
  for (const index of lengths.keys()) {
    let value = 255;
    while (value === 255) {
      value = codecPrivate[at++] ?? 0;
      lengths[index] = (lengths[index] ?? 0) + value;
    }
  }
  const [first = 0, second = 0] = lengths;
  const headers = [
    codecPrivate.subarray(at, at + first),
    codecPrivate.subarray(at + first, at + first + second),
    codecPrivate.subarray(at + first + second),
  ];
  // Each header starts with its type: identification, comments, setup (Vorbis I, section 4.2.1).
  const isIntact = codecPrivate[0] === 2 && [1, 3, 5].every((kind, index) => headers[index]?.[0] === kind);
  if (!isIntact) throw new MediaUnreadableError('the Vorbis headers of the WebM file are damaged');
  return headers;
}

/** Element ids (RFC 9559), length markers included, as in the file. */
const ids = {
  segment: 0x18538067,
  tracks: 0x1654ae6b,
  trackEntry: 0xae,
  trackNumber: 0xd7,
  trackType: 0x83,
  codecId: 0x86,
  codecPrivate: 0x63a2,
  cluster: 0x1f43b675,
  simpleBlock: 0xa3,
  blockGroup: 0xa0,
  block: 0xa1,
} as const;
const audioTrack = 2;
/** Largest element read; audio packets are far smaller. */
const maxElementBytes = 1024 * 1024;

interface WebmTrack {
  readonly number: number;
  readonly codec: string;
  readonly codecPrivate: Uint8Array;
}

interface Element {
  readonly id: number;
  readonly at: number;
  /** Infinity for an element of unknown length. */
  readonly end: number;
}

/** Reads a variable-length number of 1 to 8 bytes: its first set bit tells the length. */
function readNumber(bytes: Uint8Array, keepMarker: boolean): { value: number; length: number } | undefined {
  const first = bytes[0] ?? 0;
  const length = Math.clz32(first) - 23;
  if (first === 0 || length > bytes.length) return undefined;
  let value = keepMarker ? first : first & (0xff >> length);
  let ones = (first & (0xff >> length)) === 0xff >> length;
  for (const byte of bytes.subarray(1, length)) {
    value = value * 256 + byte;
    ones &&= byte === 0xff;
  }
  return { value: ones && !keepMarker ? Number.POSITIVE_INFINITY : value, length };
}

function elementAt(source: ByteSource, at: number): Element {
  const head = source.read(at, 12);
  const id = readNumber(head, true);
  const size = id && readNumber(head.subarray(id.length), false);
  if (id === undefined || size === undefined || id.length > 4) throw new MediaUnreadableError('the WebM file is damaged');
  const body = at + id.length + size.length;
  return { id: id.value, at: body, end: body + size.value };
}

/**
 * Walks a WebM file in order.
 * @returns the first audio track, then its packets, each a view that is valid until the next one is read
 * @throws MediaUnreadableError when it is cut off or damaged, MediaNeedsFfmpegError for laced packets
 */
function* webmElements(source: ByteSource): Generator<WebmTrack | Uint8Array> {
  let track: WebmTrack | undefined;
  for (let at = 0; at < source.sizeBytes;) {
    const element = elementAt(source, at);
    if (element.end !== Number.POSITIVE_INFINITY && element.end > source.sizeBytes) {
      throw new MediaUnreadableError('the WebM file is cut off');
    }
    const { id } = element;
    if (id === ids.segment || id === ids.cluster || id === ids.blockGroup) {
      at = element.at;
      continue;
    }
    if (element.end === Number.POSITIVE_INFINITY) throw new MediaUnreadableError('the WebM file is damaged');
    if (id === ids.tracks && track === undefined) {
      track = firstAudioTrack(source, element);
      if (track === undefined) throw new MediaUnreadableError('there is no audio in the WebM file');
      yield track;
    }
    if ((id === ids.simpleBlock || id === ids.block) && track !== undefined) {
      const packet = packetOf(source, element, track.number);
      if (packet !== undefined) yield packet;
    }
    at = element.end;
  }
}

function firstAudioTrack(source: ByteSource, tracks: Element): WebmTrack | undefined {
  for (let at = tracks.at; at < tracks.end;) {
    const entry = elementAt(source, at);
    const track = entry.id === ids.trackEntry ? readTrack(source, entry) : undefined;
    if (track !== undefined) return track;
    at = entry.end;
  }
  return undefined;
}

function readTrack(source: ByteSource, entry: Element): WebmTrack | undefined {
  let [number, type, codec] = [0, 0, ''];
  let codecPrivate: Uint8Array = new Uint8Array(0);
  for (let at = entry.at; at < Math.min(entry.end, source.sizeBytes);) {
    const field = elementAt(source, at);
    const known: readonly number[] = [ids.trackNumber, ids.trackType, ids.codecId, ids.codecPrivate];
    if (known.includes(field.id)) {
      const value = Uint8Array.from(bodyOf(source, field));
      if (field.id === ids.trackNumber) number = value.reduce((sum, byte) => sum * 256 + byte, 0);
      if (field.id === ids.trackType) type = value.at(-1) ?? 0;
      if (field.id === ids.codecId) codec = Buffer.from(value).toString('latin1').replace(/\0+$/, '');
      if (field.id === ids.codecPrivate) codecPrivate = value;
    }
    at = field.end;
  }
  return type === audioTrack ? { number, codec, codecPrivate } : undefined;
}

function packetOf(source: ByteSource, block: Element, wanted: number): Uint8Array | undefined {
  // The track comes first, so that blocks of video need not be read.
  const track = readNumber(source.read(block.at, 8), false);
  if (track === undefined) throw new MediaUnreadableError('the WebM file is damaged');
  if (track.value !== wanted) return undefined;
  const body = bodyOf(source, block);
  const flags = body[track.length + 2] ?? 0;
  if ((flags & 0x06) !== 0) throw new MediaNeedsFfmpegError('WebM with laced packets');
  return body.subarray(track.length + 3);
}

function bodyOf(source: ByteSource, { at, end }: Element): Uint8Array {
  if (end - at > maxElementBytes) throw new MediaUnreadableError('the WebM file is damaged');
  return source.read(at, end - at);
}
