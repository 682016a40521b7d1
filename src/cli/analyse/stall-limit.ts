import type { Clock, Timer } from '../../kernel/clock.ts';
import { eitherSignal } from '../../speech/either-signal.ts';

/** A limit of the time in which nothing comes. Disposal stops what still runs under its signal. */
export interface StallLimit extends Disposable {
  /** Aborts when nothing came for so long, with the given signal, and at disposal. */
  readonly signal: AbortSignal;
  /** Whether it was the limit that aborted. */
  readonly isOver: boolean;
  /** Something came: the time begins anew. */
  came(): void;
}

/** For transfers whose whole length nobody knows: a slow one is let go on, one that stands still is not. */
export function stallLimit(clock: Clock, limitMs: number, outer: AbortSignal): StallLimit {
  const stop = new AbortController();
  const either = eitherSignal(outer, stop.signal);
  let isOver = false;
  const begin = (): Timer =>
    clock.after(limitMs, () => {
      isOver = true;
      stop.abort(new Error(`nothing came for ${limitMs} ms`));
    });
  let timer = begin();
  return {
    signal: either.signal,
    get isOver() {
      return isOver;
    },
    came() {
      timer.cancel();
      timer = begin();
    },
    [Symbol.dispose]() {
      timer.cancel();
      stop.abort(new Error('the transfer is over'));
      either[Symbol.dispose]();
    },
  };
}
