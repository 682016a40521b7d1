#!/usr/bin/env node
// Loads the compiled command line, compiling it first when it is missing or older than its sources.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const compiled = join(root, 'dist', 'main.js');
const sources = join(root, 'src');

/** Newest modification time below a folder, in ms since the epoch. */
function newest(folder) {
  let latest = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    latest = Math.max(latest, entry.isDirectory() ? newest(path) : statSync(path).mtimeMs);
  }
  return latest;
}

if (existsSync(sources) && (!existsSync(compiled) || statSync(compiled).mtimeMs < newest(sources))) {
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  if (!existsSync(compiler)) {
    process.stderr.write('offhook: not built yet, and the compiler is not installed. Run `npm install` first.\n');
    process.exit(1);
  }
  const built = spawnSync(process.execPath, [compiler, '-p', join(root, 'tsconfig.build.json')], {
    cwd: root,
    stdio: ['ignore', 2, 2],
  });
  if (built.status !== 0) {
    process.stderr.write('offhook: the build failed; see the messages above.\n');
    process.exit(1);
  }
}
await import(pathToFileURL(compiled).href);
