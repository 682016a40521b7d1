/** A signal of its own that follows others until it is let go. */
export interface EitherSignal extends Disposable {
  readonly signal: AbortSignal;
}

/**
 * A signal that aborts with the first of these, with its reason. Unlike `AbortSignal.any` it leaves nothing on the others
 * once it is disposed of: Node 20 keeps memory for each one on a signal as long-lived as a client's.
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
