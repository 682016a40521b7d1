import { FRAME_SAMPLES_8K } from '../../../audio/format.ts';
import { SampleRing } from '../../../audio/samples.ts';
import type { TurnEffect, TurnEvent } from '../../turn/turn-state.ts';

/** Listens to the end of turns; implemented by a thread with a model. */
export interface EndOfTurnListener {
  /**
   * @param pcm the turn so far at 8 kHz, with the quiet at its end; not kept
   * @param answered gets how likely the turn is over, 0 to 1; never called where there is no answer in time
   */
  ask(pcm: Int16Array, answered: (likelihood: number) => void): void;
}

const SAMPLES_PER_MS = 8;
/** What models hear at most. */
const MOST_SAMPLES = 8_000 * SAMPLES_PER_MS;
/** Sound from before the first voiced frame: a word begins softly. */
const LEAD_IN_MS = 200;

/** The last 8 s of one caller's line, for a model that is asked once a pause. */
export class TurnSound {
  readonly #listener: EndOfTurnListener;
  readonly #feed: (event: TurnEvent) => void;
  readonly #ring = new SampleRing(MOST_SAMPLES);
  /** Samples heard so far, and the end of the last of them. */
  #heard = 0;
  #untilMs = 0;

  /** @param feed takes the answers */
  constructor(listener: EndOfTurnListener, feed: (event: TurnEvent) => void) {
    this.#listener = listener;
    this.#feed = feed;
  }

  /** @param frame 160 samples at 8 kHz, copied @param atMs its end */
  hear(frame: Int16Array, atMs: number): void {
    this.#ring.put(this.#heard, frame);
    this.#heard += FRAME_SAMPLES_8K;
    this.#untilMs = atMs;
  }

  ask({ lastVoicedMs, sinceMs }: TurnEffect & { readonly type: 'ask-model' }): void {
    const wanted = Math.round((this.#untilMs - sinceMs + LEAD_IN_MS) * SAMPLES_PER_MS);
    const pcm = new Int16Array(Math.max(0, Math.min(wanted, this.#heard, MOST_SAMPLES)));
    if (pcm.length === 0) return;
    this.#ring.read(this.#heard - pcm.length, pcm);
    this.#listener.ask(pcm, (likelihood) => this.#feed({ type: 'model-answered', lastVoicedMs, likelihood }));
  }
}
