import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Program } from '../capacity/subject.ts';

const HERE = fileURLToPath(new URL('pipecat/', import.meta.url));
/** Half a gigabyte: it stays for the next run, and goes with `node_modules`. */
const CACHE = fileURLToPath(new URL('../../node_modules/.cache/', import.meta.url));
const INSTALLED_WITHIN_MS = 600_000;

/** Pipecat in a virtual environment, or why there is none. */
export type Pipecat = { readonly about: string; readonly python: string } | { readonly missing: string };

/**
 * Installs Pipecat from PyPI unless an earlier run has done so. Wheels alone are installed, so that no package runs a script.
 * @param python the interpreter to make the virtual environment with, 3.11 or newer
 */
export function installPipecat(python: string): Pipecat {
  const asked = run(python, ['-c', 'import platform; print(platform.python_version())']);
  if ('missing' in asked) return asked;
  if (!isNewEnough(asked.output)) return { missing: `Pipecat needs Python 3.11 or newer, ${python} is ${asked.output}` };
  const requirements = join(HERE, 'requirements.txt');
  const pinned = readFileSync(requirements, 'utf8');
  const key = createHash('sha256').update(`${asked.output}\n${pinned}`).digest('hex').slice(0, 12);
  const folder = join(CACHE, `offhook-pipecat-${key}`);
  const installed = { about: aboutOf(pinned, asked.output), python: join(folder, 'bin', 'python') };
  const complete = join(folder, 'complete');
  if (existsSync(complete)) return installed;
  rmSync(folder, { recursive: true, force: true });
  console.error(`installing ${installed.about} into ${folder}`);
  const made = run(python, ['-m', 'venv', folder]);
  if ('missing' in made) return made;
  const options = ['--no-deps', '--only-binary=:all:', '--no-input', '--disable-pip-version-check', '--quiet'];
  const got = run(installed.python, ['-m', 'pip', 'install', ...options, '-r', requirements]);
  if ('missing' in got) return got;
  writeFileSync(complete, '');
  return installed;
}

/** The process that is measured. */
export function pipecatBot({ python }: { readonly python: string }, withSilero: boolean): Program {
  return { command: python, arguments: [join(HERE, 'bot.py'), ...(withSilero ? ['--silero'] : [])] };
}

/** @param version such as 3.11.7 */
export function isNewEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > 3 || (major === 3 && minor >= 11);
}

/** @param pinned the requirements, which name Pipecat's version */
export function aboutOf(pinned: string, pythonVersion: string): string {
  const version = /^pipecat-ai==(\S+)$/mu.exec(pinned)?.[1];
  if (version === undefined) throw new Error('requirements.txt names no version of pipecat-ai');
  return `pipecat-ai ${version}, Python ${pythonVersion}`;
}

function run(command: string, words: readonly string[]): { readonly output: string } | { readonly missing: string } {
  const { status, stdout, stderr, error } = spawnSync(command, words, { encoding: 'utf8', timeout: INSTALLED_WITHIN_MS });
  const what = `${command} ${words.slice(0, 3).join(' ')}`;
  if (error !== undefined) return { missing: `${what}: ${error.message}` };
  if (status !== 0) return { missing: `${what} ended with ${status}: ${(stderr || stdout).trim().split('\n').at(-1) ?? ''}` };
  return { output: stdout.trim() };
}
