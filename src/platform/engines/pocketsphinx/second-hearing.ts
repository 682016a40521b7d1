import { z } from 'zod';
import { errorText } from '../../../kernel/errors.ts';
import type { Logger } from '../../../observability/logger.ts';
import type {
  RecognitionEngine,
  RecognitionEngineEvent,
  RecognitionOptions,
  RecognitionResult,
  RecognitionStream,
} from '../port.ts';
import { secondOpinion, wantsSecondOpinion } from './second-opinion.ts';
import { UtteranceTape } from './utterance-tape.ts';

const decodedSchema = z.object({
  words: z.array(z.object({ word: z.string(), startS: z.number(), endS: z.number() })),
  gap: z.number().or(z.literal(Infinity)),
});

export interface SecondHearingOptions {
  readonly builtIn: RecognitionEngine;
  readonly request: RecognitionOptions;
  readonly listener: (event: RecognitionEngineEvent) => void;
  /** Asks the thread of pocketsphinx. */
  readonly ask: (question: { pcm: Int16Array; rateHz: number }) => Promise<unknown>;
  readonly logger: Logger;
}

/** A stream of the built-in recogniser; what it does not understand is heard again. Results keep their order. */
export class SecondHearing implements RecognitionStream {
  readonly #options: SecondHearingOptions;
  readonly #tape: UtteranceTape;
  readonly #stream: RecognitionStream;
  /** The last result that is under way. */
  #last: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor(options: SecondHearingOptions) {
    const { builtIn, request, listener } = options;
    this.#options = options;
    this.#tape = new UtteranceTape(request.rateHz);
    this.#stream = builtIn.open(request, (event) => {
      if (event.type === 'partial') {
        listener(event);
        return;
      }
      const joined = this.#joined(event.result);
      this.#last = Promise.all([this.#last, joined]).then(([, result]) => {
        if (!this.#closed && result.text !== '') listener({ type: 'segment', result });
      });
    });
  }

  push(pcm: Int16Array): void {
    this.#tape.push(pcm);
    this.#stream.push(pcm);
  }

  async commit(): Promise<readonly RecognitionResult[]> {
    const utterances = await this.#stream.commit();
    // A segment that comes from here on belongs after this commit.
    const before = this.#last;
    const results = Promise.all(utterances.map((utterance) => this.#joined(utterance)));
    this.#last = Promise.all([before, results]);
    await before;
    return await results;
  }

  close(): void {
    this.#closed = true;
    this.#stream.close();
  }

  async #joined(first: RecognitionResult): Promise<RecognitionResult> {
    if (!wantsSecondOpinion(first)) return first;
    const { ask, request, logger } = this.#options;
    // An utterance that was not understood is told with the silence round it.
    const { pcm, startS } = this.#tape.cut(first.startS, first.endS);
    try {
      return secondOpinion(first, decodedSchema.parse(await ask({ pcm, rateHz: request.rateHz })), startS);
    } catch (error) {
      logger.warn({ error: errorText(error) }, 'pocketsphinx did not answer');
      return first;
    }
  }
}
