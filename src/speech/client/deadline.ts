import { type Clock, stayAwake } from '../../kernel/clock.ts';
import { SpeechUnavailableError } from './errors.ts';

/** A signal with a time limit; dispose of it when the work is done. */
export interface Deadline extends Disposable {
  readonly signal: AbortSignal;
}

/**
 * A signal that aborts at the limit with a SpeechUnavailableError, or with one of the given signals and its reason.
 */
export function openDeadline(clock: Clock, limitMs: number, outer: readonly (AbortSignal | undefined)[]): Deadline {
  const expiry = new AbortController();
  const expired = new SpeechUnavailableError(`no answer within ${limitMs} ms`);
  const timer = clock.after(limitMs, () => expiry.abort(expired));
  const either = eitherSignal(...outer, expiry.signal);
  return {
    signal: either.signal,
    [Symbol.dispose]() {
      timer.cancel();
      either[Symbol.dispose]();
    },
  };
}

/**
 * Runs a task with a signal that aborts at the deadline or with one of the given signals. The task must obey the signal.
 * @throws SpeechUnavailableError, as the signal's reason, at the deadline
 */
export async function withDeadline<Value>(
  clock: Clock,
  limitMs: number,
  outer: readonly (AbortSignal | undefined)[],
  task: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  using deadline = openDeadline(clock, limitMs, outer);
  return await stayAwake(task(deadline.signal));
}

/** A signal that follows others until it is disposed of. */
export interface EitherSignal extends Disposable {
  readonly signal: AbortSignal;
}

/**
 * A signal that aborts with the first of these, with its reason. Unlike `AbortSignal.any` it removes its listeners when disposed
 * of: in Node 20 each one would stay in memory as long as the client's own signal.
 */
export function eitherSignal(...signals: readonly (AbortSignal | undefined)[]): EitherSignal {
  const controller = new AbortController();
  const followed = signals.filter((signal) => signal !== undefined);
  const follow = (): void => controller.abort(followed.find(({ aborted }) => aborted)?.reason);
  for (const signal of followed) signal.addEventListener('abort', follow, { once: true });
  if (followed.some(({ aborted }) => aborted)) follow();
  return {
    signal: controller.signal,
    [Symbol.dispose]() {
      for (const signal of followed) signal.removeEventListener('abort', follow);
    },
  };
}
