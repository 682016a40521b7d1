import type { Environment } from '../config/env.ts';
import type { Clock } from '../kernel/clock.ts';
import { within } from '../kernel/waiting.ts';

/** A terminal and npm both pass one Ctrl+C on: signals that come closer than this are one. */
const SAME_SIGNAL_MS = 500;

export interface StopStages {
  /** Takes no new calls, and waits until those there are have ended. */
  readonly drain: () => Promise<unknown>;
  /** How long that may take. */
  readonly drainMs: number;
  /** Says goodbye to the calls that are left, closes everything, and ends the process. */
  readonly close: () => void;
  readonly clock: Clock;
  /** Where signals come from; the process itself when absent. */
  readonly signals?: Pick<NodeJS.EventEmitter, 'on'>;
  readonly exit?: (code: number) => void;
}

/**
 * Ends a process that has calls in stages, as SIGTERM and SIGINT come: the first lets live calls go on for a time, the second
 * ends that time, and a third ends the process at once.
 * @returns begins the first stage without a signal
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

/** How often a process under npm looks whether its parent is there. */
const LOOK_MS = 500;

/**
 * npm runs a command in a shell and passes a signal on to that shell alone, which ends without a word to the command. A process
 * that npm has started begins to end when its parent is gone.
 * @param env in which npm says that it is there
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
