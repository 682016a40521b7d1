import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { onLoopback } from './loopback.ts';

/** A TCP port of the loopback that was free a moment ago. */
export async function freePort(): Promise<number> {
  await using loopback = await onLoopback(createServer());
  return loopback.port;
}

export interface Running {
  readonly child: ChildProcess;
  /** Everything it wrote so far, for the message of a failure. */
  output(): string;
  stop(signal?: NodeJS.Signals): Promise<void>;
}

/** Starts a program and keeps what it says. @param user whose rights it runs with; this process's own when absent */
export function run(
  program: string,
  args: readonly string[],
  user: { uid?: number; gid?: number } = {},
  env = process.env,
): Running {
  const child = spawn(program, args, { ...user, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const exited = once(child, 'exit');
  exited.catch(() => {});
  return {
    child,
    output: () => output,
    async stop(signal = 'SIGTERM') {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill(signal);
      await exited;
    },
  };
}
