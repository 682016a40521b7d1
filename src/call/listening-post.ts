import type { Recogniser, RecognitionEvent, RecognitionSession } from '../speech/port.ts';

/**
 * The recogniser session of the moment. One that is replaced, as when the language changes, falls silent, and the segments
 * of the next are numbered on from it: to the turn machine a call has one row of segments.
 */
export class ListeningPost {
  readonly #recogniser: Recogniser;
  readonly #listener: (event: RecognitionEvent) => void;
  #session: RecognitionSession | undefined;
  #opened = 0;
  /** Number of the running session's segment 0. */
  #base = 0;
  #next = 0;

  constructor(recogniser: Recogniser, listener: (event: RecognitionEvent) => void) {
    this.#recogniser = recogniser;
    this.#listener = listener;
  }

  open(language: string): void {
    const before = this.#session;
    this.#opened += 1;
    const mine = this.#opened;
    this.#base = this.#next;
    // An event may come before `open` has returned.
    const session = this.#recogniser.open({ language, sampleRateHz: 8000 }, (event) => {
      if (mine === this.#opened) this.#listener(this.#numbered(event));
    });
    this.#session = session;
    before?.abort();
  }

  /** @param pcm 16-bit mono samples at 8 kHz */
  send(pcm: Int16Array): void {
    this.#session?.send(pcm);
  }

  commit(): void {
    this.#session?.commit();
  }

  close(): void {
    this.#session?.abort();
  }

  #numbered(event: RecognitionEvent): RecognitionEvent {
    if (!('seg' in event)) return event;
    const seg = this.#base + event.seg;
    this.#next = Math.max(this.#next, seg + 1);
    return { ...event, seg };
  }
}
