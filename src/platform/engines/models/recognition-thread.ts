import type { Clock } from '../../../kernel/clock.ts';
import type { OpenedStream, SessionOutputs, WorkerSession } from '../recognise/worker-protocol.ts';
import { DecodingTurns, type ThreadSession } from './decoding-turns.ts';
import type { OpenedRecogniser } from './open-recogniser.ts';
import { SegmentLane } from './segment-lane.ts';
import { SegmentSession } from './segment-session.ts';
import { StreamingSession } from './streaming-session.ts';

/** The streams of one thread over its models, without the thread. */
export class RecognitionThread {
  readonly #models: ReadonlyMap<string, OpenedRecogniser>;
  readonly #clock: Clock;
  readonly #wake: (session: ThreadSession) => void;
  readonly #turns: DecodingTurns;
  readonly #lane = new SegmentLane();

  /** @param onWork called when there is work: `turn` is to be called until it says that there is no more */
  constructor(
    models: readonly { readonly languages: readonly string[]; readonly model: OpenedRecogniser }[],
    clock: Clock,
    onWork: () => void,
  ) {
    this.#models = new Map(models.flatMap(({ languages, model }) => languages.map((language) => [language, model] as const)));
    this.#clock = clock;
    this.#turns = new DecodingTurns(clock);
    this.#wake = (session) => {
      this.#turns.wake(session);
      onWork();
    };
  }

  /** @throws Error when no model is used for the language */
  open({ language, rateHz, boostPhrases }: OpenedStream, outputs: SessionOutputs): WorkerSession {
    const model = this.#models.get(language);
    if (model === undefined) throw new Error(`no model for ${language}`);
    const options = { language, rateHz, hints: boostPhrases, clock: this.#clock, outputs, wake: this.#wake };
    return model.type === 'streaming' ? new StreamingSession(model, options) : new SegmentSession(model, this.#lane, options);
  }

  /** Resolves when the segments that wait now were decoded: that happens beside the turns. */
  segmentsDecoded(): Promise<void> {
    return this.#lane.done;
  }

  /** One piece of work. @returns whether there is more */
  turn(): boolean {
    return this.#turns.turn();
  }
}
