import type { AcousticModel, GaussianSet } from './acoustic-model.ts';
import { type WordNetwork, shownWord } from './network.ts';
import type { RecognitionModel } from './decode.ts';

/** The words of a phrase as spoken and shown, without punctuation at their ends. */
export function phraseWords(phrase: string): string[] {
  return phrase
    .normalize('NFC')
    .split(/\s+/u)
    .map((word) => word.replaceAll(/^[^\p{L}\p{N}]+|[^\p{L}\p{M}\p{N}.]+$/gu, ''))
    .filter((word) => word !== '');
}

/**
 * Adds phrases to a language's word network: alone, in a row, and before or after a sentence of the vocabulary. Their words get
 * acoustic models of their own, also where the vocabulary has a word of the same spelling.
 * @param phrases the acoustic models of each phrase, words in their order
 */
export function addPhrases(base: RecognitionModel, phrases: readonly AcousticModel[]): RecognitionModel {
  let [first, words, model] = [base.network.words.length, [...base.network.words], base.model];
  const arcs = base.network.arcs.map((from) => [...from]);
  const final = [...base.network.final];
  const newNode = (isFinal: boolean): number => {
    arcs.push([]);
    return final.push(isFinal) - 1;
  };
  const after = newNode(true);
  const starts: { word: number; to: number }[] = [];
  const known = new Set(base.network.words.map((word) => shownWord(word).toLowerCase()));
  for (const phrase of phrases) {
    // A single word of the vocabulary keeps its place in the grammar.
    if (phrase.words.length === 1 && known.has(phrase.words[0]?.toLowerCase() ?? '')) continue;
    const count = phrase.words.length;
    let to = count === 1 ? after : newNode(false);
    starts.push({ word: first, to });
    for (let index = 1; index < count; index += 1) {
      const next = index === count - 1 ? after : newNode(false);
      arcs[to]?.push({ word: first + index, to: next });
      to = next;
    }
    first += count;
    words = [...words, ...phrase.words];
    model = joined(model, phrase);
  }
  // A sentence or another phrase may follow a phrase; a phrase may start wherever an utterance may start or end.
  const sentenceStarts = [...(arcs[0] ?? [])];
  arcs.forEach((from, node) => {
    if (node === after) from.push(...sentenceStarts);
    if (node === 0 || final[node] === true) from.push(...starts);
  });
  const network: WordNetwork = { words, arcs, final };
  return { ...base, network, model };
}

function joined(one: AcousticModel, other: AcousticModel): AcousticModel {
  // Drops the other model's first state: silence, which this model has.
  const shift = one.states.count - 1;
  return {
    words: [...one.words, ...other.words],
    wordStates: [...one.wordStates, ...other.wordStates.map(({ first, count }) => ({ first: first + shift, count }))],
    states: joinedStates(one.states, other.states),
  };
}

function joinedStates(one: GaussianSet, other: GaussianSet): GaussianSet {
  const features = one.means.length / (one.count * one.components);
  const join = (a: Float32Array, b: Float32Array, skipped: number): Float32Array => {
    const all = new Float32Array(a.length + b.length - skipped);
    all.set(a);
    all.set(b.subarray(skipped), a.length);
    return all;
  };
  return {
    count: one.count + other.count - 1,
    components: one.components,
    means: join(one.means, other.means, other.components * features),
    precisions: join(one.precisions, other.precisions, other.components * features),
    constants: join(one.constants, other.constants, other.components),
  };
}
