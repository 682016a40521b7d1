import { type AcousticModel, logLikelihood, SILENCE_STATE, SKIP, STAY, STEP, wordStatesOf } from './acoustic-model.ts';
import type { WordNetwork } from './grammar.ts';

/** A word of a hypothesis; frames count from the start of the search, the end is not included. */
export interface FoundWord {
  readonly word: number;
  /** Whether it starts a sentence of the grammar. */
  readonly starts: boolean;
  readonly startFrame: number;
  readonly endFrame: number;
  /** Log likelihood of the path up to the word's end. */
  readonly score: number;
}

export interface Hypothesis {
  readonly words: readonly FoundWord[];
  /** Total log likelihood. */
  readonly score: number;
}

/** A word network with learnt phrases. */
export interface SearchNetwork extends WordNetwork {
  /** A node that is entered without a word wherever an utterance may start or end. */
  readonly again?: number;
}

export interface SearchOptions {
  /** Log likelihood added to a word, by its index. */
  readonly bonus?: ((word: number) => number) | undefined;
  /** A sentence may follow another without a pause. */
  readonly joins?: boolean;
}

/** Cost of a new word in log likelihood: keeps noise from being recognised as many short words. */
const WORD_PENALTY = -25;
/** Cost of a sentence that follows another. */
export const JOIN_PENALTY = -100;
/** Beam: paths this far below the best of a frame are dropped. */
const BEAM = 180;

/** The end of a word on a path; `before` is the index of the word end before it. */
interface WordEnd {
  readonly word: number;
  readonly starts: boolean;
  readonly startFrame: number;
  readonly endFrame: number;
  readonly score: number;
  readonly before: number;
}

/** An arc of the word network, with the word's states in the model (from `first`) and in the search (from `at`). */
interface Arc {
  readonly index: number;
  readonly from: number;
  readonly to: number;
  readonly word: number;
  readonly first: number;
  readonly count: number;
  readonly at: number;
  readonly bonus: number;
}

/**
 * Frame-synchronous Viterbi search for the likeliest path through the word network: one token per state, optional silence between words.
 * Memory grows with the frames: start a new search for each utterance.
 */
export class Search {
  readonly #model: AcousticModel;
  readonly #network: SearchNetwork;
  readonly #arcs: Arc[] = [];
  readonly #scores: Float64Array;
  readonly #befores: Int32Array;
  readonly #starts: Int32Array;
  readonly #arcBest: Float64Array;
  #nodeScores: Float64Array;
  #nodeBefores: Int32Array;
  #nextScores: Float64Array;
  #nextBefores: Int32Array;
  /** Nodes from which `network.again` is entered. */
  readonly #ending: readonly number[];
  readonly #silenceScores: Float64Array;
  readonly #silenceBefores: Int32Array;
  readonly #emissions: Float64Array;
  readonly #emissionFrames: Int32Array;
  readonly #ends: WordEnd[] = [];
  readonly #joins: boolean;
  #best = 0;
  #frame = 0;

  constructor(model: AcousticModel, network: SearchNetwork, { bonus = () => 0, joins = false }: SearchOptions = {}) {
    this.#model = model;
    this.#network = network;
    this.#joins = joins;
    let at = 0;
    network.arcs.forEach((arcs, from) => {
      for (const { word, to } of arcs) {
        const { first, count } = wordStatesOf(model, word);
        this.#arcs.push({ index: this.#arcs.length, from, to, word, first, count, at, bonus: WORD_PENALTY + bonus(word) });
        at += count;
      }
    });
    const nodes = network.arcs.length;
    this.#scores = new Float64Array(at).fill(-Infinity);
    this.#befores = new Int32Array(at);
    this.#starts = new Int32Array(at);
    this.#arcBest = new Float64Array(this.#arcs.length).fill(-Infinity);
    this.#nodeScores = new Float64Array(nodes).fill(-Infinity);
    this.#nodeBefores = new Int32Array(nodes).fill(-1);
    this.#nextScores = new Float64Array(nodes);
    this.#nextBefores = new Int32Array(nodes);
    this.#silenceScores = new Float64Array(nodes).fill(-Infinity);
    this.#silenceBefores = new Int32Array(nodes);
    this.#emissions = new Float64Array(model.states.count);
    this.#emissionFrames = new Int32Array(model.states.count).fill(-1);
    this.#nodeScores[0] = 0;
    this.#ending = [...network.final.keys()].filter((node) => node === 0 || network.final[node] === true);
    if (network.again !== undefined) this.#nodeScores[network.again] = 0;
  }

  /** Takes one frame of features. */
  step(frames: Float32Array, frame: number): void {
    const scores = this.#scores;
    const befores = this.#befores;
    const starts = this.#starts;
    const arcBests = this.#arcBest;
    const nodeScores = this.#nodeScores;
    const nodeBefores = this.#nodeBefores;
    const threshold = this.#best - BEAM;
    const nextScores = this.#nextScores.fill(-Infinity);
    const exits = this.#nextBefores;
    let best = -Infinity;
    this.#stepSilence(frames, frame, threshold);
    for (let node = 0; node < nextScores.length; node += 1) {
      const score = this.#silenceScores[node] ?? 0;
      if (score > best) best = score;
      nextScores[node] = score + STEP;
      exits[node] = -1;
    }
    for (const { index, from, to, first, at: firstAt, count, bonus } of this.#arcs) {
      const entry = (nodeScores[from] ?? 0) + bonus;
      const lastBest = arcBests[index] ?? 0;
      if (lastBest < threshold && entry < threshold) {
        if (lastBest > -Infinity) scores.fill(-Infinity, firstAt, firstAt + count);
        arcBests[index] = -Infinity;
        continue;
      }
      let arcBest = -Infinity;
      for (let state = count - 1; state >= 0; state -= 1) {
        const at = firstAt + state;
        let score = (scores[at] ?? 0) + STAY;
        let source = at;
        if (state > 0) {
          const stepped = (scores[at - 1] ?? 0) + STEP;
          if (stepped > score) [score, source] = [stepped, at - 1];
        }
        if (state > 1) {
          const skipped = (scores[at - 2] ?? 0) + SKIP;
          if (skipped > score) [score, source] = [skipped, at - 2];
        }
        if (state === 0 && entry > score) [score, source] = [entry, -1];
        if (score < threshold) {
          scores[at] = -Infinity;
          continue;
        }
        if (source === -1) {
          befores[at] = nodeBefores[from] ?? 0;
          starts[at] = this.#frame;
        } else if (source !== at) {
          befores[at] = befores[source] ?? 0;
          starts[at] = starts[source] ?? 0;
        }
        score += this.#emission(first + state, frames, frame);
        scores[at] = score;
        if (score > arcBest) arcBest = score;
      }
      arcBests[index] = arcBest;
      if (arcBest > best) best = arcBest;
      const exit = (scores[firstAt + count - 1] ?? 0) + STEP;
      if (exit > (nextScores[to] ?? 0)) {
        nextScores[to] = exit;
        exits[to] = index;
      }
    }
    this.#frame += 1;
    this.#best = best;
    this.#enterNodes(best - BEAM);
  }

  /** Makes each node's best arrival the token that its next words start from. */
  #enterNodes(threshold: number): void {
    for (let node = 0; node < this.#nextScores.length; node += 1) {
      const arc = this.#nextBefores[node] ?? 0;
      if (arc === -1) {
        this.#nextBefores[node] = this.#silenceBefores[node] ?? 0;
        continue;
      }
      if ((this.#nextScores[node] ?? 0) < threshold) {
        this.#nextScores[node] = -Infinity;
        continue;
      }
      const entered = this.#arcs[arc];
      if (entered === undefined) continue;
      const last = entered.at + entered.count - 1;
      const end = {
        word: entered.word,
        starts: entered.from === 0,
        startFrame: this.#starts[last] ?? 0,
        endFrame: this.#frame,
        score: this.#nextScores[node] ?? 0,
        before: this.#befores[last] ?? 0,
      };
      this.#nextBefores[node] = this.#ends.push(end) - 1;
    }
    if (this.#joins) this.#enter(0, JOIN_PENALTY);
    if (this.#network.again !== undefined) this.#enter(this.#network.again, 0);
    [this.#nodeScores, this.#nextScores] = [this.#nextScores, this.#nodeScores];
    [this.#nodeBefores, this.#nextBefores] = [this.#nextBefores, this.#nodeBefores];
  }

  /** Enters a node, without a word, from where a sentence may start or end. */
  #enter(entered: number, cost: number): void {
    for (const node of this.#ending) {
      const score = (this.#nextScores[node] ?? 0) + cost;
      if (score <= (this.#nextScores[entered] ?? 0)) continue;
      this.#nextScores[entered] = score;
      this.#nextBefores[entered] = this.#nextBefores[node] ?? 0;
    }
  }

  #stepSilence(frames: Float32Array, frame: number, threshold: number): void {
    const emission = this.#emission(SILENCE_STATE, frames, frame);
    for (let node = 0; node < this.#silenceScores.length; node += 1) {
      const stay = (this.#silenceScores[node] ?? 0) + STAY;
      const enter = (this.#nodeScores[node] ?? 0) + STEP;
      if (enter > stay) this.#silenceBefores[node] = this.#nodeBefores[node] ?? 0;
      const score = Math.max(stay, enter);
      this.#silenceScores[node] = score < threshold ? -Infinity : score + emission;
    }
  }

  #emission(state: number, frames: Float32Array, frame: number): number {
    if (this.#emissionFrames[state] !== this.#frame) {
      this.#emissionFrames[state] = this.#frame;
      this.#emissions[state] = logLikelihood(this.#model.states, state, frames, frame);
    }
    return this.#emissions[state] ?? 0;
  }

  /**
   * The best paths so far, best first, no two with the same words.
   * @param complete only paths that end where an utterance may end
   */
  hypotheses(complete: boolean, most: number): Hypothesis[] {
    const found: { before: number; score: number }[] = [];
    for (let node = 0; node < this.#nodeScores.length; node += 1) {
      if (complete && this.#network.final[node] !== true) continue;
      found.push({ before: this.#nodeBefores[node] ?? 0, score: this.#nodeScores[node] ?? 0 });
      found.push({ before: this.#silenceBefores[node] ?? 0, score: this.#silenceScores[node] ?? 0 });
    }
    const distinct = new Map<string, Hypothesis>();
    for (const { before, score } of found.sort((a, b) => b.score - a.score)) {
      if (score === -Infinity || distinct.size >= most) break;
      const words = this.#trace(before);
      const key = words.map(({ word }) => word).join(' ');
      if (!distinct.has(key)) distinct.set(key, { words, score });
    }
    return [...distinct.values()];
  }

  /** The likeliest path so far, without the word that it is in. */
  underWay(): Hypothesis {
    const [between] = this.hypotheses(false, 1);
    let [at, score] = [-1, between?.score ?? -Infinity];
    for (const [state, each] of this.#scores.entries()) if (each > score) [at, score] = [state, each];
    return at === -1 ? (between ?? { words: [], score }) : { words: this.#trace(this.#befores[at] ?? -1), score };
  }

  #trace(from: number): FoundWord[] {
    const words: FoundWord[] = [];
    for (let end = this.#ends[from]; end !== undefined; end = this.#ends[end.before]) {
      const { before: _before, ...word } = end;
      words.push(word);
    }
    return words.reverse();
  }
}
