import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const SRC = fileURLToPath(new URL('../../src', import.meta.url));

/** The parts of a layer, lowest first: one may import what stands before it, and nothing of its own row. */
const ORDERS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  jobs: [['analysis'], ['queue'], ['outbox', 'webhooks'], ['after-call', 'submissions'], ['retention']],
  store: [['privacy'], ['postgres', 'objects'], ['embedded']],
};

it.each(Object.keys(ORDERS))('lets the folders of %s import each other in one direction', (layer) => {
  const rows = ORDERS[layer] ?? [];
  const rowOf = (folder: string): number => rows.findIndex((row) => row.includes(folder));
  const files = readdirSync(join(SRC, layer), { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  expect(files.filter((file) => file.includes('/') && rowOf(folderOf(file)) < 0)).toEqual([]);
  const upward = files.flatMap((file) => {
    const text = readFileSync(join(SRC, layer, file), 'utf8');
    return [...text.matchAll(/(?:from|import\() ?'(\.[^']+)'/gu)]
      .map(([, path = '']) => posix.join(dirname(file), path))
      .filter((path) => rowOf(folderOf(path)) >= 0 && folderOf(path) !== folderOf(file))
      .filter((path) => file.includes('/') && rowOf(folderOf(path)) >= rowOf(folderOf(file)))
      .map((path) => `${file} imports ${path}`);
  });
  expect(upward).toEqual([]);
});

/** The part of the layer that a path in it belongs to. */
function folderOf(path: string): string {
  return path.split('/')[0] ?? '';
}
