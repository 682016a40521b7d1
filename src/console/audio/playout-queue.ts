export interface PlayoutOptions {
  /** Rate of the incoming samples, … */
  readonly rateHz: number;
  /** … and of those that are played. */
  readonly outRateHz: number;
  /** 1, or 2 interleaved. */
  readonly channels: number;
  /**
   * `ahead`: the sender is ahead of real time and waits for marks, so everything is played as it came. `live`: sound comes as it is spoken, by a clock that is
   * not ours; what waits is held near `LIVE_TARGET_MS` by playing a little faster or slower.
   */
  readonly arrival: 'ahead' | 'live';
}

/** What waits before playing begins, so that a late packet makes no hole. */
const AHEAD_PREFILL_MS = 40;
export const LIVE_TARGET_MS = 120;
/** Above this, live sound lags: the oldest is dropped down to the target. */
const LIVE_MOST_MS = 1_000;
/** More than a gateway sends ahead; the newest is dropped beyond it. */
const AHEAD_MOST_MS = 30_000;
/** Inaudible change of speed. */
const DRIFT = 0.005;
/** Fade of a cut sound, against clicks. */
const FADE_MS = 5;

/** Sound that waits to be played, with marks in it. Times pass by what is rendered, so that it runs on an audio thread. */
export class PlayoutQueue {
  readonly #options: PlayoutOptions;
  readonly #chunks: Int16Array[] = [];
  /** In frames of the sender since the beginning: of the first chunk, of the end of the last one, and of what is played next. */
  #firstAt = 0;
  #endAt = 0;
  #readAt = 0;
  #marks: { readonly name: string; readonly at: number }[] = [];
  #isPlaying = false;
  #waitedMs = 0;

  constructor(options: PlayoutOptions) {
    this.#options = options;
  }

  /** What waits, in ms. */
  get queuedMs(): number {
    return ((this.#endAt - this.#readAt) * 1000) / this.#options.rateHz;
  }

  /** @param samples of all channels, interleaved; kept */
  push(samples: Int16Array): void {
    const { channels, rateHz, arrival } = this.#options;
    const frames = Math.floor(samples.length / channels);
    if (frames === 0) return;
    if (arrival === 'ahead' && this.queuedMs + (frames * 1000) / rateHz > AHEAD_MOST_MS) return;
    this.#chunks.push(samples);
    this.#endAt += frames;
    if (arrival === 'live' && this.queuedMs > LIVE_MOST_MS) this.#skipTo(this.#endAt - (LIVE_TARGET_MS * rateHz) / 1000);
  }

  /** `render` tells of it once all that was pushed before has been played. */
  mark(name: string): void {
    this.#marks.push({ name, at: this.#endAt });
  }

  /** Drops all that waits, and the marks in it; what sounds now fades. */
  clear(): void {
    const { rateHz, channels } = this.#options;
    this.#marks = [];
    const frames = this.#isPlaying ? Math.min(Math.floor(this.#endAt - this.#readAt), Math.round((FADE_MS * rateHz) / 1000)) : 0;
    const fading = new Int16Array(Math.max(0, frames) * channels);
    for (let at = 0; at < fading.length; at += 1) {
      const frame = Math.floor(at / channels);
      fading[at] = this.#sample(this.#readAt + frame, at % channels) * (1 - (frame + 1) / frames);
    }
    this.#skipTo(this.#endAt);
    if (fading.length > 0) {
      this.#chunks.push(fading);
      this.#endAt += frames;
    }
  }

  /**
   * Plays one block.
   * @param outputs a channel each, of the same length; filled, with silence where nothing waits
   * @returns names of the marks that were reached
   */
  render(outputs: readonly Float32Array[]): readonly string[] {
    const length = outputs[0]?.length ?? 0;
    const { rateHz, outRateHz, channels } = this.#options;
    this.#mayBegin((length * 1000) / outRateHz);
    const step = this.#isPlaying ? (rateHz / outRateHz) * this.#speed() : 0;
    for (let at = 0; at < length; at += 1) {
      const isOver = step === 0 || this.#readAt >= this.#endAt;
      for (const [channel, output] of outputs.entries())
        output[at] = isOver ? 0 : this.#sample(this.#readAt, Math.min(channel, channels - 1)) / 32_768;
      if (!isOver) this.#readAt = Math.min(this.#endAt, this.#readAt + step);
    }
    this.#dropPlayed();
    if (this.#readAt >= this.#endAt) this.#isPlaying = false;
    const reached = this.#marks.filter(({ at }) => at <= this.#readAt);
    if (reached.length > 0) this.#marks = this.#marks.filter(({ at }) => at > this.#readAt);
    return reached.map(({ name }) => name);
  }

  /** Playing begins when enough waits, or what waits has waited long enough: a short sentence has no more. */
  #mayBegin(blockMs: number): void {
    if (this.#isPlaying || this.queuedMs === 0) {
      this.#waitedMs = 0;
      return;
    }
    const prefillMs = this.#options.arrival === 'live' ? LIVE_TARGET_MS : AHEAD_PREFILL_MS;
    this.#waitedMs += blockMs;
    this.#isPlaying = this.queuedMs >= prefillMs || this.#waitedMs > prefillMs;
  }

  #speed(): number {
    if (this.#options.arrival === 'ahead') return 1;
    if (this.queuedMs > LIVE_TARGET_MS * 1.5) return 1 + DRIFT;
    return this.queuedMs < LIVE_TARGET_MS / 2 ? 1 - DRIFT : 1;
  }

  /** Between two frames of the sender on a straight line. */
  #sample(position: number, channel: number): number {
    const frame = Math.floor(position);
    const part = position - frame;
    const here = this.#at(frame, channel);
    return part === 0 ? here : here + (this.#at(frame + 1, channel) - here) * part;
  }

  #at(frame: number, channel: number): number {
    const { channels } = this.#options;
    let from = this.#firstAt;
    let last = 0;
    for (const chunk of this.#chunks) {
      const frames = Math.floor(chunk.length / channels);
      if (frame < from + frames) return chunk[(frame - from) * channels + channel] ?? 0;
      from += frames;
      last = chunk[(frames - 1) * channels + channel] ?? 0;
    }
    return last;
  }

  #skipTo(frame: number): void {
    this.#readAt = Math.max(this.#readAt, frame);
    this.#dropPlayed();
  }

  #dropPlayed(): void {
    for (;;) {
      const [first] = this.#chunks;
      if (first === undefined) return;
      const frames = Math.floor(first.length / this.#options.channels);
      if (this.#firstAt + frames > this.#readAt) return;
      this.#chunks.shift();
      this.#firstAt += frames;
    }
  }
}
