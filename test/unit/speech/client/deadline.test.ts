import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { eitherSignal } from '../../../../src/speech/client/deadline.ts';

describe('either signal', () => {
  it('aborts with the first of its signals, and with its reason', () => {
    const [first, second] = [new AbortController(), new AbortController()];
    using either = eitherSignal(first.signal, undefined, second.signal);
    expect(either.signal.aborted).toBe(false);
    second.abort('second');
    first.abort('first');
    expect(either.signal.reason).toBe('second');
  });

  it('is aborted from the start when one of them is', () => {
    using either = eitherSignal(AbortSignal.abort('early'), new AbortController().signal);
    expect(either.signal.reason).toBe('early');
  });

  it('leaves no listener behind', () => {
    const { signal } = new AbortController();
    eitherSignal(signal)[Symbol.dispose]();
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });
});
