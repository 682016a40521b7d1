import { Resampler } from '../../audio/resample.ts';
import { SampleBatch } from '../../audio/sample-batch.ts';
import { joinSamples } from '../../audio/samples.ts';
import type { Attachment } from '../../carriers/port.ts';
import type { Clock } from '../../kernel/clock.ts';

/** What a line begins with, and begins again with where it ran dry: so late its frames may come without a hole. */
const CUSHION_MS = 60;
/** A line has no more than this ahead at its carrier, or its cushion and a message where they are longer: frames that would wait longer are dropped. */
const MOST_AHEAD_MS = 240;
const FRAME_MS = 20;

/** Told of each piece of sound as it is sent. @param startMs when it begins to be heard */
export type BridgedSound = (pcm: Int16Array, startMs: number, nowMs: number) => void;

/**
 * Passes one side's sound on to the other side's carrier: at that side's rate, in messages that its carrier takes, and late by a
 * bounded time only, however the frames come and however the two carriers' clocks differ.
 */
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
    // A carrier that plays in real time gets a message as the one before is played.
    this.#cushionMs = pacing === 'realtime' ? 0 : Math.ceil(CUSHION_MS / this.#messageMs) * this.#messageMs;
    this.#mostAheadMs = Math.max(MOST_AHEAD_MS, this.#cushionMs + this.#messageMs);
    this.#batch = new SampleBatch((this.#messageMs * to.speechFormat.rateHz) / 1000);
    this.#fromRateHz = from.rateHz;
    this.#resampler = from.rateHz === to.speechFormat.rateHz ? undefined : Resampler.forLine(from.rateHz, to.speechFormat.rateHz);
  }

  /** @param pcm the next samples of the other side at its rate, any number; not kept */
  push(pcm: Int16Array): void {
    const given = this.#resampler?.process(pcm) ?? pcm;
    for (let from = 0; from < given.length;) {
      from += this.#batch.add(given, from);
      if (this.#batch.room === 0) this.#send(this.#batch.take());
    }
  }

  /** The other side has another socket. */
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
    // What comes after a hole gets a cushion, so that the next frame may be as late.
    const cushionMs = isDry ? this.#cushionMs : 0;
    const pcm = cushionMs === 0 ? message : joinSamples([new Int16Array(cushionMs * samplesPerMs), message]);
    const startMs = Math.max(nowMs, this.#endMs);
    this.#to.sendAudio(pcm);
    this.#endMs = startMs + pcm.length / samplesPerMs;
    this.#onSent(pcm, startMs, nowMs);
  }
}
