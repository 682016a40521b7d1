import { performance, type EventLoopUtilization } from 'node:perf_hooks';
import { z } from 'zod';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { measureLoopLag } from '../../observability/loop-lag.ts';
import type { Clock } from '../../kernel/clock.ts';
import { OffhookError } from '../../kernel/errors.ts';

/** A process of the benchmark ended, or a request to it failed. */
export class BenchProcessError extends OffhookError {
  readonly code = 'OFFHOOK_BENCH_PROCESS';
  readonly retryable = true;
}

const order = z.object({ order: z.string(), argument: z.unknown() });
const answer = z.union([z.object({ answer: z.unknown() }), z.object({ failed: z.string() })]);
const CLOSE_WITHIN_MS = 10_000;

/** Answers the parent process's requests, one at a time, and closes when the parent is gone. */
export function answerRequests(
  handlers: Readonly<Record<string, (argument: unknown) => unknown>>,
  close: () => Promise<void>,
): void {
  process.on('message', (message) => {
    const { order: name, argument } = order.parse(message);
    Promise.resolve(handlers[name]?.(argument)).then(
      (value) => process.send?.({ answer: value ?? null }),
      (error: unknown) => process.send?.({ failed: error instanceof Error ? error.message : String(error) }),
    );
  });
  process.once('disconnect', () => void close().finally(() => process.exit(0)));
}

/** A forked process that answers requests. Disposal ends it. */
export class BenchChild implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #name: string;
  readonly #clock: Clock;

  /** @param name for messages */
  constructor(child: ChildProcess, name: string, clock: Clock) {
    this.#child = child;
    this.#name = name;
    this.#clock = clock;
  }

  /** Sends a request and awaits its answer. @throws BenchProcessError */
  async tell<Schema extends z.ZodType>(name: string, schema: Schema, argument: unknown = null): Promise<z.infer<Schema>> {
    const child = this.#child;
    if (!child.connected) throw new BenchProcessError(`${this.#name} is gone`);
    const listening = new AbortController();
    try {
      const { signal } = listening;
      const gone = once(child, 'exit', { signal }).then(() => {
        throw new BenchProcessError(`${this.#name} ended in the middle of "${name}"`);
      });
      const outcome = Promise.race([once(child, 'message', { signal }), gone]);
      child.send({ order: name, argument });
      const [message] = (await outcome) as unknown[];
      const read = answer.parse(message);
      if ('failed' in read) throw new BenchProcessError(`${this.#name}: ${read.failed}`);
      return schema.parse(read.answer);
    } finally {
      listening.abort();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const child = this.#child;
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    if (child.connected) child.disconnect();
    const killer = this.#clock.after(CLOSE_WITHIN_MS, () => child.kill('SIGKILL'));
    await gone;
    killer.cancel();
  }
}

/** Addresses of the speech stand-in. */
export const speechAddresses = z.object({
  authUrl: z.string(),
  asrUrl: z.string(),
  ttsUrl: z.string(),
  apiKey: z.string(),
});

export const gatewayRequest = z.object({ dataDir: z.string(), bot: z.string(), speech: speechAddresses });
export const target = z.object({ url: z.string(), authToken: z.string(), bot: z.string() });

const usage = z.object({ cpu: z.number(), loopBusy: z.number(), loopP99Ms: z.number(), rssMb: z.number() });

/** @property starved playout underruns of the gateway, in calls that have ended */
export const gatewayReport = usage.extend({ live: z.number(), starved: z.number() });

export const placeRequest = z.object({ target, calls: z.number() });
export const callersReport = usage.extend({
  live: z.number(),
  lost: z.number(),
  lateP99Ms: z.number(),
  turnP50Ms: z.number().nullable(),
  turnP99Ms: z.number().nullable(),
});

export const done = z.null();

/** Resources that a process used over a time. */
export interface Usage {
  /** CPU of all threads; 1 is one core. */
  readonly cpu: number;
  /** Share of time in which the event loop was busy. */
  readonly loopBusy: number;
  /** 99th percentile of how late the event loop ran. */
  readonly loopP99Ms: number;
  readonly rssMb: number;
}

/** Starts a measurement. @returns ends it and returns the usage */
export function meterUsage(): () => Usage {
  const cpuBefore = process.cpuUsage();
  const loopBefore: EventLoopUtilization = performance.eventLoopUtilization();
  const lag = measureLoopLag();
  return () => {
    const { user, system } = process.cpuUsage(cpuBefore);
    const loop = performance.eventLoopUtilization(loopBefore);
    const loopP99Ms = lag.takeP99Ms();
    lag[Symbol.dispose]();
    // The loop's idle and active time make the elapsed time.
    const cpu = (user + system) / 1_000 / (loop.idle + loop.active);
    return { cpu, loopBusy: loop.utilization, loopP99Ms, rssMb: process.memoryUsage.rss() / 1_048_576 };
  };
}

/** The value that this share of the values does not exceed; undefined when there are none. */
export function percentile(values: readonly number[], share: number): number | undefined {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
}
