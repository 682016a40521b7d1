import type { Clock } from '../../../kernel/clock.ts';
import { sleep } from '../../../kernel/waiting.ts';
import type { Logger } from '../../../observability/logger.ts';
import { accepts, phraseWords } from './add-phrases.ts';
import { shownWord, type WordNetwork } from './grammar.ts';
import { canBeLearnt, type PhraseLearner } from './phrase-learner.ts';
import type { VocabularyProgress } from './port.ts';

/** Phrases of one language; every one makes each search a little longer. */
const MOST_PHRASES = 300;
/** Of one phrase, where the machine is slow. */
const MOST_REST_MS = 5_000;
/** Learnt phrases are handed over together, since each time all of them are. */
const TOGETHER = 20;
const TELL_EVERY_MS = 250;
/** While calls are recognised, for each part of time that learning takes, so many parts without it. */
const REST_PARTS = 3;

export interface TaughtVocabularyOptions {
  /** The networks of the shipped vocabularies, by language: their sentences are not learnt again. */
  readonly networks: ReadonlyMap<string, WordNetwork>;
  readonly learner: Pick<PhraseLearner, 'learn'>;
  /** Takes all phrases of a language that are learnt. */
  readonly use: (language: string, models: readonly Uint8Array[]) => void;
  /** Whether somebody is being recognised: learning then leaves the processor to them most of the time. */
  readonly isBusy: () => boolean;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The phrases that every stream hears beside the shipped vocabularies: learnt in the background, replaced as a whole. */
export class TaughtVocabulary {
  readonly #options: TaughtVocabularyOptions;
  readonly #models = new Map<string, readonly Uint8Array[]>();
  #teaching = 0;
  #progress: VocabularyProgress | undefined;

  constructor(options: TaughtVocabularyOptions) {
    this.#options = options;
  }

  get progress(): VocabularyProgress | undefined {
    return this.#progress;
  }

  /** Hands over again what is learnt, to a thread that started anew. */
  useAgain(): void {
    for (const [language, models] of this.#models) this.#options.use(language, models);
  }

  /** Learns these phrases in place of earlier ones; phrases of an earlier call that are still to be learnt are given up. */
  async teach(
    phrases: Readonly<Record<string, readonly string[]>>,
    onProgress: (progress: VocabularyProgress) => void = () => undefined,
  ): Promise<void> {
    const { clock, logger, learner, isBusy } = this.#options;
    this.#teaching += 1;
    const teaching = this.#teaching;
    const wanted = [...this.#options.networks].map(([language, network]) => {
      const unknown = unknownPhrases(language, network, phrases[language] ?? []);
      return { language, taken: unknown.slice(0, MOST_PHRASES), left: Math.max(0, unknown.length - MOST_PHRASES) };
    });
    const of = wanted.reduce((sum, { taken, left }) => sum + taken.length + left, 0);
    const startedMs = clock.nowMs();
    let [learnt, failed, toldMs] = [0, wanted.reduce((sum, { left }) => sum + left, 0), -Infinity];
    if (failed > 0) logger.warn({ left: failed, most: MOST_PHRASES }, 'too many phrases to learn; the last ones are left out');
    const tell = (): void => {
      const done = learnt + failed;
      const nowMs = clock.nowMs();
      const leftMs = learnt === 0 || done === of ? undefined : Math.round(((nowMs - startedMs) / learnt) * (of - done));
      this.#progress = { of, learnt, failed, leftMs };
      if (done < of && nowMs - toldMs < TELL_EVERY_MS) return;
      toldMs = nowMs;
      onProgress(this.#progress);
    };
    tell();
    await Promise.all(
      wanted.map(async ({ language, taken }) => {
        const models: Uint8Array[] = [];
        let handed = -1;
        const hand = (): void => {
          if (teaching !== this.#teaching || handed === models.length) return;
          handed = models.length;
          this.#models.set(language, [...models]);
          this.#options.use(language, [...models]);
        };
        // One after the other, so that those given up are not learnt; the learner works ahead.
        const next = taken.values();
        const work = async (): Promise<void> => {
          for (const phrase of next) {
            if (teaching !== this.#teaching) return;
            const askedMs = clock.nowMs();
            const found = await learner.learn(language, phrase, 'vocabulary');
            if (teaching !== this.#teaching) return;
            if (found === undefined) failed += 1;
            else {
              learnt += 1;
              models.push(found.model);
            }
            tell();
            if (models.length - Math.max(0, handed) >= TOGETHER) hand();
            if (isBusy()) await sleep(clock, REST_PARTS * Math.min(MOST_REST_MS, clock.nowMs() - askedMs));
          }
        };
        await Promise.all([work(), work()]);
        hand();
      }),
    );
    if (teaching === this.#teaching && of > 0) {
      const seconds = Math.round((clock.nowMs() - startedMs) / 100) / 10;
      logger.info({ learnt, failed, seconds }, "vocabulary of the bots' flows learnt");
    }
  }
}

/** The phrases that are no sentence of the vocabulary and can be learnt, each once. */
function unknownPhrases(language: string, network: WordNetwork, phrases: readonly string[]): string[] {
  const unknown = new Map<string, string>();
  const known = new Set(network.words.map((word) => shownWord(word).toLowerCase()));
  for (const phrase of phrases) {
    const words = phraseWords(phrase);
    const text = words.join(' ');
    // A single word of the vocabulary keeps its place in the grammar.
    if (words.length === 1 && known.has(text.toLowerCase())) continue;
    if (words.length > 0 && canBeLearnt(language, text) && !accepts(network, words)) unknown.set(text.toLowerCase(), text);
  }
  return [...unknown.values()];
}
