#!/usr/bin/env node
// Loads the compiled command line. Compiles it, and builds the console's page, when they are missing or older than their sources.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const compiled = join(root, 'dist', 'main.js');
const sources = join(root, 'src');
const page = join(root, 'dist', 'console', 'index.html');
const pageSources = join(sources, 'console');
const lock = join(root, 'node_modules', '.offhook-build');
const WAIT_MS = 100;
/** A build takes seconds; a lock this old was left behind. */
const STALE_MS = 120_000;

/** Newest modification time below a folder, in ms since the epoch. */
function newest(folder, without) {
  let latest = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (path === without) continue;
    latest = Math.max(latest, entry.isDirectory() ? newest(path) : statSync(path).mtimeMs);
  }
  return latest;
}

/** Both builds: what is made, of which sources, and how. */
const builds = [
  {
    made: compiled,
    newestMs: () => newest(sources, pageSources),
    tool: join('typescript', 'bin', 'tsc'),
    args: ['-p', join(root, 'scripts', 'tsconfig.build.json')],
  },
  {
    made: page,
    newestMs: () => newest(pageSources),
    tool: join('vite', 'bin', 'vite.js'),
    args: ['build', '--config', join(pageSources, 'vite.config.ts'), '--logLevel', 'warn'],
  },
];

function outdated() {
  // A packed package is built and has no sources.
  if (!existsSync(sources)) return [];
  return builds.filter(({ made, newestMs }) => !existsSync(made) || statSync(made).mtimeMs < newestMs());
}

/** Only one process compiles; the others wait for it and look again. */
function takeLock() {
  try {
    mkdirSync(lock);
    return true;
  } catch {
    const since = statSync(lock, { throwIfNoEntry: false })?.mtimeMs;
    if (since !== undefined && Date.now() - since > STALE_MS) rmSync(lock, { recursive: true, force: true });
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, WAIT_MS);
    return false;
  }
}

function build({ made, tool, args }) {
  const path = join(root, 'node_modules', tool);
  if (!existsSync(path)) {
    process.stderr.write(`offhook: not built yet, and ${tool} is not installed. Run \`npm install\` first.\n`);
    return false;
  }
  const built = spawnSync(process.execPath, [path, ...args], { cwd: root, stdio: ['ignore', 2, 2] });
  if (built.status === 0) return true;
  // What was written of it is newer than the sources and must not be taken for a build.
  rmSync(made, { force: true });
  process.stderr.write('offhook: the build failed; see the messages above.\n');
  return false;
}

while (existsSync(lock) || outdated().length > 0) {
  if (!existsSync(join(root, 'node_modules'))) {
    process.stderr.write('offhook: not installed yet. Run `npm install` first.\n');
    process.exit(1);
  }
  if (!takeLock()) continue;
  let good = true;
  try {
    good = outdated().every(build);
  } finally {
    rmSync(lock, { recursive: true, force: true });
  }
  if (!good) process.exit(1);
}
if (!existsSync(compiled)) {
  process.stderr.write(`offhook: this package has no ${compiled}; it was packed without being built.\n`);
  process.exit(1);
}
await import(pathToFileURL(compiled).href);
