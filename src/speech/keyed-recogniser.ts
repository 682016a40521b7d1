import type { Recogniser, RecognitionEvent, RecognitionOptions, RecognitionSession } from './port.ts';
import type { Slots } from './slots.ts';

/**
 * Spreads sessions over several keys: each goes to the key on which the most reserved slots have no session yet. With one
 * key there is nothing to choose.
 */
export class KeyedRecogniser implements Recogniser {
  readonly #recognisers: readonly Recogniser[];
  readonly #slots: Slots;
  readonly #open: number[];

  /** @param recognisers one for each lane of the slots */
  constructor(recognisers: readonly Recogniser[], slots: Slots) {
    this.#recognisers = recognisers;
    this.#slots = slots;
    this.#open = recognisers.map(() => 0);
  }

  open(options: RecognitionOptions, listener: (event: RecognitionEvent) => void): RecognitionSession {
    const room = this.#open.map((open, lane) => this.#slots.liveIn(lane) - open);
    const lane = room.indexOf(Math.max(...room));
    const recogniser = this.#recognisers[lane];
    if (recogniser === undefined) throw new TypeError('there is no recogniser');
    let isOpen = true;
    const over = (): void => {
      if (isOpen) this.#open[lane] = (this.#open[lane] ?? 1) - 1;
      isOpen = false;
    };
    this.#open[lane] = (this.#open[lane] ?? 0) + 1;
    const session = recogniser.open(options, (event) => {
      if (event.type === 'closed') over();
      listener(event);
    });
    return {
      send: (pcm) => session.send(pcm),
      commit: () => session.commit(),
      end: () => session.end().finally(over),
      abort() {
        over();
        session.abort();
      },
    };
  }
}
