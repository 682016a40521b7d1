import { describe, expect, it } from 'vitest';
import { RenderQueue } from '../../../../../src/platform/engines/models/model-voices.ts';

/** Work that ends when it is told to. */
class Studio {
  readonly started: string[] = [];
  readonly #ends = new Map<string, () => void>();
  readonly #queue: RenderQueue;

  constructor(most: number) {
    this.#queue = new RenderQueue(most);
  }

  ask(name: string, priority: 'live' | 'batch', signal = new AbortController().signal): Promise<string> {
    const work = (): Promise<string> => {
      this.started.push(name);
      return new Promise((resolve) => this.#ends.set(name, () => resolve(name)));
    };
    return this.#queue.run(work, priority, signal);
  }

  async end(name: string): Promise<void> {
    this.#ends.get(name)?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe('the queue of pieces to speak', () => {
  it('lets live calls go before batches that came first', async () => {
    const studio = new Studio(1);
    const all = [studio.ask('b1', 'batch'), studio.ask('b2', 'batch'), studio.ask('l1', 'live'), studio.ask('l2', 'live')];
    for (const name of ['b1', 'l1', 'l2', 'b2']) await studio.end(name);
    expect(studio.started).toEqual(['b1', 'l1', 'l2', 'b2']);
    expect(await Promise.all(all)).toEqual(['b1', 'b2', 'l1', 'l2']);
  });

  it('keeps one of several places for live calls', async () => {
    const studio = new Studio(3);
    for (const name of ['b1', 'b2', 'b3']) void studio.ask(name, 'batch');
    expect(studio.started).toEqual(['b1', 'b2']);
    void studio.ask('l1', 'live');
    void studio.ask('l2', 'live');
    expect(studio.started).toEqual(['b1', 'b2', 'l1']);
    await studio.end('b1');
    expect(studio.started).toEqual(['b1', 'b2', 'l1', 'l2']);
    await studio.end('b2');
    // Two live ones speak, and one place is theirs: the batch waits for one of them.
    expect(studio.started).toHaveLength(4);
    await studio.end('l1');
    expect(studio.started.at(-1)).toBe('b3');
  });

  it('never starts what was aborted while it waited', async () => {
    const studio = new Studio(1);
    const gone = new AbortController();
    void studio.ask('l1', 'live');
    const dropped = studio.ask('l2', 'live', gone.signal);
    void studio.ask('l3', 'live');
    gone.abort(new Error('the caller barged in'));
    await expect(dropped).rejects.toThrow('the caller barged in');
    await expect(studio.ask('l4', 'live', gone.signal)).rejects.toThrow('the caller barged in');
    await studio.end('l1');
    expect(studio.started).toEqual(['l1', 'l3']);
  });

  it('goes on after a piece failed', async () => {
    const queue = new RenderQueue(1);
    const { signal } = new AbortController();
    await expect(queue.run(() => Promise.reject(new Error('no sound')), 'live', signal)).rejects.toThrow('no sound');
    expect(await queue.run(() => Promise.resolve('sound'), 'batch', signal)).toBe('sound');
  });
});
