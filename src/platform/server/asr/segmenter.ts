import { joinSamples } from '../../../audio/join-samples.ts';
import { activityFrameMs, SpeechActivity } from './speech-activity.ts';

export interface SpeechSegment {
  /** Where the segment's first sample stands in the whole audio. */
  readonly startSample: number;
  readonly pcm: Int16Array;
}

const preRollFrames = 300 / activityFrameMs;
/** Silence that ends a segment; half of it stays at its end. */
const endSilenceMs = 600;
const keptSilenceMs = 300;
/** A segment this long is cut at its next pause of `pauseMs`, and at the longest length anywhere. */
const longMs = 12_000;
const pauseMs = 160;
const longestMs = 30_000;

/** Cuts long audio at its silences, so that the recogniser sees one utterance at a time. Silence itself is dropped. */
export class Segmenter {
  readonly #frameSamples: number;
  readonly #activity = new SpeechActivity();
  #pending: Int16Array<ArrayBuffer> = new Int16Array(0);
  #frames: Int16Array[] = [];
  #inSpeech = false;
  #silentFrames = 0;
  /** Samples cut into frames so far. */
  #position = 0;

  constructor(rateHz: number) {
    this.#frameSamples = Math.round((rateHz * activityFrameMs) / 1000);
  }

  /** @returns segments that ended within these samples, oldest first */
  push(pcm: Int16Array): SpeechSegment[] {
    const joined = joinSamples([this.#pending, pcm]);
    const segments: SpeechSegment[] = [];
    let at = 0;
    for (; at + this.#frameSamples <= joined.length; at += this.#frameSamples) {
      const segment = this.#frame(joined.slice(at, at + this.#frameSamples));
      if (segment !== undefined) segments.push(segment);
    }
    this.#pending = joined.slice(at);
    return segments;
  }

  /** The segment that the end of the audio cuts off. */
  flush(): SpeechSegment | undefined {
    if (this.#inSpeech) this.#frames.push(this.#pending);
    this.#position += this.#pending.length;
    this.#pending = new Int16Array(0);
    return this.#inSpeech ? this.#take(0) : undefined;
  }

  #frame(frame: Int16Array): SpeechSegment | undefined {
    const speaking = this.#activity.frame(frame);
    this.#position += frame.length;
    this.#frames.push(frame);
    if (!this.#inSpeech) {
      this.#inSpeech = speaking;
      this.#silentFrames = 0;
      if (!speaking && this.#frames.length > preRollFrames) this.#frames.shift();
      return undefined;
    }
    this.#silentFrames = speaking ? 0 : this.#silentFrames + 1;
    const silentMs = this.#silentFrames * activityFrameMs;
    const lengthMs = this.#frames.length * activityFrameMs;
    if (silentMs >= endSilenceMs) return this.#take((endSilenceMs - keptSilenceMs) / activityFrameMs);
    if (lengthMs >= longestMs || (lengthMs >= longMs && silentMs >= pauseMs)) return this.#take(0);
    return undefined;
  }

  /** @param leave frames of silence at the end that become the next segment's lead */
  #take(leave: number): SpeechSegment {
    const kept = this.#frames.slice(0, this.#frames.length - leave);
    const left = this.#frames.slice(this.#frames.length - leave);
    const pcm = joinSamples(kept);
    const startSample = this.#position - left.reduce((sum, frame) => sum + frame.length, 0) - pcm.length;
    this.#frames = left;
    this.#inSpeech = false;
    this.#silentFrames = 0;
    return { startSample, pcm };
  }
}
