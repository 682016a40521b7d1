import { decodeWavSamples, readWavLayout, wavSampleBytes, type WavLayout } from '../../audio/wav.ts';

/** A part of a long recording that is a WAV file by itself. */
export interface WavPart {
  readonly blob: Blob;
  /** Where it begins in the whole, in seconds. */
  readonly startS: number;
}

/** Longest header before the samples. */
const MOST_HEADER_BYTES = 64 * 1024;
/** A cut is searched in this much audio before the latest allowed position. */
const SEARCH_S = 20;
const FRAME_S = 0.02;
/** Length of the quiet stretch around a cut, in frames. */
const QUIET_FRAMES = 15;

/**
 * Cuts a WAV file into files of at most `maxBytes`, at the quietest place within 20 s, so that no word is cut where there is a
 * pause. Every sample is in exactly one part. Parts are slices of the blob, without a copy.
 * @throws WavError for an unreadable WAV file
 */
export async function splitWav(blob: Blob, maxBytes: number): Promise<WavPart[]> {
  const head = new Uint8Array(await blob.slice(0, MOST_HEADER_BYTES).arrayBuffer());
  const layout = readWavLayout(head, blob.size);
  const { dataOffset, dataBytes, rateHz, channels, format } = layout;
  const blockBytes = wavSampleBytes(format) * channels;
  const mostSamples = Math.floor((maxBytes - dataOffset) / blockBytes);
  if (mostSamples < 1) throw new RangeError('a part has no room for a sample');
  const samples = Math.floor(dataBytes / blockBytes);
  const parts: WavPart[] = [];
  for (let from = 0; from < samples;) {
    const isLast = samples - from <= mostSamples;
    const to = isLast ? samples : await quietPlace(blob, layout, from, from + mostSamples);
    const data = blob.slice(dataOffset + from * blockBytes, dataOffset + to * blockBytes);
    parts.push({ blob: new Blob([headerFor(head.slice(0, dataOffset), data.size), data]), startS: from / rateHz });
    from = to;
  }
  return parts;
}

/** The sample to cut at: at most the latest possible one, and never the first. */
async function quietPlace(blob: Blob, layout: WavLayout, from: number, latest: number): Promise<number> {
  const { dataOffset, rateHz, channels, format } = layout;
  const blockBytes = wavSampleBytes(format) * channels;
  const begin = Math.max(from + Math.floor((latest - from) / 2), latest - SEARCH_S * rateHz);
  const bytes = await blob.slice(dataOffset + begin * blockBytes, dataOffset + latest * blockBytes).arrayBuffer();
  const pcm = decodeWavSamples(format, new Uint8Array(bytes));
  const frame = Math.max(1, Math.round(FRAME_S * rateHz));
  const middle = quietestFrame(pcm, frame * channels);
  return middle === undefined ? latest : begin + Math.min(latest - begin, middle * frame);
}

/** The frame in the middle of the quietest stretch, the latest of equals; undefined for audio shorter than one stretch. */
export function quietestFrame(pcm: Int16Array, frameLength: number): number | undefined {
  const energies = Array.from({ length: Math.floor(pcm.length / frameLength) }, (_, index) => {
    let sum = 0;
    for (const sample of pcm.subarray(index * frameLength, (index + 1) * frameLength)) sum += sample * sample;
    return sum;
  });
  let best: number | undefined;
  let least = Infinity;
  for (let first = 0; first + QUIET_FRAMES <= energies.length; first += 1) {
    const sum = energies.slice(first, first + QUIET_FRAMES).reduce((total, energy) => total + energy, 0);
    if (sum <= least) {
      least = sum;
      best = first + Math.floor(QUIET_FRAMES / 2) + 1;
    }
  }
  return best;
}

/** The file's own header with the part's lengths. */
function headerFor(head: Uint8Array<ArrayBuffer>, dataBytes: number): Uint8Array<ArrayBuffer> {
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
  view.setUint32(4, head.length - 8 + dataBytes, true);
  view.setUint32(head.length - 4, dataBytes, true);
  return head;
}
