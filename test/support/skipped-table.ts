import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import type { Reporter, TestModule } from 'vitest/node';

/** The workers of a run note here what they lack. */
const FILE = 'OFFHOOK_TEST_MISSING';

/** Notes that tests of this run are skipped for want of a program or package. */
export function noteMissing(name: string): void {
  const file = process.env[FILE];
  if (file === undefined) process.stdout.write(`skipped: ${name} is not installed\n`);
  else appendFileSync(file, `${name}\n`);
}

/** Prints at the end of a run what was skipped, and the programs whose absence was the reason. */
export class SkippedTable implements Reporter {
  readonly env: Readonly<Record<string, string>> = { [FILE]: join(mkdtempSync(join(tmpdir(), 'offhook-skipped-')), 'missing') };

  onTestRunEnd(modules: readonly TestModule[]): void {
    const file = this.env[FILE] ?? '';
    const missing = existsSync(file) ? [...new Set(readFileSync(file, 'utf8').trim().split('\n'))] : [];
    rmSync(dirname(file), { recursive: true, force: true });
    const rows = modules.flatMap((module) => {
      const skipped = [...module.children.allTests('skipped')].length;
      return skipped === 0 ? [] : [`  ${String(skipped).padStart(4)}  ${relative('.', module.moduleId)}`];
    });
    if (rows.length === 0) return;
    console.log(['', 'Skipped tests, by file:', ...rows].join('\n'));
    if (missing.length > 0) console.log(`Not installed: ${missing.join(', ')}. OFFHOOK_TEST_REQUIRE_ALL=1 fails instead.`);
  }
}
