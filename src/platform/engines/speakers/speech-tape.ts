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

/** The speech of a recording, without the silences, as far as there is room for it. */
export class SpeechTape {
  readonly #stretches: Stretch[] = [];
  #room: number;
  #whole = true;

  /** @param mostSeconds what comes after that is left out */
  constructor(mostSeconds: number) {
    this.#room = mostSeconds * RATE_HZ;
  }

  /** Nothing was left out. */
  get whole(): boolean {
    return this.#whole;
  }

  /** @param pcm mono at 16 kHz, copied; @param startS where it stands in the recording */
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

  /** Where a stretch of `joined` stands in the recording: in parts, where silence was cut out of it. */
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

  /** What is on the tape of these times of the recording, up to so many seconds. */
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
