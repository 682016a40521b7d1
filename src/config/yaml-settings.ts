import { LineCounter, isMap, isScalar, parseDocument } from 'yaml';
import { meant } from './nearest.ts';
import type { Problem } from './problem.ts';
import type { Setting } from './setting.ts';

export interface SettingsFile {
  /** As messages name it. */
  readonly path: string;
  readonly text: string;
}

/** A value found in a file, with the line it stands on. */
export interface Located {
  readonly value: unknown;
  /** `config/local.yaml:12` */
  readonly where: string;
}

/**
 * Reads one settings file against the list of known settings. An empty value counts as not written.
 * @returns values by setting key, unchecked, and every problem of form: bad YAML, unknown keys, secrets
 */
export function readYamlSettings(file: SettingsFile, known: readonly Setting[]) {
  const values = new Map<string, Located>();
  const problems: Problem[] = [];
  const lines = new LineCounter();
  const document = parseDocument(file.text, { lineCounter: lines, prettyErrors: false });
  const at = (offset: number | undefined): string => `${file.path}:${lines.linePos(offset ?? 0).line}`;
  // What follows the first mistake mostly comes of it.
  for (const error of document.errors.slice(0, 1)) {
    problems.push({ key: file.path, where: at(error.pos[0]), message: `not readable as YAML: ${error.message}` });
  }
  const byKey = new Map(known.map((setting) => [setting.key, setting]));
  const groups = new Set(known.flatMap(({ path }) => path.slice(1).map((_, index) => path.slice(0, index + 1).join('.'))));
  const visit = (node: unknown, above: readonly string[]): void => {
    if (!isMap(node)) {
      problems.push({ key: above.join('.') || file.path, where: file.path, message: 'a group of settings is expected here' });
      return;
    }
    for (const pair of node.items) {
      const name = isScalar(pair.key) ? String(pair.key.value) : String(pair.key);
      const path = [...above, name];
      const key = path.join('.');
      const where = at(isScalar(pair.key) ? pair.key.range?.[0] : undefined);
      const setting = byKey.get(key);
      if (setting === undefined) {
        const empty = pair.value === null || (isScalar(pair.value) && pair.value.value === null);
        if (groups.has(key)) {
          if (!empty) visit(pair.value, path);
        } else problems.push({ key, where, message: 'no such setting', ...meant(key, byKey.keys()) });
        continue;
      }
      if (setting.secret === true) {
        const message = `a secret does not go into a settings file; set ${setting.envName} or ${setting.envName}_FILE`;
        problems.push({ key, where, message });
        continue;
      }
      // A list or a group in place of a value: no setting takes one, so the schema refuses it by its type.
      const value: unknown = isScalar(pair.value) ? pair.value.value : pair.value === null ? null : [];
      if (value !== null) values.set(key, { value, where });
    }
  };
  if (document.errors.length === 0 && document.contents !== null) visit(document.contents, []);
  return { values, problems };
}
