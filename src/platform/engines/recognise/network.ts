import { type Expression, type Grammar, VocabularyError } from './grammar.ts';

/** A grammar as a deterministic word graph; node 0 is the start. */
export interface WordNetwork {
  /** Each distinct word once; arcs name them by index. */
  readonly words: readonly string[];
  /** For each node, the words that may follow and the nodes they lead to. */
  readonly arcs: readonly (readonly { readonly word: number; readonly to: number }[])[];
  /** Whether an utterance may end at the node. */
  readonly final: readonly boolean[];
}

const MAX_NODES = 5_000;

/** A state of the nondeterministic graph; `free` steps need no word. */
interface State {
  readonly free: State[];
  readonly words: { readonly word: number; readonly to: State }[];
}

/** @throws VocabularyError when the grammar has more nodes than can be searched */
export function compileNetwork(grammar: Grammar): WordNetwork {
  const words: string[] = [];
  const wordIndex = new Map<string, number>();
  const indexOf = (word: string): number => {
    const known = wordIndex.get(word);
    if (known !== undefined) return known;
    wordIndex.set(word, words.length);
    return words.push(word) - 1;
  };
  const newState = (): State => ({ free: [], words: [] });

  /** Adds the expression after `from`; the state it returns is where it ends. */
  const add = (from: State, expression: Expression): State => {
    switch (expression.type) {
      case 'word': {
        const to = newState();
        from.words.push({ word: indexOf(expression.word), to });
        return to;
      }
      case 'rule':
        return add(from, ruleOf(grammar, expression.name));
      case 'sequence':
        return expression.parts.reduce(add, from);
      case 'choice': {
        const to = newState();
        for (const option of expression.options) add(from, option).free.push(to);
        return to;
      }
      case 'repeat': {
        const to = newState();
        let end = from;
        for (let count = 0; count < expression.max; count += 1) {
          if (count >= expression.min) end.free.push(to);
          end = add(end, expression.part);
        }
        end.free.push(to);
        return to;
      }
    }
  };
  const start = newState();
  // A repeat of zero or more adds a free step to its own start, so the start is a state of its own.
  const end = add(start, ruleOf(grammar, grammar.start));
  return minimise(words, determinise(start, end));
}

/** @throws VocabularyError; `readGrammar` has checked the names already */
function ruleOf({ rules }: Grammar, name: string): Expression {
  const rule = rules.get(name);
  if (rule === undefined) throw new VocabularyError(`no rule named ${name}`);
  return rule;
}

interface Graph {
  readonly arcs: Map<number, number>[];
  readonly final: boolean[];
}

/** Subset construction: each node is a set of states. */
function determinise(start: State, end: State): Graph {
  const ids = new Map<State, number>();
  const idOf = (state: State): number => {
    const known = ids.get(state);
    if (known !== undefined) return known;
    ids.set(state, ids.size);
    return ids.size - 1;
  };
  const closure = (states: Iterable<State>): Set<State> => {
    const all = new Set(states);
    for (const state of all) for (const next of state.free) all.add(next);
    return all;
  };
  const keyOf = (states: Set<State>): string =>
    [...states]
      .map(idOf)
      .sort((a, b) => a - b)
      .join(',');

  const first = closure([start]);
  const nodes = [first];
  const nodeOf = new Map([[keyOf(first), 0]]);
  const graph: Graph = { arcs: [], final: [] };
  // `nodes` grows while it is walked.
  for (const node of nodes) {
    if (graph.arcs.length > MAX_NODES) throw new VocabularyError(`the grammar unfolds into more than ${MAX_NODES} nodes`);
    const targets = new Map<number, State[]>();
    for (const state of node) {
      for (const { word, to } of state.words) targets.set(word, [...(targets.get(word) ?? []), to]);
    }
    const arcs = new Map<number, number>();
    for (const [word, states] of targets) {
      const target = closure(states);
      const key = keyOf(target);
      const known = nodeOf.get(key) ?? nodes.push(target) - 1;
      nodeOf.set(key, known);
      arcs.set(word, known);
    }
    graph.arcs.push(arcs);
    graph.final.push(node.has(end));
  }
  return graph;
}

/** Merges nodes that allow exactly the same continuations (Moore's algorithm). */
function minimise(words: readonly string[], graph: Graph): WordNetwork {
  let group = graph.final.map(Number);
  for (let count = 0; ;) {
    const keys = new Map<string, number>();
    const next = graph.arcs.map((arcs, node) => {
      const targets = [...arcs].sort((a, b) => a[0] - b[0]).map(([word, to]) => `${word}>${group[to]}`);
      const key = `${group[node]}|${targets.join(' ')}`;
      const known = keys.get(key) ?? keys.size;
      keys.set(key, known);
      return known;
    });
    group = next;
    if (keys.size === count) break;
    count = keys.size;
  }
  // Groups are numbered in order of first appearance, so node 0 stays the start.
  const arcs: { word: number; to: number }[][] = [];
  const final: boolean[] = [];
  for (const [node, from] of graph.arcs.entries()) {
    const merged = group[node] ?? 0;
    if (arcs[merged] !== undefined) continue;
    arcs[merged] = [...from].map(([word, to]) => ({ word, to: group[to] ?? 0 }));
    final[merged] = graph.final[node] === true;
  }
  return { words, arcs, final };
}

export function shownWord(word: string): string {
  return word.replaceAll('_', ' ');
}
