import { joinSamples } from '../../../audio/samples.ts';

const RATE_HZ = 16_000;
/** Between two stretches of speech on the tape. */
const GAP_S = 0.5;

interface Stretch {
  readonly startS: number;
  readonly pcm: Int16Array;
}

interface Span {
  readonly startS: number;
  readonly endS: number;
}

/** The speech of a recording without the silences, up to a limit. */
export class SpeechTape {
  readonly #stretches: Stretch[] = [];
  #room: number;
  #whole = true;

  /** @param mostSeconds later speech is left out */
  constructor(mostSeconds: number) {
    this.#room = mostSeconds * RATE_HZ;
  }

  /** Whether all speech is on the tape. */
  get whole(): boolean {
    return this.#whole;
  }

  /** @param pcm mono at 16 kHz, copied. @param startS its time in the recording */
  add(pcm: Int16Array, startS: number): void {
    if (pcm.length > this.#room) this.#whole = false;
    if (!this.#whole) return;
    this.#room -= pcm.length;
    this.#stretches.push({ startS, pcm: pcm.slice() });
  }

  /** All of it, with short silences between the stretches. */
  joined(): Int16Array {
    const gap = GAP_S * RATE_HZ;
    const samples = this.#stretches.reduce((sum, { pcm }) => sum + pcm.length + gap, 0);
    const all = new Int16Array(samples);
    let at = 0;
    for (const { pcm } of this.#stretches) {
      all.set(pcm, at);
      at += pcm.length + gap;
    }
    return all;
  }

  /** The times in the recording of a span of `joined`: several where silence was cut out. */
  inRecording({ startS, endS }: Span): Span[] {
    const spans: Span[] = [];
    let atS = 0;
    for (const stretch of this.#stretches) {
      const seconds = stretch.pcm.length / RATE_HZ;
      const from = Math.max(0, startS - atS);
      const to = Math.min(seconds, endS - atS);
      if (to > from) spans.push({ startS: stretch.startS + from, endS: stretch.startS + to });
      atS += seconds + GAP_S;
    }
    return spans;
  }

  /** The speech of these spans of the recording, up to `mostSeconds`. */
  cut(spans: readonly Span[], mostSeconds: number): Int16Array {
    const parts: Int16Array[] = [];
    let room = mostSeconds * RATE_HZ;
    for (const { startS, endS } of spans) {
      for (const stretch of this.#stretches) {
        const from = Math.max(0, Math.round((startS - stretch.startS) * RATE_HZ));
        const to = Math.min(stretch.pcm.length, Math.round((endS - stretch.startS) * RATE_HZ), from + room);
        if (to <= from) continue;
        parts.push(stretch.pcm.subarray(from, to));
        room -= to - from;
      }
    }
    return joinSamples(parts);
  }
}
