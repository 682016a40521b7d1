import { runProgram } from '../../src/cli/program.ts';

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** What `process.exit` throws here, so that nothing after it runs. */
class Exit extends Error {}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Commands share the process's environment and streams: one at a time. */
let last: Promise<unknown> = Promise.resolve();

/**
 * Runs a command of the command line inside this process, for a tenth of the processor time of a process of its own. Output, exit code
 * and environment are the command's alone; what it writes after its exit is dropped, as with a real one.
 */
export function runCommand(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Finished> {
  return runInside(() => runProgram(args), env);
}

/** The same for another program, such as an example: `run` imports it. */
export function runInside(run: () => Promise<unknown>, env: Readonly<Record<string, string>> = {}): Promise<Finished> {
  const finished = last.then(() => runAlone(run, env));
  last = finished.catch(() => undefined);
  return finished;
}

async function runAlone(run: () => Promise<unknown>, env: Readonly<Record<string, string>>): Promise<Finished> {
  const before = { exit: Reflect.get(process, 'exit'), exitCode: process.exitCode } as const;
  const streams = [process.stdout, process.stderr].map((stream) => ({ stream, write: Reflect.get(stream, 'write') }));
  const environment = { ...process.env };
  const listening = SIGNALS.map((name) => ({ name, listeners: process.listeners(name) }));
  const written = { stdout: '', stderr: '' };
  let code: number | undefined;
  const writerInto = (name: keyof typeof written) => {
    return (part: string | Uint8Array, ...rest: unknown[]): boolean => {
      if (code === undefined) written[name] += typeof part === 'string' ? part : Buffer.from(part).toString('utf8');
      const done = rest.at(-1);
      if (typeof done === 'function') queueMicrotask(() => done());
      return true;
    };
  };
  process.stdout.write = writerInto('stdout');
  process.stderr.write = writerInto('stderr');
  process.exitCode = undefined;
  process.exit = (given) => {
    code ??= Number(given ?? process.exitCode ?? 0);
    throw new Exit();
  };
  Object.assign(process.env, env);
  try {
    await run();
  } catch (error) {
    // What is thrown after an exit comes of the exit.
    if (code === undefined) throw error;
  } finally {
    // The compiler takes it for what was assigned above.
    code ??= Number(Reflect.get(process, 'exitCode') ?? 0);
    Object.assign(process, before);
    for (const { stream, write } of streams) Object.assign(stream, { write });
    for (const name of Object.keys(process.env)) if (!Object.hasOwn(environment, name)) delete process.env[name];
    Object.assign(process.env, environment);
    for (const { name, listeners } of listening)
      for (const listener of process.listeners(name)) if (!listeners.includes(listener)) process.off(name, listener);
  }
  return { code, ...written };
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
