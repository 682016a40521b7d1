import { readFileSync } from 'node:fs';
import { parse, stringify } from 'yaml';
import { fromPackage } from '../../src/cli/setup/package-root.ts';

/** What a template is rendered with. */
interface Scope {
  readonly root: Record<string, unknown>;
  readonly dot: unknown;
  readonly variables: ReadonlyMap<string, unknown>;
  /** Bodies of `define`, by name. */
  readonly parts: Map<string, Part[]>;
}

type Part = { readonly text: string } | { readonly action: string; readonly body?: Part[] };

const BLOCKS = /^(?:if|with|range|define)\b/u;

/**
 * One file of the chart's templates with these values over the chart's own, as `helm template` renders it: as much of Go's
 * templates as the chart uses, so that no Helm is needed. @throws Error for anything else, and as `required` and `fail` do
 */
export function renderChart(file: string, values: Readonly<Record<string, unknown>>): unknown {
  const read = (path: string): string => readFileSync(fromPackage(`deploy/helm/offhook/${path}`), 'utf8');
  const chart = parse(read('Chart.yaml')) as { readonly version: string; readonly appVersion: string };
  const root = {
    Values: { ...(parse(read('values.yaml')) as object), ...values },
    Release: { Name: 'voice', Service: 'Helm' },
    Chart: { Name: 'offhook', Version: chart.version, AppVersion: chart.appVersion },
  };
  const scope = { root, dot: root, variables: new Map(), parts: new Map<string, Part[]>() };
  render(partsOf(read('templates/_pod.tpl')), scope);
  return parse(render(partsOf(read(`templates/${file}`)), scope));
}

function partsOf(template: string): Part[] {
  const open: Part[][] = [[]];
  const trimmed = template.replaceAll(/\s*\{\{-/gu, '{{').replaceAll(/-\}\}\s*/gu, '}}');
  for (const [at, piece] of trimmed.split(/\{\{\s*(.*?)\s*\}\}/su).entries()) {
    const parts = open.at(-1) ?? [];
    if (at % 2 === 0) parts.push({ text: piece });
    else if (piece === 'end') open.pop();
    else if (BLOCKS.test(piece)) {
      const body: Part[] = [];
      parts.push({ action: piece, body });
      open.push(body);
    } else parts.push({ action: piece });
  }
  return open[0] ?? [];
}

function render(parts: readonly Part[], scope: Scope): string {
  return parts
    .map((part) => {
      if ('text' in part) return part.text;
      if (part.body === undefined) return asText(evaluate(part.action, scope));
      return renderBlock(part.action, part.body, scope);
    })
    .join('');
}

function renderBlock(action: string, body: Part[], scope: Scope): string {
  const [, kind = '', names = '', expression = ''] = /^(\w+)\s+(?:(\$\w+,\s*\$\w+)\s*:=\s*)?(.*)$/su.exec(action) ?? [];
  const value = evaluate(expression, scope);
  switch (kind) {
    case 'define':
      scope.parts.set(asText(value), body);
      return '';
    case 'range': {
      const [key = '', item = ''] = names.split(/,\s*/u);
      return Object.entries(value ?? {})
        .map(([name, each]: [string, unknown]) =>
          render(body, { ...scope, dot: each, variables: new Map([...scope.variables, [key, name], [item, each]]) }),
        )
        .join('');
    }
    case 'with':
      return isTrue(value) ? render(body, { ...scope, dot: value }) : '';
    default:
      return isTrue(value) ? render(body, scope) : '';
  }
}

function evaluate(expression: string, scope: Scope): unknown {
  const words = expression.match(/"[^"]*"|[()|]|[^\s()|]+/gu) ?? [];
  const pipeline = (): unknown => {
    let piped: unknown[] = [];
    for (;;) {
      const terms: unknown[] = [];
      const name = /^[a-z]\w*$/iu.test(words[0] ?? '') ? words.shift() : undefined;
      while (words.length > 0 && words[0] !== '|' && words[0] !== ')') terms.push(term());
      const value = name === undefined ? terms[0] : call(name, [...terms, ...piped], scope);
      if (words[0] !== '|') return value;
      words.shift();
      piped = [value];
    }
  };
  const term = (): unknown => {
    const word = words.shift() ?? '';
    if (word === '(') {
      const value = pipeline();
      words.shift();
      return value;
    }
    if (word.startsWith('"')) return word.slice(1, -1);
    if (/^\d+$/u.test(word)) return Number(word);
    const [start = '', ...path] = word.split('.');
    const from = start === '' ? scope.dot : start === '$' ? scope.root : scope.variables.get(start);
    return path
      .filter((name) => name !== '')
      .reduce((value, name) => (value as Record<string, unknown> | null | undefined)?.[name], from);
  };
  return pipeline();
}

function call(name: string, given: readonly unknown[], scope: Scope): unknown {
  const [first, second] = given;
  const known: Readonly<Record<string, () => unknown>> = {
    include: () => render(scope.parts.get(asText(first)) ?? [], { ...scope, dot: second }).trim(),
    required: () => {
      if (!isTrue(second)) throw new Error(asText(first));
      return second;
    },
    fail: () => {
      throw new Error(asText(first));
    },
    nindent: () => `\n${asText(second).replaceAll(/^/gmu, ' '.repeat(Number(first)))}`,
    toYaml: () => stringify(first).trimEnd(),
    quote: () => JSON.stringify(asText(first)),
    default: () => (isTrue(second) ? second : first),
    trunc: () => asText(second).slice(0, Number(first)),
    trimSuffix: () => asText(second).replace(new RegExp(`${asText(first)}$`, 'u'), ''),
    int: () => Number(first),
    add: () => Number(first) + Number(second),
    gt: () => Number(first) > Number(second),
    not: () => !isTrue(first),
  };
  const made = known[name];
  if (made === undefined) throw new Error(`the chart uses ${name}, which this renderer does not know`);
  return made();
}

function isTrue(value: unknown): boolean {
  return typeof value === 'object' && value !== null ? Object.keys(value).length > 0 : Boolean(value);
}

function asText(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
}
