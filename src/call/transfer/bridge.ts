import { Resampler } from '../../audio/resample.ts';
import { SampleBatch, joinSamples } from '../../audio/samples.ts';
import type { Attachment } from '../../carriers/port.ts';
import type { Clock } from '../../kernel/clock.ts';

/** Cushion a line starts with, and again after running dry: frames may be this late without a gap. */
const CUSHION_MS = 60;
/** Most audio ahead at a line's carrier, or its cushion and a message where longer; later frames are dropped. */
const MOST_AHEAD_MS = 240;
const FRAME_MS = 20;

/** Called for each piece of sound sent. @param startMs when it begins to be heard */
export type BridgedSound = (pcm: Int16Array, startMs: number, nowMs: number) => void;

/** Passes one side's audio to the other side's carrier: at its rate, in its message size, with bounded delay, whatever the jitter and clock drift. */
export class BridgedLine {
  readonly #to: Attachment;
  readonly #clock: Clock;
  readonly #onSent: BridgedSound;
  readonly #messageMs: number;
  /** Whole messages. */
  readonly #cushionMs: number;
  readonly #mostAheadMs: number;
  readonly #batch: SampleBatch;
  #resampler: Resampler | undefined;
  #fromRateHz: number;
  #endMs = Number.NEGATIVE_INFINITY;
  droppedMs = 0;

  constructor(from: Pick<Attachment, 'rateHz'>, to: Attachment, clock: Clock, onSent: BridgedSound = () => undefined) {
    const { frameMs, messageMs, pacing } = to.capabilities;
    this.#to = to;
    this.#clock = clock;
    this.#onSent = onSent;
    this.#messageMs = messageMs ?? Math.max(frameMs, FRAME_MS);
    // A real-time carrier gets a message as the one before is played.
    this.#cushionMs = pacing === 'realtime' ? 0 : Math.ceil(CUSHION_MS / this.#messageMs) * this.#messageMs;
    this.#mostAheadMs = Math.max(MOST_AHEAD_MS, this.#cushionMs + this.#messageMs);
    this.#batch = new SampleBatch((this.#messageMs * to.speechFormat.rateHz) / 1000);
    this.#fromRateHz = from.rateHz;
    this.#resampler = from.rateHz === to.speechFormat.rateHz ? undefined : Resampler.forLine(from.rateHz, to.speechFormat.rateHz);
  }

  /** @param pcm next samples of the other side at its rate, any number; not kept */
  push(pcm: Int16Array): void {
    const given = this.#resampler?.process(pcm) ?? pcm;
    for (let from = 0; from < given.length;) {
      from += this.#batch.add(given, from);
      if (this.#batch.room === 0) this.#send(this.#batch.take());
    }
  }

  /** The other side has a new socket. */
  from({ rateHz }: Pick<Attachment, 'rateHz'>): void {
    if (rateHz === this.#fromRateHz) return;
    this.#fromRateHz = rateHz;
    this.#resampler =
      rateHz === this.#to.speechFormat.rateHz ? undefined : Resampler.forLine(rateHz, this.#to.speechFormat.rateHz);
  }

  #send(message: Int16Array): void {
    const nowMs = this.#clock.nowMs();
    if (this.#endMs - nowMs > this.#mostAheadMs) {
      this.droppedMs += this.#messageMs;
      return;
    }
    const samplesPerMs = this.#to.speechFormat.rateHz / 1000;
    const isDry = this.#endMs < nowMs;
    // After a gap a cushion is inserted, so that the next frame may be as late.
    const cushionMs = isDry ? this.#cushionMs : 0;
    const pcm = cushionMs === 0 ? message : joinSamples([new Int16Array(cushionMs * samplesPerMs), message]);
    const startMs = Math.max(nowMs, this.#endMs);
    this.#to.sendAudio(pcm);
    this.#endMs = startMs + pcm.length / samplesPerMs;
    this.#onSent(pcm, startMs, nowMs);
  }
}
