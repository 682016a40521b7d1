import { isDeepStrictEqual } from 'node:util';
import type { Problem } from './problem.ts';

/** Parts of `dialog` that an editor may change: words, and how a model speaks. */
const EDITABLE = new Set([
  'flow',
  'instructions',
  'greeting',
  'temperature',
  'reasoningEffort',
  'maxTokens',
  'timeoutMs',
  'turnTimeoutMs',
  'model',
  'transfers',
]);
const IDENTITY = new Set(['name', 'tenant', 'readOnly']);
/** Names of settings that reach out of the bot, wherever they stand. */
const REACHING = /(?:url|uri|address|env|file|command|secret|headers?)$/iu;

/**
 * What of a draft reaches further than the file that it is to replace: addresses, files, commands and names of secrets. A person who edits a bot over
 * the API may not change them: an address beside the name of a secret would have the gateway send that secret there.
 * @param before the file as it is, parsed @param after the draft, parsed
 */
export function reachProblems(before: unknown, after: unknown, whereOf: (keys: readonly PropertyKey[]) => string): Problem[] {
  const [old, fresh] = [reachOf(before), reachOf(after)];
  const changed = [...new Set([...old.keys(), ...fresh.keys()])].filter(
    (key) => !isDeepStrictEqual(old.get(key), fresh.get(key)),
  );
  return changed.map((key) => {
    const what = IDENTITY.has(key) ? 'the name, the tenant and readOnly' : 'addresses, files, commands and names of secrets';
    return { key, where: whereOf(key.split('.')), message: `${what} are changed in the file itself, not here` };
  });
}

function reachOf(written: unknown): Map<string, unknown> {
  const found = new Map<string, unknown>();
  const walk = (value: unknown, path: readonly string[]): void => {
    if (path[0] === 'dialog' && path[1] === 'flow') return;
    const [first = '', second] = path;
    const isOfDialog = first === 'dialog' && path.length === 2 && !EDITABLE.has(second ?? '');
    if (isOfDialog || (path.length === 1 && IDENTITY.has(first)) || REACHING.test(path.at(-1) ?? '')) {
      found.set(path.join('.'), value);
      return;
    }
    if (typeof value !== 'object' || value === null) return;
    for (const [name, inner] of Object.entries(value)) walk(inner, [...path, name]);
  };
  walk(written, []);
  return found;
}
