import { z } from 'zod';
import { PocketsphinxError } from '../errors.ts';
import type { Library } from './library.ts';

/** What the library made of one utterance. */
export interface Decoded {
  /** Words of the vocabulary; none when no sentence of it could be followed to its end. */
  readonly words: readonly { readonly word: string; readonly startS: number; readonly endS: number }[];
  /**
   * By how much the loop of phones fits better than these words, a frame, in the library's scaled log likelihood: small
   * for what was said, large for what is not in the vocabulary.
   */
  readonly gap: number;
}

/** The library's own frame rate, its default `-frate`. */
const FRAMES_PER_SECOND = 100;
const VOCABULARY = 'vocabulary';
const PHONES = 'phones';
const pointer = z.unknown().refine((value) => value !== null && value !== undefined, 'no pointer');

/** One decoder of the library with one vocabulary. Synchronous: belongs into a thread of its own. */
export class Decoder {
  readonly #library: Library;
  readonly #decoder: unknown;

  /** @throws PocketsphinxError when the library refuses the model, the dictionary or a grammar; it does not say why */
  constructor(
    library: Library,
    options: { readonly model: string; readonly dictionary: string; readonly vocabulary: string; readonly phones: string },
  ) {
    this.#library = library;
    const words = ['-hmm', options.model, '-dict', options.dictionary, '-lw', '1', '-remove_noise', 'no', '-logfn', '/dev/null'];
    const config = pointer.safeParse(library.parse(null, library.args(), words.length, words, 0));
    const decoder = config.success ? library.init(config.data) : null;
    if (!pointer.safeParse(decoder).success) throw new PocketsphinxError(`pocketsphinx refuses the model in ${options.model}`);
    this.#decoder = decoder;
    for (const [name, text] of [
      [VOCABULARY, options.vocabulary],
      [PHONES, options.phones],
    ]) {
      if (library.addGrammar(decoder, name, text) !== 0)
        throw new PocketsphinxError(`pocketsphinx refuses the grammar of the ${name}`);
    }
  }

  /** @param pcm one whole utterance, 16 kHz */
  decode(pcm: Int16Array): Decoded {
    const words = this.#run(VOCABULARY, pcm);
    if (words.text === '') return { words: [], gap: Infinity };
    const found = this.#words();
    const loop = this.#run(PHONES, pcm);
    return { words: found, gap: (loop.score - words.score) / Math.max(1, words.frames) };
  }

  #run(search: string, pcm: Int16Array): { text: string; score: number; frames: number } {
    const { choose, start, process, end, hypothesis, frames } = this.#library;
    choose(this.#decoder, search);
    start(this.#decoder);
    process(this.#decoder, pcm, pcm.length, 0, 1);
    end(this.#decoder);
    const score = [0];
    const text = z.string().nullable().parse(hypothesis(this.#decoder, score)) ?? '';
    return { text, score: score[0] ?? 0, frames: z.int().parse(frames(this.#decoder)) };
  }

  #words(): Decoded['words'] {
    const { segments, nextSegment, segmentWord, segmentFrames } = this.#library;
    const words: { word: string; startS: number; endS: number }[] = [];
    for (let at = segments(this.#decoder); at !== null; at = nextSegment(at)) {
      const entry = z.string().parse(segmentWord(at));
      const [first, last] = [[0], [0]];
      segmentFrames(at, first, last);
      // Silence, noise and places without sound are written in brackets.
      if (/^[<[(+]/.test(entry)) continue;
      const word = entry.replace(/\(\d+\)$/, '');
      words.push({ word, startS: first[0]! / FRAMES_PER_SECOND, endS: (last[0]! + 1) / FRAMES_PER_SECOND });
    }
    return words;
  }
}
