import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const CONSOLE = fileURLToPath(new URL('../../../src/console/', import.meta.url));
const MANTINE = dirname(createRequire(import.meta.url).resolve('@mantine/core/styles.css'));
const INDEX = join(MANTINE, 'esm/index.mjs');
/** Every page needs them, whatever its components. */
const GLOBAL = ['baseline', 'default-css-variables', 'global'];

const read = (path: string): string => readFileSync(path, 'utf8');

/** `Anchor` of `import { Anchor, type Sizes } from '@mantine/core'`. */
function componentsImported(source: string): string[] {
  return [...source.matchAll(/import \{([^}]*)\} from '@mantine\/core'/gu)]
    .flatMap(([, names = '']) => names.split(','))
    .map((name) => name.trim().split(' as ')[0] ?? '')
    .filter((name) => name !== '' && !name.startsWith('type '));
}

/** The file of each name that `@mantine/core` exports. */
function exportedFiles(): Map<string, string> {
  return new Map(
    [...read(INDEX).matchAll(/^import \{([^}]*)\} from "(\.[^"]+)"/gmu)].flatMap(([, names = '', path = '']) =>
      names.split(',').map((name) => [name.trim().split(' as ').at(-1) ?? '', join(dirname(INDEX), path)] as const),
    ),
  );
}

/** Adds `file` and all that it imports of Mantine, directly or not. */
function addImports(file: string, files: Set<string>): void {
  if (files.has(file)) return;
  files.add(file);
  for (const [, path = ''] of read(file).matchAll(/from "(\.[^"]+)"/gu)) addImports(join(dirname(file), path), files);
}

it('has the styles of the Mantine components that the console uses and of those they are built on, in the order of Mantine', () => {
  const exported = exportedFiles();
  const files = new Set<string>();
  for (const source of readdirSync(CONSOLE, { recursive: true, encoding: 'utf8' }).filter((path) => /\.tsx?$/u.test(path)))
    for (const name of componentsImported(read(join(CONSOLE, source)))) {
      const file = exported.get(name);
      expect(file, `the file of ${name} of @mantine/core`).toBeDefined();
      if (file !== undefined) addImports(file, files);
    }
  const used = [...files].flatMap((file) => /(\w+)\.module\.mjs$/u.exec(file)?.[1] ?? []);
  const all = read(join(MANTINE, 'styles.css'));
  const place = (name: string): number => all.indexOf(read(join(MANTINE, `styles/${name}.css`)).trim());
  const needed = [...GLOBAL, ...used].toSorted((a, b) => place(a) - place(b));

  const given = [...read(join(CONSOLE, 'mantine.css')).matchAll(/^@import '@mantine\/core\/styles\/([\w-]+)\.css';$/gmu)];
  expect(given.map(([, name]) => name)).toEqual(needed);
});
