import { readFile } from 'node:fs/promises';
import type { z } from 'zod';
import { complaint, type Problem, problemText } from '../../config/problem.ts';
import { readYaml } from '../../config/yaml-document.ts';
import { errorText, OffhookError } from '../../kernel/errors.ts';
import type { Language } from '../../language/index.ts';
import { checkFlow } from './check.ts';
import { type Flow, flowDocument } from './schema.ts';

/** A flow with problems; `problems` has all of them, each with its place. */
export class FlowInvalidError extends OffhookError {
  readonly code = 'OFFHOOK_FLOW_INVALID';
  readonly retryable = false;
  readonly problems: readonly Problem[];

  constructor(source: string, problems: readonly Problem[]) {
    super(`${source} is no usable flow:\n${problems.map((problem) => `  ${problemText(problem)}`).join('\n')}`, {
      facts: { source, problems: problems.length },
    });
    this.problems = problems;
  }
}

export interface FlowOptions {
  /** The bot's language, for a flow without one. */
  readonly language: Language;
  /** The bot's time zone, for a flow without one; UTC when absent. */
  readonly timeZone?: string;
  /** Whether the bot has a server for the flow's requests; false when absent. */
  readonly hasServer?: boolean;
  /** The flow's name in messages. */
  readonly source?: string;
}

/** A flow, and the `file:line` of any of its keys. */
export interface LocatedFlow {
  readonly flow: Flow;
  readonly whereOf: (keys: readonly string[]) => string;
}

/**
 * Reads a flow that is already an object, as a bot file holds it inline.
 * @param whereOf where its keys stand; `source` where absent
 * @throws FlowInvalidError with every problem at once
 */
export function parseFlow(written: unknown, options: FlowOptions, whereOf?: LocatedFlow['whereOf']): Flow {
  return parseLocated(written, options, whereOf ?? (() => options.source ?? 'flow'));
}

/**
 * Reads a flow from a YAML file; problems carry the line.
 * @throws FlowInvalidError when it cannot be read, is no YAML or is no usable flow
 */
export async function loadFlow(path: string, options: FlowOptions): Promise<LocatedFlow> {
  const source = options.source ?? path;
  let yaml: string;
  try {
    yaml = await readFile(path, 'utf8');
  } catch (error) {
    throw new FlowInvalidError(source, [{ key: source, where: source, message: `cannot be read: ${errorText(error)}` }]);
  }
  const read = readYaml(yaml, source);
  if ('problem' in read) throw new FlowInvalidError(source, [read.problem]);
  const { written, whereOf } = read;
  return { flow: parseLocated(written, { ...options, source }, whereOf), whereOf };
}

function parseLocated(written: unknown, options: FlowOptions, whereOf: (keys: readonly string[]) => string): Flow {
  const source = options.source ?? 'flow';
  const first = flowDocument.safeParse(written);
  const problems: Problem[] = (first.error?.issues ?? []).map((issue) => {
    const { keys, message } = innermost(issue);
    const key = keys.join('.');
    const said = issue.code === 'unrecognized_keys' ? { message } : complaint(message, valueAt(written, keys));
    return { key: key === '' ? source : key, where: whereOf(keys), ...said };
  });
  // The rest of the document is checked without the unknown keys, so that all problems are reported at once.
  const parsed = first.success ? first : flowDocument.safeParse(withoutKeys(written, first.error.issues));
  if (parsed.success) {
    const { languages = [options.language], timeZone = options.timeZone ?? 'UTC' } = parsed.data;
    const flow: Flow = { ...parsed.data, languages, timeZone, hasServer: options.hasServer ?? false };
    const found = checkFlow(flow, source);
    problems.push(...found.map((problem) => ({ ...problem, where: whereOf(problem.key.split('.')) })));
    if (problems.length === 0) return flow;
  }
  throw new FlowInvalidError(source, problems);
}

/** The complaint of a union's most likely form: the one with the deepest path. */
function innermost(issue: z.core.$ZodIssue): { keys: string[]; message: string } {
  const path = issue.path.map(String);
  const keys = issue.code === 'unrecognized_keys' ? [...path, ...issue.keys.slice(0, 1)] : path;
  if (issue.code !== 'invalid_union' || issue.errors.length === 0) return { keys, message: issue.message };
  const inner = issue.errors.flatMap((branch) => (branch[0] === undefined ? [] : [innermost(branch[0])]));
  const fits = inner.filter(({ message, keys }) => keys.length > 0 || !message.startsWith('Invalid input: expected'));
  const best = fits.sort((left, right) => right.keys.length - left.keys.length)[0];
  if (best === undefined) {
    const kinds = inner.map(({ message }) => /expected (\w+)/.exec(message)?.[1]).filter((kind) => kind !== undefined);
    return { keys, message: `expected ${[...new Set(kinds)].join(' or ') || 'something else'}` };
  }
  return { keys: [...keys, ...best.keys], message: best.message };
}

function valueAt(written: unknown, keys: readonly string[]): unknown {
  return keys.reduce<unknown>((node, key) => (isRecord(node) ? node[key] : undefined), written);
}

function withoutKeys(written: unknown, issues: readonly z.core.$ZodIssue[]): unknown {
  const copy: unknown = structuredClone(written);
  for (const issue of issues) {
    if (issue.code !== 'unrecognized_keys') continue;
    const holder = valueAt(copy, issue.path.map(String));
    if (isRecord(holder)) for (const key of issue.keys) delete holder[key];
  }
  return copy;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
