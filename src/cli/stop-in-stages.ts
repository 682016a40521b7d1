import type { Environment } from '../config/env.ts';
import type { Clock } from '../kernel/clock.ts';
import { within } from '../kernel/waiting.ts';

/** The terminal and npm both deliver one Ctrl+C: signals closer than this count as one. */
const SAME_SIGNAL_MS = 500;

export interface StopStages {
  /** Refuses new calls, and waits for the end of live ones. */
  readonly drain: () => Promise<unknown>;
  /** Time limit of the drain. */
  readonly drainMs: number;
  /** Ends the remaining calls with a goodbye, closes everything, and exits. */
  readonly close: () => void;
  readonly clock: Clock;
  /** Source of signals; the process when absent. */
  readonly signals?: Pick<NodeJS.EventEmitter, 'on'>;
  readonly exit?: (code: number) => void;
}

/**
 * Stops a process with calls in stages, one for each SIGTERM or SIGINT: the first drains live calls for a time, the second ends that
 * time, the third exits at once.
 * @returns a function that begins the first stage
 */
export function stopInStages({ drain, drainMs, close, clock, signals = process, exit = endNow }: StopStages): () => void {
  let stage = 0;
  let lastMs = Number.NEGATIVE_INFINITY;
  let closing = false;
  const closeOnce = (): void => {
    if (!closing) close();
    closing = true;
  };
  const next = (): void => {
    const nowMs = clock.nowMs();
    if (nowMs - lastMs < SAME_SIGNAL_MS) return;
    lastMs = nowMs;
    stage += 1;
    if (stage === 1) void within(clock, drainMs, drain(), undefined).then(closeOnce, closeOnce);
    else if (stage === 2) closeOnce();
    else exit(1);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) signals.on(signal, next);
  return next;
}

function endNow(code: number): void {
  process.exit(code);
}

/** Interval at which a process under npm checks its parent. */
const LOOK_MS = 500;

/**
 * Stops a process under npm when its parent is gone: npm runs a command in a shell and signals only that shell, which exits without
 * signalling the command.
 * @param env has npm's variables
 */
export function endWithNpm(leave: () => void, env: Environment, clock: Clock, parentOf = () => process.ppid): void {
  if (env['npm_lifecycle_event'] === undefined) return;
  const parent = parentOf();
  const look = (): void => {
    if (parentOf() === parent) clock.after(LOOK_MS, look);
    else leave();
  };
  look();
}
