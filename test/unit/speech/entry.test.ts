import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

/** The names that the published entry hands on, each with the file it comes from. */
function exported(): { readonly name: string; readonly file: string }[] {
  const entry = 'src/speech/index.ts';
  return [...read(entry).matchAll(/^export (?:type )?\{([^}]*)\} from '([^']+)';$/gmu)].flatMap(([, names = '', from = '']) =>
    names
      .split(',')
      .map((name) => name.replace(/^\s*type /u, '').trim())
      .filter((name) => name !== '')
      .map((name) => ({ name, file: join(dirname(entry), from) })),
  );
}

/** The file where a name is born, through the re-exports on the way. */
function birthplace(name: string, file: string): string {
  const source = read(file);
  if (new RegExp(`^export (?:abstract |async )?(?:class|interface|type|const|function) ${name}\\b`, 'mu').test(source))
    return file;
  const from = [...source.matchAll(/^export (?:type )?\{([^}]*)\} from '([^']+)';$/gmu)].find(([, names = '']) =>
    new RegExp(`\\b${name}\\b`, 'u').test(names),
  )?.[2];
  if (from === undefined) throw new Error(`${name} is born nowhere near ${file}`);
  return birthplace(name, join(dirname(file), from));
}

describe('the published entry', () => {
  it.each(exported())('says what $name is', ({ name, file }) => {
    const lines = read(birthplace(name, file)).split('\n');
    const at = lines.findIndex((line) =>
      new RegExp(`^export (?:abstract |async )?(?:class|interface|type|const|function) ${name}\\b`, 'u').test(line),
    );
    expect(lines[at - 1]).toMatch(/\*\/$/u);
  });

  it('is shown in the documents by code that the compiler sees', () => {
    const programs = readdirSync(join(root, 'examples/speech')).map((file) => read(join('examples/speech', file)));
    const seen = programs.join('\n').replaceAll(/^ +/gmu, '');
    const blocks = [...read('docs/speech-client.md').matchAll(/^```ts\n(.*?)^```$/gmsu)].map(([, code = '']) => code);
    expect(blocks.length).toBeGreaterThan(0);
    for (const block of blocks) {
      const body = block.replace(/^import \{[^}]*\} from 'offhook\/speech';\n\n/u, '');
      expect(seen).toContain(body.replaceAll(/^ +/gmu, ''));
    }
  });
});
