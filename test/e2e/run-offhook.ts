import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const BIN = fileURLToPath(new URL('../../bin/offhook.js', import.meta.url));

/** Runs the command line as a process of its own, as a user would. */
export function runOffhook(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Finished> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [BIN, ...args], { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (part: Buffer) => void (stdout += part.toString('utf8')));
    child.stderr.on('data', (part: Buffer) => void (stderr += part.toString('utf8')));
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, stdout, stderr }));
  });
}

/** The one JSON document that `--json` prints as the last line of stdout. */
export function lastJson(finished: Finished): unknown {
  const line = finished.stdout.trim().split('\n').at(-1) ?? '';
  try {
    return JSON.parse(line);
  } catch (cause) {
    throw new Error(`no JSON in the last line of stdout: ${line}\n${finished.stderr}`, { cause });
  }
}
