import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Compiles what is measured as `npm run build` does, into a folder of its own that is removed when this process ends: a loader of
 * TypeScript adds code to every function, and users run none.
 * @param children files that start a process, from the root of the repository, without their extension
 * @param besides what they read, from the root
 * @returns the root of what was compiled
 */
export function compile(children: readonly string[], besides: readonly string[] = []): string {
  const out = mkdtempSync(join(tmpdir(), 'offhook-bench-'));
  process.once('exit', () => rmSync(out, { recursive: true, force: true }));
  for (const name of ['node_modules', 'config', 'package.json']) symlinkSync(join(ROOT, name), join(out, name));
  const project = join(out, 'tsconfig.json');
  const compilerOptions = { rootDir: ROOT, outDir: out, noCheck: true, declaration: false, types: [] };
  const files = children.map((name) => join(ROOT, `${name}.ts`));
  const include = [join(ROOT, 'src')];
  writeFileSync(project, JSON.stringify({ extends: join(ROOT, 'scripts/tsconfig.build.json'), compilerOptions, files, include }));
  const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
  const { status, stdout } = spawnSync(process.execPath, [compiler, '-p', project], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`what is measured does not compile: ${stdout}`);
  for (const path of besides) cpSync(join(ROOT, path), join(out, path), { recursive: true });
  return out;
}
