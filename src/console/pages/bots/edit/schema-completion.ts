/** As much of a JSON Schema as names keys and words. */
export interface SchemaNode {
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly additionalProperties?: SchemaNode | boolean;
  readonly items?: SchemaNode;
  readonly allOf?: readonly SchemaNode[];
  readonly anyOf?: readonly SchemaNode[];
  readonly oneOf?: readonly SchemaNode[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly type?: string | readonly string[];
  readonly default?: unknown;
  readonly definitions?: Readonly<Record<string, SchemaNode>>;
}

export interface Suggestion {
  readonly label: string;
  readonly kind: 'key' | 'word';
  /** The type, or the default. */
  readonly detail: string;
}

/** What can stand at the cursor of a YAML text in block style: keys of its map, or words after a key. */
export function suggestionsAt(
  root: SchemaNode,
  text: string,
  cursor: number,
): { readonly from: number; readonly all: Suggestion[] } {
  const lineStart = text.lastIndexOf('\n', cursor - 1) + 1;
  const line = text.slice(lineStart, cursor);
  const value = /^\s*(?:- )*([\w-]+):\s+(\S*)$/u.exec(line);
  const path = pathAbove(text.slice(0, lineStart), /^[\s-]*/u.exec(line)?.[0].length ?? 0);
  if (value !== null) {
    const [, key = '', typed = ''] = value;
    return { from: cursor - typed.length, all: wordsOf(root, branches(root, nodesAt(root, [...path, key]))) };
  }
  const typed = /[\w-]*$/u.exec(line)?.[0] ?? '';
  if (!/^[\s-]*[\w-]*$/u.test(line)) return { from: cursor, all: [] };
  return { from: cursor - typed.length, all: keysOf(root, nodesAt(root, path)) };
}

/** Keys above a line of this indentation, from the top. */
function pathAbove(above: string, indent: number): string[] {
  const path: string[] = [];
  let limit = indent;
  for (const line of above.split('\n').reverse()) {
    const found = /^([\s-]*)([\w-]+):/u.exec(line);
    const [, space = '', key = ''] = found ?? [];
    if (found === null || /^\s*#/u.test(line) || space.length >= limit) continue;
    path.unshift(key);
    limit = space.length;
    if (limit === 0) break;
  }
  return path;
}

function nodesAt(root: SchemaNode, path: readonly string[]): SchemaNode[] {
  let nodes = branches(root, [root]);
  for (const key of path)
    nodes = branches(
      root,
      nodes.flatMap(({ properties, additionalProperties, items }) => {
        const inner = properties?.[key] ?? (typeof additionalProperties === 'object' ? additionalProperties : undefined);
        if (inner !== undefined) return [inner];
        return items === undefined ? [] : nodesUnder(root, items, key);
      }),
    );
  return nodes;
}

/** Keys of a list's maps stand under the list's own key. */
function nodesUnder(root: SchemaNode, items: SchemaNode, key: string): SchemaNode[] {
  return branches(root, [items]).flatMap(({ properties }) => properties?.[key] ?? []);
}

/** Nodes with their references followed and their unions opened. */
function branches(root: SchemaNode, nodes: readonly SchemaNode[], depth = 0): SchemaNode[] {
  if (depth > 6) return [];
  return nodes.flatMap((node) => {
    const target = node.$ref === undefined ? undefined : root.definitions?.[node.$ref.replace('#/definitions/', '')];
    const inner = [
      ...(target === undefined ? [] : [target]),
      ...(node.allOf ?? []),
      ...(node.anyOf ?? []),
      ...(node.oneOf ?? []),
    ];
    return [node, ...branches(root, inner, depth + 1)];
  });
}

function keysOf(root: SchemaNode, nodes: readonly SchemaNode[]): Suggestion[] {
  const known = new Map<string, Suggestion>();
  const withItems = [
    ...nodes,
    ...branches(
      root,
      nodes.flatMap(({ items }) => items ?? []),
    ),
  ];
  for (const { properties } of withItems)
    for (const [label, node] of Object.entries(properties ?? {})) {
      const [type] = branches(root, [node]).flatMap((each) => (typeof each.type === 'string' ? [each.type] : []));
      const preset =
        node.default === undefined || typeof node.default === 'object' ? undefined : `= ${JSON.stringify(node.default)}`;
      if (!known.has(label)) known.set(label, { label, kind: 'key', detail: preset ?? type ?? '' });
    }
  return [...known.values()];
}

function wordsOf(root: SchemaNode, nodes: readonly SchemaNode[]): Suggestion[] {
  const all = branches(root, nodes).flatMap((node) => [
    ...(node.enum ?? []),
    ...(node.const === undefined ? [] : [node.const]),
    ...(node.type === 'boolean' ? [true, false] : []),
  ]);
  return [...new Set(all.map(String))].map((label) => ({ label, kind: 'word', detail: '' }));
}
