import { type ChildProcess, fork, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { lowMemoryEnvironment } from '../../src/kernel/process-tuning.ts';
import type { ChildFacts, ChildOrder, ChildReady, ChildReport } from './child.ts';
import type { WorkloadName } from './workload.ts';

export type SubjectName = 'echo' | 'gateway' | 'peer' | 'pipecatSilero' | 'pipecatNoVad';

/** A subject that is no Node process: it reads orders and writes answers as lines of JSON. */
export interface Program {
  readonly command: string;
  readonly arguments: readonly string[];
}

export interface SubjectOptions {
  /** Where the compiled children are. */
  readonly folder: string;
  readonly name: SubjectName;
  readonly workload: WorkloadName;
  /** Beside this process's own environment. */
  readonly env: Readonly<Record<string, string>>;
  /** What is started in place of the compiled child of that name. Its environment is this process's own. */
  readonly program?: Program | undefined;
}

const GONE_WITHIN_MS = 15_000;

/** What is measured, in a process of its own. Whoever starts it stops it. */
export class SubjectProcess {
  readonly #child: ChildProcess;

  constructor({ folder, name, workload, env, program }: SubjectOptions) {
    if (program !== undefined) {
      this.#child = spawn(program.command, program.arguments, { stdio: ['pipe', 'pipe', 'inherit'] });
      // A process that has ended reads nothing more; its exit is what counts.
      this.#child.stdin?.on('error', () => undefined);
      const { stdout } = this.#child;
      if (stdout !== null)
        createInterface({ input: stdout }).on('line', (line) => this.#child.emit('message', JSON.parse(line), undefined));
      return;
    }
    this.#child = fork(join(folder, `${name}-child.js`), [], {
      execArgv: ['--no-warnings', ...extraArguments()],
      env: { ...lowMemoryEnvironment(process.env), ...env, BENCH_WORKLOAD: workload },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
  }

  /** @throws Error when the process could not be started */
  get pid(): number {
    const { pid } = this.#child;
    if (pid === undefined) throw new Error('the subject did not start');
    return pid;
  }

  async start(argument: unknown): Promise<ChildReady> {
    this.#tell({ order: 'start', argument });
    return await this.#answer<ChildReady>('ready');
  }

  measure(): void {
    this.#tell({ order: 'measure' });
  }

  /** Blocks its event loop, over and over, until it reports. */
  stall(everyMs: number, durationMs: number): void {
    this.#tell({ order: 'stall', argument: { everyMs, durationMs } });
  }

  async report(): Promise<ChildReport> {
    this.#tell({ order: 'report' });
    return await this.#answer<ChildReport>('report');
  }

  async facts(): Promise<ChildFacts['facts']> {
    this.#tell({ order: 'facts' });
    return (await this.#answer<ChildFacts>('facts')).facts;
  }

  async stop(): Promise<void> {
    const gone = new Promise((resolve) => {
      this.#child.once('exit', resolve);
    });
    if (this.#child.connected) this.#child.disconnect();
    else this.#child.stdin?.end();
    const late = setTimeout(() => this.#child.kill('SIGKILL'), GONE_WITHIN_MS);
    await gone;
    clearTimeout(late);
  }

  #tell(order: ChildOrder): void {
    if (this.#child.connected) this.#child.send(order);
    else this.#child.stdin?.write(`${JSON.stringify(order)}\n`);
  }

  #answer<Message extends { readonly type: string }>(type: Message['type']): Promise<Message> {
    return new Promise((resolve, reject) => {
      const onExit = (code: number | null): void => reject(new Error(`the subject ended with ${code}`));
      const { exitCode, signalCode } = this.#child;
      if (exitCode !== null || signalCode !== null) return onExit(exitCode);
      const listen = (message: Message): void => {
        if (message.type !== type) return;
        this.#child.off('message', listen);
        this.#child.off('exit', onExit);
        resolve(message);
      };
      this.#child.on('message', listen);
      this.#child.once('exit', onExit);
    });
  }
}

/** For profiling: `BENCH_NODE_ARGS="--cpu-prof --cpu-prof-dir=/tmp/prof"`. */
function extraArguments(): string[] {
  return (process.env['BENCH_NODE_ARGS'] ?? '').split(' ').filter((argument) => argument !== '');
}
