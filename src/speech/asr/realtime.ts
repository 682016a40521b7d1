import type { Recogniser, RecognitionEvent, RecognitionOptions, RecognitionSession } from '../port.ts';
import { PLATFORM_RECOGNITION } from '../platform-capabilities.ts';
import type { Slots } from '../client/slots.ts';
import { RecognitionAdvice } from './recognition-advice.ts';
import { primaryDialect, type RecognitionDialect } from './recognition-dialect.ts';
import { SocketRecogniser, type SocketRecogniserOptions } from './socket-recogniser.ts';

export interface RealtimeRecogniserOptions extends Omit<
  SocketRecogniserOptions,
  'url' | 'dialect' | 'capabilities' | 'onWarning'
> {
  readonly asrUrl: string;
  /** The variant of the service; the primary one when absent. */
  readonly dialect?: RecognitionDialect;
  /** Shared by the recognisers of one client, so that each warning is logged once. */
  readonly advice?: RecognitionAdvice;
}

/** The realtime recogniser of the platform's documents: `WS {asr_url}/v1/realtime`, or Variant B's `/ws`. */
export class RealtimeRecogniser implements Recogniser, AsyncDisposable {
  readonly capabilities = PLATFORM_RECOGNITION;
  readonly #recogniser: SocketRecogniser;
  readonly #advice: RecognitionAdvice;

  constructor({ asrUrl: url, dialect = primaryDialect, advice, ...rest }: RealtimeRecogniserOptions) {
    const advised = advice ?? new RecognitionAdvice(rest.logger);
    const { capabilities } = this;
    this.#advice = advised;
    this.#recogniser = new SocketRecogniser({
      ...rest,
      url,
      dialect,
      capabilities,
      onWarning: (text) => advised.fromPlatform(text),
    });
  }

  open(options: RecognitionOptions, listener: (event: RecognitionEvent) => void): RecognitionSession {
    this.#advice.forStream(options);
    return this.#recogniser.open(options, listener);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#recogniser[Symbol.asyncDispose]();
  }
}

/**
 * Spreads sessions over several keys: a session goes to the key with the most reserved slots that have no session yet.
 */
export class KeyedRecogniser implements Recogniser {
  readonly capabilities = PLATFORM_RECOGNITION;
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
