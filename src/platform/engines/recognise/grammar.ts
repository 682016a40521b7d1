import { parse as parseYaml } from 'yaml';
import { z } from 'zod';
import { OffhookError } from '../../../kernel/errors.ts';

/** What may be said, as a tree. A word with underscores is spoken and modelled as one word. */
export type Expression =
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
