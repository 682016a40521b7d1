import type { AcousticModel, GaussianSet } from './acoustic-model.ts';
import { shownWord, type WordNetwork } from './grammar.ts';
import type { RecognitionModel } from './decode.ts';

/** The words of a phrase as spoken and shown, without punctuation at their ends. */
export function phraseWords(phrase: string): string[] {
  return phrase
    .normalize('NFC')
    .split(/\s+/u)
    .map((word) => word.replaceAll(/^[^\p{L}\p{N}]+|[^\p{L}\p{M}\p{N}.]+$/gu, ''))
    .filter((word) => word !== '');
}

/** Whether an utterance of these words, in any case, is one of the network's. */
export function accepts(network: WordNetwork, words: readonly string[], from = 0): boolean {
  const [first] = words;
  if (first === undefined) return network.final[from] === true;
  return (network.arcs[from] ?? []).some(({ word, to }) => {
    const parts = shownWord(network.words[word] ?? '')
      .toLowerCase()
      .split(' ');
    return parts.every((part, index) => part === words[index]?.toLowerCase()) && accepts(network, words.slice(parts.length), to);
  });
}

/**
 * Adds phrases to a language's word network: alone, in a row, and before or after a sentence of the vocabulary. Their words get
 * acoustic models of their own, also where the vocabulary has a word of the same spelling.
 * @param phrases the acoustic models of each phrase, words in their order
 */
export function addPhrases(base: RecognitionModel, phrases: readonly AcousticModel[]): RecognitionModel {
  const words = [...base.network.words];
  const arcs = base.network.arcs.map((from) => [...from]);
  const final = [...base.network.final];
  const newNode = (isFinal: boolean): number => {
    arcs.push([]);
    return final.push(isFinal) - 1;
  };
  // A phrase may start wherever an utterance may start or end; a sentence may follow it.
  const again = base.network.again ?? newNode(false);
  const after = newNode(true);
  arcs[after]?.push(...(arcs[0] ?? []));
  const known = new Set(base.network.words.map((word) => shownWord(word).toLowerCase()));
  const added: AcousticModel[] = [];
  for (const phrase of phrases) {
    // A single word of the vocabulary keeps its place in the grammar.
    if (phrase.words.length === 1 && known.has(phrase.words[0]?.toLowerCase() ?? '')) continue;
    let from = again;
    phrase.words.forEach((word, index) => {
      const to = index === phrase.words.length - 1 ? after : newNode(false);
      arcs[from]?.push({ word: words.push(word) - 1, to });
      from = to;
    });
    added.push(phrase);
  }
  const network = { words, arcs, final, again };
  return { ...base, network, model: joined([base.model, ...added]), common: base.common ?? base.model.states.count };
}

/** One model of all words. The first state of each, silence, is that of the first. */
function joined(models: readonly AcousticModel[]): AcousticModel {
  const wordStates: { first: number; count: number }[] = [];
  let shift = 0;
  for (const model of models) {
    for (const { first, count } of model.wordStates) wordStates.push({ first: first + shift, count });
    shift += model.states.count - 1;
  }
  return {
    words: models.flatMap((model) => [...model.words]),
    wordStates,
    states: joinedStates(models.map(({ states }) => states)),
  };
}

function joinedStates(sets: readonly GaussianSet[]): GaussianSet {
  const [first] = sets;
  if (first === undefined) throw new RangeError('there are no models to join');
  const { components } = first;
  const features = first.means.length / (first.count * components);
  const join = (part: (set: GaussianSet) => Float32Array, skipped: number): Float32Array => {
    const parts = sets.map((set, index) => (index === 0 ? part(set) : part(set).subarray(skipped)));
    const all = new Float32Array(parts.reduce((sum, each) => sum + each.length, 0));
    let at = 0;
    for (const each of parts) {
      all.set(each, at);
      at += each.length;
    }
    return all;
  };
  return {
    count: sets.reduce((sum, { count }) => sum + count - 1, 1),
    components,
    means: join(({ means }) => means, components * features),
    precisions: join(({ precisions }) => precisions, components * features),
    constants: join(({ constants }) => constants, components),
  };
}
