import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { ARROWS } from '../support/arrows.ts';

const SRC = fileURLToPath(new URL('../../src', import.meta.url));

/** Files that a hall shows to others (`*`: to all) where it does not show all of them. */
const DOORS: readonly { readonly from: string; readonly to: string; readonly only: RegExp }[] = [
  { from: 'config', to: 'carriers', only: /^carriers\/(carrier|registry)\.ts$/u },
  { from: 'config', to: 'speech/vendors', only: /^speech\/vendors\/(vendor|registry)\.ts$/u },
  { from: 'call', to: 'carriers', only: /^carriers\/p/u },
  { from: 'call', to: 'speech', only: /^speech\/p/u },
  { from: 'call', to: 'dialog', only: /^dialog\/p/u },
  { from: 'outbound', to: 'call', only: /^call\/admission\//u },
  { from: 'outbound', to: 'records', only: /^records\/[a-z-]+\.ts$/u },
  { from: '*', to: 'language', only: /^language\/index\.ts$/u },
];

/**
 * The folders and files of a hall in rows, lowest first: one may import what stands in the rows before it, and nothing of its own row.
 * What no row names is free.
 */
const ROWS: Readonly<Record<string, string>> = {
  records: 'privacy < postgres objects < embedded < analysis < queue < outbox webhooks < after-call submissions < retention',
  call: 'turn recording < inbound < outbound < log < control < answering < transfer < services.ts < session.ts < admission',
};

interface Import {
  readonly file: string;
  readonly path: string;
  readonly types: boolean;
}

const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((file) => /\.tsx?$/u.test(file));
const imports: readonly Import[] = files.flatMap((file) => {
  const text = readFileSync(join(SRC, file), 'utf8');
  // The bots' schema lies outside src, and belongs to no hall.
  return [...text.matchAll(/(?:^(import|export) (type )?[^;']*?from|^import|import\() ?'(\.[^']+)'/gmu)]
    .map(([, , type, path = '']) => ({ file, path: posix.join(dirname(file), path), types: type !== undefined }))
    .filter(({ path }) => !path.startsWith('../'));
});

describe('src', () => {
  it('has halls that this table knows', () => {
    expect([...new Set(files.map((file) => hallOf(file)))].filter((hall) => ARROWS[hall] === undefined)).toEqual([]);
  });

  it('imports only where an arrow allows it', () => {
    const wrong = imports.filter(({ file, path, types }) => {
      const [from, to] = [hallOf(file), hallOf(path)];
      const { uses = '', types: typesOf = '' } = ARROWS[from] ?? {};
      // The generated schemas are published files, not code.
      if (path.startsWith('../config/schemas/')) return false;
      return from !== to && !uses.split(' ').includes(to) && !(types && typesOf.split(' ').includes(to));
    });
    expect(wrong.map(arrow)).toEqual([]);
  });

  it('draws no arrow that no file needs', () => {
    const drawn = Object.entries(ARROWS).flatMap(([from, { uses, types = '' }]) =>
      `${uses} ${types}`.split(' ').flatMap((to) => (to === '' ? [] : [`${from} → ${to}`])),
    );
    const needed = new Set(imports.map(({ file, path }) => `${hallOf(file)} → ${hallOf(path)}`));
    expect(drawn.filter((line) => !needed.has(line))).toEqual([]);
  });

  it.each(DOORS)('enters $to from $from through $only', ({ from, to, only }) => {
    expect(
      imports
        .filter(
          ({ file, path }) =>
            (from === '*' ? hallOf(file) !== to : hallOf(file) === from) && hallOf(path) === to && !only.test(path),
        )
        .map(arrow),
    ).toEqual([]);
  });

  it('keeps turn-taking free of everything else', () => {
    expect(
      imports.filter(({ file, path }) => file.startsWith('call/turn/') && !path.startsWith('call/turn/')).map(arrow),
    ).toEqual([]);
  });
});

describe.each(Object.keys(ROWS))('the folders of %s', (hall) => {
  const rows = (ROWS[hall] ?? '').split(' < ').map((row) => row.split(' '));
  const partOf = (path: string): string => (path.startsWith(`${hall}/`) ? (path.split('/')[1] ?? '') : '');
  const rowOf = (path: string): number => rows.findIndex((row) => row.includes(partOf(path)));

  it('import each other in one direction', () => {
    const upward = imports.filter(
      ({ file, path }) => rowOf(file) >= 0 && rowOf(path) >= 0 && partOf(file) !== partOf(path) && rowOf(path) >= rowOf(file),
    );
    expect(upward.map(arrow)).toEqual([]);
  });
});

/** The hall of a path below `src`: the longest entry of the table that it lies in, else its first folder. */
function hallOf(path: string): string {
  const halls = Object.keys(ARROWS).filter((hall) => path === hall || path.startsWith(`${hall}/`));
  return halls.toSorted((one, other) => other.length - one.length)[0] ?? path.split('/')[0] ?? '';
}

function arrow({ file, path }: Import): string {
  return `${file} imports ${path}`;
}
