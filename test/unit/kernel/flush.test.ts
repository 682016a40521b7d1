import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SharedFlush } from '../../../src/kernel/flush.ts';

/** Flushes that end when the test says so. */
function flushes() {
  const begun: { end(): void; fail(error: Error): void }[] = [];
  const flush = new SharedFlush(() => new Promise((resolve, reject) => begun.push({ end: resolve, fail: reject })));
  return { begun, flush };
}
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('SharedFlush', () => {
  it('starts at once, and once more for all requests meanwhile', async () => {
    const { begun, flush } = flushes();
    const asked = [flush.ask(), flush.ask(), flush.ask()];
    expect(begun).toHaveLength(1);
    begun[0]!.end();
    await asked[0];
    await settled();
    expect(begun).toHaveLength(2);
    begun[1]!.end();
    await Promise.all(asked);
    await settled();
    expect(begun).toHaveLength(2);
  });

  it('fails only for those who share the failed flush', async () => {
    const { begun, flush } = flushes();
    const first = flush.ask();
    const [second, third] = [flush.ask(), flush.ask()];
    begun[0]!.fail(new Error('no space'));
    await expect(first).rejects.toThrow('no space');
    await settled();
    begun[1]!.end();
    await expect(Promise.all([second, third])).resolves.toBeDefined();
  });

  it('never returns a flush that began before the request', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom('ask', 'end'), { maxLength: 30 }), async (acts) => {
        const { begun, flush } = flushes();
        let ended = 0;
        const waiting: Promise<void>[] = [];
        for (const act of acts) {
          if (act === 'end' && ended < begun.length) begun[ended++]!.end();
          if (act === 'ask') {
            const before = begun.length;
            // Its own flush is at least the next to begin, or the one that began with the question.
            waiting.push(flush.ask().then(() => expect(ended).toBeGreaterThan(before)));
          }
          await settled();
        }
        for (; ended < begun.length; await settled()) begun[ended++]!.end();
        await Promise.all(waiting);
      }),
    );
  });
});
