import { parse as parseYaml } from 'yaml';
import { z } from 'zod';
import { OffhookError } from '../../../kernel/errors.ts';

/** What may be said, as a tree. A word with underscores is spoken and modelled as one word. */
type Expression =
  | { readonly type: 'word'; readonly word: string }
  | { readonly type: 'rule'; readonly name: string }
  | { readonly type: 'sequence'; readonly parts: readonly Expression[] }
  | { readonly type: 'choice'; readonly options: readonly Expression[] }
  | { readonly type: 'repeat'; readonly part: Expression; readonly min: number; readonly max: number };

export interface Grammar {
  readonly language: string;
  readonly start: string;
  readonly rules: ReadonlyMap<string, Expression>;
}

const fileSchema = z.strictObject({
  language: z.string().min(2),
  start: z.string(),
  /** One alternative per line. */
  rules: z.record(z.string(), z.string()),
});

const MAX_REPEATS = 20;

/**
 * Reads a vocabulary file (config/platform/vocabulary.<lang>.yaml).
 * @throws VocabularyError naming the rule and what is wrong with it
 */
export function readGrammar(yaml: string): Grammar {
  const file = fileSchema.safeParse(parseYaml(yaml));
  if (!file.success) throw new VocabularyError(z.prettifyError(file.error));
  const { language, start } = file.data;
  const rules = new Map<string, Expression>();
  for (const [name, lines] of Object.entries(file.data.rules)) {
    const options = lines.split('\n').filter((line) => line.trim() !== '');
    if (options.length === 0) throw new VocabularyError(`rule ${name} is empty`);
    rules.set(name, { type: 'choice', options: options.map((line) => parseLine(name, line)) });
  }
  checkReferences(rules, start);
  return { language, start, rules };
}

/** @throws VocabularyError for an unknown rule name, or a rule that contains itself */
function checkReferences(rules: ReadonlyMap<string, Expression>, start: string): void {
  const open: string[] = [];
  const done = new Set<string>();
  const visitRule = (name: string): void => {
    if (open.includes(name)) throw new VocabularyError(`rule ${name} contains itself`);
    const rule = rules.get(name);
    if (rule === undefined) throw new VocabularyError(`no rule named ${name}`);
    if (done.has(name)) return;
    open.push(name);
    visit(rule);
    open.pop();
    done.add(name);
  };
  const visit = (expression: Expression): void => {
    if (expression.type === 'rule') visitRule(expression.name);
    else if (expression.type === 'sequence') expression.parts.forEach(visit);
    else if (expression.type === 'choice') expression.options.forEach(visit);
    else if (expression.type === 'repeat') visit(expression.part);
  };
  visitRule(start);
}

const TOKEN = /<[\w-]+>|[()[\]|]|\{\d+,\d+\}|[^\s()[\]|<>{}]+|\S/gu;

function parseLine(rule: string, line: string): Expression {
  const tokens = line.match(TOKEN) ?? [];
  let at = 0;
  const fail = (what: string): never => {
    throw new VocabularyError(`rule ${rule}, "${line}": ${what}`);
  };

  const choice = (closing: string | undefined): Expression => {
    const options: Expression[] = [sequence()];
    while (tokens[at] === '|') {
      at += 1;
      options.push(sequence());
    }
    if (tokens[at] !== closing) fail(closing === undefined ? `unexpected ${tokens[at]}` : `missing ${closing}`);
    at += 1;
    const [only, ...others] = options;
    return only !== undefined && others.length === 0 ? only : { type: 'choice', options };
  };

  const sequence = (): Expression => {
    const parts: Expression[] = [];
    for (let token = tokens[at]; token !== undefined && !['|', ')', ']'].includes(token); token = tokens[at]) {
      at += 1;
      parts.push(item(token));
    }
    const [only, ...others] = parts;
    if (only === undefined) return fail('an empty alternative');
    return others.length === 0 ? only : { type: 'sequence', parts };
  };

  /** Parses the item that starts with a token; `at` is behind the token. */
  const item = (token: string): Expression => {
    let part: Expression;
    if (token === '[') part = { type: 'repeat', part: choice(']'), min: 0, max: 1 };
    else if (token === '(') part = choice(')');
    else if (/^<.+>$/u.test(token)) part = { type: 'rule', name: token.slice(1, -1) };
    else if (/^[|<>{}]/u.test(token)) return fail(`unexpected ${token}`);
    else part = { type: 'word', word: token };
    const bounds = /^\{(\d+),(\d+)\}$/u.exec(tokens[at] ?? '');
    if (bounds === null) return part;
    at += 1;
    const [min, max] = [Number(bounds[1]), Number(bounds[2])];
    if (max < 1 || min > max || max > MAX_REPEATS) fail(`repetition must be 0 to ${MAX_REPEATS}, smaller first`);
    return { type: 'repeat', part, min, max };
  };

  return choice(undefined);
}

/** A vocabulary file that breaks its own rules: an unknown rule name, a loop, an empty phrase. */
export class VocabularyError extends OffhookError {
  readonly code = 'OFFHOOK_VOCABULARY';
  readonly retryable = false;
}

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
