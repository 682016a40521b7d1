import { type Expression, type Grammar, VocabularyError } from './grammar.ts';

/** The grammar as a deterministic word graph: node 0 is the start. */
export interface WordNetwork {
  /** Each distinct word once; arcs name them by index. */
  readonly words: readonly string[];
  /** For each node, what may be said next and where that leads. */
  readonly arcs: readonly (readonly { readonly word: number; readonly to: number }[])[];
  /** Whether an utterance may end at the node. */
  readonly final: readonly boolean[];
}

const MAX_NODES = 5_000;

/** A state of the graph before it is made deterministic. */
interface State {
  readonly free: State[];
  readonly words: { readonly word: number; readonly to: State }[];
}

/** @throws VocabularyError when the grammar unfolds into more nodes than we can search */
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
        return add(from, grammar.rules.get(expression.name)!);
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
  // A repeat that starts with "nothing at all" adds a free step to its own start, so the start must not be shared.
  const end = add(start, grammar.rules.get(grammar.start)!);
  return minimise(words, determinise(start, end));
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
  for (let index = 0; index < nodes.length; index += 1) {
    if (index > MAX_NODES) throw new VocabularyError(`the grammar unfolds into more than ${MAX_NODES} nodes`);
    const node = nodes[index]!;
    const targets = new Map<number, State[]>();
    for (const state of node) {
      for (const { word, to } of state.words) targets.set(word, [...(targets.get(word) ?? []), to]);
    }
    const arcs = new Map<number, number>();
    for (const [word, states] of targets) {
      const target = closure(states);
      const key = keyOf(target);
      if (!nodeOf.has(key)) nodeOf.set(key, nodes.push(target) - 1);
      arcs.set(word, nodeOf.get(key)!);
    }
    graph.arcs.push(arcs);
    graph.final.push(node.has(end));
  }
  return graph;
}

/** Joins nodes after which exactly the same may be said (Moore's refinement). */
function minimise(words: readonly string[], graph: Graph): WordNetwork {
  let group = graph.final.map(Number);
  for (let count = 0; ;) {
    const keys = new Map<string, number>();
    const next = graph.arcs.map((arcs, node) => {
      const targets = [...arcs].sort((a, b) => a[0] - b[0]).map(([word, to]) => `${word}>${group[to]}`);
      const key = `${group[node]}|${targets.join(' ')}`;
      if (!keys.has(key)) keys.set(key, keys.size);
      return keys.get(key)!;
    });
    group = next;
    if (keys.size === count) break;
    count = keys.size;
  }
  // Groups are numbered in order of first appearance, so node 0 stays the start.
  const arcs: { word: number; to: number }[][] = [];
  const final: boolean[] = [];
  graph.arcs.forEach((from, node) => {
    if (arcs[group[node] ?? 0] !== undefined) return;
    arcs[group[node] ?? 0] = [...from].map(([word, to]) => ({ word, to: group[to] ?? 0 }));
    final[group[node] ?? 0] = graph.final[node]!;
  });
  return { words, arcs, final };
}

export function shownWord(word: string): string {
  return word.replaceAll('_', ' ');
}
