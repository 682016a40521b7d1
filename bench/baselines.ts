import { existsSync, readdirSync, readFileSync } from 'node:fs';

const FOLDER = new URL('baselines/', import.meta.url);

/** Where the document of a commit is kept. */
export function baselineFile(commit: string): URL {
  return new URL(`${commit}.json`, FOLDER);
}

/**
 * The document that a benchmark printed: the last line, as `npm run` writes lines of its own before it, or all of it.
 * @throws SyntaxError for anything else
 */
export function lastDocument(printed: string): unknown {
  const text = printed.trim();
  const last = text.split('\n').at(-1) ?? '';
  return JSON.parse(last.startsWith('{') && last.endsWith('}') ? last : text);
}

/**
 * Reads a document by its file's path, or by the commit that it was kept for, of which the first letters are enough.
 * @throws Error where there is none, or several
 */
export function readDocument(pathOrCommit: string): unknown {
  if (existsSync(pathOrCommit)) return lastDocument(readFileSync(pathOrCommit, 'utf8'));
  const kept = existsSync(FOLDER) ? readdirSync(FOLDER) : [];
  const files = kept.filter(
    (name) => name.endsWith('.json') && (name.startsWith(pathOrCommit) || pathOrCommit.startsWith(name.slice(0, -5))),
  );
  const [file, ...others] = files;
  if (file === undefined) throw new Error(`${pathOrCommit} is no file, and no baseline is kept for such a commit`);
  if (others.length > 0) throw new Error(`several baselines begin with ${pathOrCommit}: ${files.join(', ')}`);
  return lastDocument(readFileSync(new URL(file, FOLDER), 'utf8'));
}
