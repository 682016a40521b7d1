import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

interface ErrorClass {
  readonly name: string;
  readonly parent: string;
  readonly abstract: boolean;
  readonly code: string | undefined;
  /** `depends`: told for each error by its constructor. */
  readonly retryable: 'yes' | 'no' | 'depends' | undefined;
}

function sources(): string[] {
  return readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'));
}

const classHead = /^(?:export )?(abstract )?class (\w+) extends (\w+) \{$/gmu;
const codeLine = /^ {2}readonly code = '([^']*)';$/mu;

/** The classes of one file; each one's body ends with the first brace at the start of a line. */
function classesIn(source: string): ErrorClass[] {
  return [...source.matchAll(classHead)].map((head) => {
    const [whole, abstract, name = '', parent = ''] = head;
    const from = head.index + whole.length;
    const body = source.slice(from, source.indexOf('\n}', from));
    const retryable = /^ {2}readonly retryable(?: = (true|false)|: boolean);$/mu.exec(body);
    return {
      name,
      parent,
      abstract: abstract !== undefined,
      code: codeLine.exec(body)?.[1],
      retryable: retryable === null ? undefined : retryable[1] === undefined ? 'depends' : retryable[1] === 'true' ? 'yes' : 'no',
    };
  });
}

/** Every class below OffhookError that can be thrown, by whatever steps it descends. */
function thrown(classes: readonly ErrorClass[]): ErrorClass[] {
  const family = new Set(['OffhookError']);
  for (let before = 0; before !== family.size;) {
    before = family.size;
    for (const { name, parent } of classes) if (family.has(parent)) family.add(name);
  }
  return classes.filter(({ name, abstract }) => family.has(name) && name !== 'OffhookError' && !abstract);
}

/** Rows of the tables of docs/errors.md, header and rule left out. */
function documented(): string[][] {
  return readFileSync(join(root, 'docs/errors.md'), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim().replaceAll('`', '')),
    );
}

describe('error codes', () => {
  const files = sources();
  const errors = thrown(files.flatMap(classesIn));
  const codes = errors.map(({ code = '' }) => code);
  const rows = documented();

  it('are given to every class, in the one form', () => {
    const nameless = errors.filter(
      ({ code, retryable }) => !/^OFFHOOK_[A-Z]+(_[A-Z]+)*$/.test(code ?? '') || retryable === undefined,
    );
    expect(nameless.map(({ name }) => name)).toEqual([]);
  });

  it('are all found by the scan', () => {
    const written = files.flatMap((source) =>
      [...source.matchAll(/readonly code = '(OFFHOOK_\w+)'/g)].map(([, code = '']) => code),
    );
    expect(codes.length).toBeGreaterThan(20);
    expect([...codes].sort()).toEqual(written.sort());
  });

  it('are unique', () => {
    expect(codes.filter((code, index) => codes.indexOf(code) !== index)).toEqual([]);
  });

  it('are documented once each in docs/errors.md, and no other is', () => {
    expect(rows.map(([code = '']) => code).sort()).toEqual([...codes].sort());
  });

  it('are documented as retryable as they are', () => {
    const inCode = Object.fromEntries(errors.map(({ code = '', retryable }) => [code, retryable]));
    expect(Object.fromEntries(rows.map(([code = '', retryable]) => [code, retryable]))).toEqual(inCode);
  });

  it('are documented with what happened and what to do', () => {
    const thin = rows.filter((cells) => cells.length !== 4 || cells.some((cell) => cell === ''));
    expect(thin).toEqual([]);
  });
});
