import { decodeAudio } from './codec.ts';
import { decodeWavSamples, readWavLayout, type WavLayout, wavSampleBytes } from './wav.ts';

/** The loudest sample of each interval, by channel, 0 to 255 of full scale: what a drawing of the sound needs. */
export interface SoundPeaks {
  readonly durationMs: number;
  readonly intervalMs: number;
  readonly channels: readonly Uint8Array[];
}

/** Shorter ones cannot be told apart on a screen. */
const LEAST_INTERVAL_MS = 20;
/** An hour in steps of 50 ms. */
const MOST_POINTS = 72_000;
/** A header with all its chunks before the samples is shorter. */
const HEAD_BYTES = 65_536;
/** Samples that are read before the event loop has its turn. */
const AT_ONCE = 16_384;

/**
 * Measures a WAV file while it is read, in little memory and in small steps.
 * @param file its bytes from the first on, in pieces of any length
 * @param fileBytes length of the whole file
 * @throws WavError, and what reading throws
 */
export async function measurePeaks(file: AsyncIterable<Uint8Array>, fileBytes: number): Promise<SoundPeaks> {
  let meter: PeakMeter | undefined;
  let head = new Uint8Array(0);
  for await (const piece of file) {
    if (meter !== undefined) {
      await meter.add(piece);
      continue;
    }
    head = joined(head, piece);
    if (head.length < Math.min(HEAD_BYTES, fileBytes)) continue;
    meter = await begun(head, fileBytes);
  }
  return (meter ?? (await begun(head, fileBytes))).peaks;
}

async function begun(head: Uint8Array, fileBytes: number): Promise<PeakMeter> {
  const layout = readWavLayout(head, fileBytes);
  const meter = new PeakMeter(layout);
  await meter.add(head.subarray(layout.dataOffset));
  return meter;
}

class PeakMeter {
  readonly peaks: SoundPeaks;
  readonly #layout: WavLayout;
  readonly #framesPerPoint: number;
  #frame = 0;
  #bytesLeft: number;
  /** The incomplete end of the samples so far. */
  #rest = new Uint8Array(0);

  constructor(layout: WavLayout) {
    const { dataBytes, format, channels, rateHz } = layout;
    const frames = Math.floor(dataBytes / (wavSampleBytes(format) * channels));
    const durationMs = (frames / rateHz) * 1000;
    const steps = Math.max(1, Math.ceil(durationMs / MOST_POINTS / 10));
    const intervalMs = Math.max(LEAST_INTERVAL_MS, steps * 10);
    this.#layout = layout;
    this.#bytesLeft = dataBytes;
    this.#framesPerPoint = (intervalMs * rateHz) / 1000;
    const points = Math.ceil(durationMs / intervalMs);
    this.peaks = { durationMs, intervalMs, channels: Array.from({ length: channels }, () => new Uint8Array(points)) };
  }

  async add(piece: Uint8Array): Promise<void> {
    const { format, channels } = this.#layout;
    const frameBytes = wavSampleBytes(format) * channels;
    const mine = piece.subarray(0, this.#bytesLeft);
    this.#bytesLeft -= mine.length;
    const bytes = this.#rest.length === 0 ? mine : joined(this.#rest, mine);
    const whole = bytes.length - (bytes.length % frameBytes);
    for (let at = 0; at < whole; at += AT_ONCE * frameBytes) {
      const part = bytes.subarray(at, Math.min(whole, at + AT_ONCE * frameBytes));
      this.#take(format === 'pcm16' ? decodeAudio('pcm16', part) : decodeWavSamples(format, part));
      if (at > 0) await new Promise((resolve) => setImmediate(resolve));
    }
    this.#rest = bytes.slice(whole);
  }

  /** Channel by channel, as plain loops: an hour has sixty million samples. */
  #take(samples: Int16Array): void {
    const { channels } = this.peaks;
    for (const [side, peaks] of channels.entries()) {
      let frame = this.#frame;
      for (let at = side; at < samples.length; at += channels.length) {
        const level = Math.min(255, Math.abs(samples[at] ?? 0) >> 7);
        const point = Math.floor(frame / this.#framesPerPoint);
        if (level > (peaks[point] ?? 255)) peaks[point] = level;
        frame += 1;
      }
    }
    this.#frame += samples.length / channels.length;
  }
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}
