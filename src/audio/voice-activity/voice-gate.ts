import { DetectorLine } from '../detector-line.ts';
import { FRAME_MS, FRAME_SAMPLES_8K } from '../format.ts';
import { SampleBatch, SampleTape } from '../samples.ts';
import { VoiceActivity } from './voice-activity.ts';

/** Audio on both sides of a voice that passes the gate: consonants at its edges are quieter than what the detector takes for voice. */
const MARGIN_MS = 300;
/** Less voice than this, 100 ms, is a click or a breath, and no word. */
const LEAST_VOICED_FRAMES = 100 / FRAME_MS;

/** What passed the gate between two cuts. */
export interface GatedSegment {
  /** The voiced parts in order, each with its margin, joined. Empty without speech. */
  readonly pcm: Int16Array;
  /** The stretch of the line that it was taken from. */
  readonly fromSample: number;
  readonly toSample: number;
}

/**
 * Passes on the voiced parts of a line, for a recogniser that takes whole utterances: silence costs, and some models invent words
 * for it. Samples are counted from the first one that was pushed.
 */
export class VoiceGate {
  readonly #rateHz: number;
  readonly #tape = new SampleTape();
  readonly #activity = new VoiceActivity();
  readonly #frame = new SampleBatch(FRAME_SAMPLES_8K);
  readonly #line: DetectorLine;
  readonly #margin: number;
  #frames = 0;
  #cutAt = 0;
  /** Parts since the last cut with their margins, in order, without overlap. The last may end in samples to come. */
  #parts: { readonly from: number; to: number; voicedFrames: number }[] = [];
  #lastVoicedFrame = 0;

  /** @param rateHz of the line */
  constructor(rateHz: number) {
    this.#rateHz = rateHz;
    this.#margin = Math.round((MARGIN_MS * rateHz) / 1000);
    this.#line = new DetectorLine(rateHz);
  }

  /** Whether there was speech since the last cut. */
  get hasVoice(): boolean {
    const [first] = this.#parts;
    return first !== undefined && first.voicedFrames >= LEAST_VOICED_FRAMES;
  }

  /** Time from the first sound since the last cut to now, with its margin; 0 without one. */
  get openMs(): number {
    const [first] = this.#parts;
    return first === undefined ? 0 : ((this.#tape.end - first.from) / this.#rateHz) * 1000;
  }

  /** Time since the last voiced frame. */
  get quietMs(): number {
    return (this.#frames - this.#lastVoicedFrame) * FRAME_MS;
  }

  /** Copies samples in. */
  push(pcm: Int16Array): void {
    this.#tape.append(pcm);
    const heard = this.#line.process(pcm);
    for (let from = 0; from < heard.length;) {
      from += this.#frame.add(heard, from);
      if (this.#frame.room === 0) this.#judge(this.#frame.take());
    }
    const oldest = this.#parts[0]?.from ?? this.#tape.end - 2 * this.#margin;
    this.#tape.forgetBefore(Math.max(0, oldest));
  }

  /** What has passed since the last cut; it stays. */
  passed(): Int16Array {
    const parts = this.#parts.filter(({ voicedFrames }) => voicedFrames >= LEAST_VOICED_FRAMES);
    const ends = parts.map(({ from, to }) => ({ from, count: Math.min(to, this.#tape.end) - from }));
    const pcm = new Int16Array(ends.reduce((sum, { count }) => sum + count, 0));
    let at = 0;
    for (const { from, count } of ends) {
      pcm.set(this.#tape.copy(from, count), at);
      at += count;
    }
    return pcm;
  }

  /** Takes what has passed since the last cut. */
  cut(): GatedSegment {
    const segment = { pcm: this.passed(), fromSample: this.#cutAt, toSample: this.#tape.end };
    this.#cutAt = this.#tape.end;
    this.#parts = [];
    return segment;
  }

  /** Ends all use. */
  close(): void {
    this.#tape.close();
    this.#activity.close();
  }

  #judge(frame: Int16Array): void {
    const { voiced } = this.#activity.process(frame);
    const samples = Math.round((FRAME_MS * this.#rateHz) / 1000);
    const start = Math.round((this.#frames * FRAME_MS * this.#rateHz) / 1000);
    this.#frames += 1;
    const last = this.#parts.at(-1);
    if (last !== undefined && start > last.to && last.voicedFrames < LEAST_VOICED_FRAMES) this.#parts.pop();
    // A frame that ended before the last cut belongs to that segment.
    if (!voiced || start + samples <= this.#cutAt) return;
    this.#lastVoicedFrame = this.#frames;
    const from = Math.max(this.#cutAt, start - this.#margin);
    const to = start + samples + this.#margin;
    if (last !== undefined && from <= last.to) {
      last.to = to;
      last.voicedFrames += 1;
    } else this.#parts.push({ from, to, voicedFrames: 1 });
  }
}
