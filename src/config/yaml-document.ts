import { isMap, isNode, LineCounter, parseDocument, visit } from 'yaml';
import { errorText } from '../kernel/errors.ts';
import type { Problem } from './problem.ts';

/** A YAML file that was read. */
export interface YamlDocument {
  readonly written: unknown;
  /** `file:line` of the value under these keys, or of what is nearest above it. */
  readonly whereOf: (keys: readonly PropertyKey[]) => string;
}

/**
 * Reads a YAML file with values by line. For invalid YAML only the first mistake is reported, since most others follow from it. An unquoted `{{ name
 * }}`, which YAML takes for a map, is reported as such.
 * @param path names the file in messages
 */
export function readYaml(text: string, path: string): YamlDocument | { readonly problem: Problem } {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const at = (offset: number): number => lines.linePos(offset).line;
  const problemAt = (line: number, message: string): { problem: Problem } => ({
    problem: { key: path, where: `${path}:${line}`, message },
  });
  const placeholder = unquotedPlaceholder(document);
  const [error] = document.errors;
  if (placeholder !== undefined && (error === undefined || at(placeholder) <= at(error.pos[0]))) {
    return problemAt(at(placeholder), 'a text that begins with {{ must be in quotes: without them YAML takes it for a map');
  }
  if (error !== undefined) return problemAt(at(error.pos[0]), `not readable as YAML: ${error.message.replace(/\.$/u, '')}`);
  let written: unknown;
  try {
    written = document.toJS();
  } catch (failure) {
    // Aliases that would grow without end.
    return problemAt(1, `not readable as YAML: ${errorText(failure)}`);
  }
  return {
    written,
    whereOf: (keys) => {
      for (let length = keys.length; length > 0; length -= 1) {
        const node: unknown = document.getIn(keys.slice(0, length), true);
        if (isNode(node) && node.range) return `${path}:${at(node.range[0])}`;
      }
      return `${path}:1`;
    },
  };
}

/** Where a map has a map for its key, as `{{ name }}` does. */
function unquotedPlaceholder(document: ReturnType<typeof parseDocument>): number | undefined {
  let found: number | undefined;
  visit(document, {
    Map: (_key, map) => {
      const isOne = map.items.some(({ key }) => isMap(key) && key.flow === true);
      if (!isOne) return undefined;
      found = map.range?.[0];
      return visit.BREAK;
    },
  });
  return found;
}
