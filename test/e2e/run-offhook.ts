import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunningOffhook {
  /** Everything said so far on either stream. */
  output(): string;
  /** Types a line. */
  type(line: string): void;
  /** The end of what is typed, as Ctrl+D. */
  endInput(): void;
  readonly finished: Promise<Finished>;
}

const BIN = fileURLToPath(new URL('../../bin/offhook.js', import.meta.url));

/** Starts the command line as a process of its own, as a user would at a keyboard. */
export function startOffhook(args: readonly string[], env: Readonly<Record<string, string>> = {}): RunningOffhook {
  const child = spawn(process.execPath, [BIN, ...args], { env: { ...process.env, ...env }, stdio: ['pipe', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (part: Buffer) => void (stdout += part.toString('utf8')));
  child.stderr.on('data', (part: Buffer) => void (stderr += part.toString('utf8')));
  // What is typed after its end goes nowhere.
  child.stdin.on('error', () => undefined);
  return {
    output: () => stdout + stderr,
    type: (line) => void child.stdin.write(`${line}\n`),
    endInput: () => void child.stdin.end(),
    finished: new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code) => resolve({ code, stdout, stderr }));
    }),
  };
}

/** Runs the command line to its end, with nothing to type. */
export function runOffhook(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Finished> {
  const running = startOffhook(args, env);
  running.endInput();
  return running.finished;
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
