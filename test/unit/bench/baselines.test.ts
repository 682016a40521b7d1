import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { baselineFile, lastDocument, readDocument } from '../../../bench/baselines.ts';

const folder = mkdtempSync(join(tmpdir(), 'offhook-baselines-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('documents of benchmarks', () => {
  it.each([
    { note: 'one line behind those of npm', printed: '\n> offhook@0.1.0 bench:startup\n\n{"helpMs":1}\n' },
    { note: 'one of many lines', printed: '{\n  "helpMs": 1\n}\n' },
  ])('are read from what was printed: $note', ({ printed }) => {
    expect(lastDocument(printed)).toEqual({ helpMs: 1 });
  });

  it('are read by path', () => {
    const path = join(folder, 'before.json');
    writeFileSync(path, '{"calls":800}');
    expect(readDocument(path)).toEqual({ calls: 800 });
  });

  it('say that none is kept for a commit that was never measured', () => {
    expect(() => readDocument('no-such-commit')).toThrow(/no baseline is kept/);
  });

  it('are kept under the commit', () => {
    expect(baselineFile('0123abc').pathname).toMatch(/bench\/baselines\/0123abc\.json$/);
  });
});
