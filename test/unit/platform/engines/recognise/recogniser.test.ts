import { EventEmitter } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { describe, expect, it, vi } from 'vitest';
import { silentLogger } from '../../../../../src/observability/logger.ts';
import { encodeModel } from '../../../../../src/platform/engines/recognise/acoustic-model.ts';
import { fitGaussians } from '../../../../../src/platform/engines/recognise/gaussians.ts';
import { LearntFiles, PhraseLearner } from '../../../../../src/platform/engines/recognise/phrase-learner.ts';
import type { RecognitionStream } from '../../../../../src/platform/engines/recognise/port.ts';
import { Recogniser } from '../../../../../src/platform/engines/recognise/recogniser.ts';
import type { ToWorker } from '../../../../../src/platform/engines/recognise/worker-protocol.ts';
import { ManualClock } from '../../../../support/manual-clock.ts';

/** A thread that keeps what it is sent, and answers pings alone. */
class SilentThread extends EventEmitter {
  readonly sent: string[] = [];
  readonly phrases: string[] = [];
  terminated = false;
  pings = 0;
  isDeaf = false;

  postMessage(message: ToWorker | { readonly phrase: string }): void {
    if ('phrase' in message) this.phrases.push(message.phrase);
    else if (message.type === 'ping') {
      this.pings += 1;
      if (!this.isDeaf) this.emit('message', { type: 'pong' });
    } else this.sent.push(`${message.type} ${message.stream}`);
  }

  unref(): void {}

  async terminate(): Promise<number> {
    this.terminated = true;
    // A native call may hold up the end of a thread: its exit comes never.
    return 0;
  }
}

async function startRecogniser() {
  const clock = new ManualClock();
  const threads: SilentThread[] = [];
  const startThread = (): Worker => {
    const started = new SilentThread();
    threads.push(started);
    return started as unknown as Worker;
  };
  const learning = new SilentThread();
  const learner = new PhraseLearner({
    startThread: () => learning as unknown as Worker,
    clock: new ManualClock(),
    logger: silentLogger,
  });
  const recogniser = new Recogniser({ languages: ['en'], startThread, learner, clock, logger: silentLogger });
  const ready = recogniser.start();
  const thread = threads[0]!;
  thread.emit('message', { type: 'ready' });
  await ready;
  const open = (boostPhrases: readonly string[] = []): RecognitionStream =>
    recogniser.open({ language: 'en', rateHz: 8_000, boostPhrases }, () => undefined);
  return { clock, thread, threads, recogniser, open, learner: learning };
}

/** Long enough for what is already settled to be passed on. */
const settled = (): Promise<void> => new Promise(setImmediate);

const results = [{ text: 'yes' }];

describe('a stream of the recogniser', () => {
  it('gets its final late from a thread that has much to do and answers pings', async () => {
    const { clock, thread, open } = await startRecogniser();
    const stream = open();
    const commit = stream.commit();
    clock.advance(90_000);
    expect(thread.pings).toBe(18);
    thread.emit('message', { type: 'committed', stream: 1, tried: false, results });
    expect(await commit).toBe(results);
    stream.close();
    expect([thread.terminated, clock.pendingTimers]).toEqual([false, 0]);
  });

  it('ends with an error when its thread loses the commit', async () => {
    const { clock, thread, open } = await startRecogniser();
    const stream = open();
    const failure = expect(stream.commit()).rejects.toThrow('the recogniser does not answer');
    clock.advance(120_000);
    await failure;
    expect(thread.sent).toEqual(['open 1', 'commit 1', 'close 1']);
    stream.close();
    await expect(stream.commit()).rejects.toThrow('the recogniser does not answer');
  });

  it('ends with an error when its thread stops answering, which refuses new ones until another has started', async () => {
    const { clock, thread, threads, recogniser, open } = await startRecogniser();
    thread.isDeaf = true;
    const waiting = expect(open().commit()).rejects.toThrow('the recogniser ended');
    clock.advance(10_000);
    expect(recogniser.retryAfterS).toBeUndefined();
    clock.advance(5_000);
    expect(recogniser.retryAfterS).toBe(10);
    await expect(open().commit()).rejects.toThrow('the recogniser does not answer');
    clock.advance(10_000);
    await waiting;
    expect([thread.terminated, recogniser.retryAfterS]).toEqual([true, 10]);
    clock.advance(1_000);
    expect(threads).toHaveLength(2);
    threads[1]!.emit('message', { type: 'ready' });
    await settled();
    expect(recogniser.retryAfterS).toBeUndefined();
    // The first one ends at last, which is no reason to end the second.
    thread.emit('exit');
    const commit = open().commit();
    threads[1]!.emit('message', { type: 'committed', stream: 3, tried: false, results });
    expect(await commit).toBe(results);
    await recogniser[Symbol.asyncDispose]();
  });

  it('holds a turn that is not understood while boosted phrases are learnt, eight seconds after its commit at most', async () => {
    for (const soon of [true, false]) {
      const { clock, thread, learner, open } = await startRecogniser();
      const stream = open(['Kowalski']);
      await settled();
      // A caller who speaks long does not use up the wait.
      clock.advance(20_000);
      stream.push(new Int16Array(1));
      stream.commit().catch(() => undefined);
      stream.push(new Int16Array(1));
      expect(thread.sent).toEqual(['open 1', 'learning 1', 'push 1', 'try-commit 1']);
      thread.emit('message', { type: 'undecided', stream: 1 });
      clock.advance(soon ? 7_999 : 8_000);
      learner.emit('message', { id: 1, model: new Uint8Array(1) });
      await settled();
      const learnt = ['extend 1', 'learning 1'];
      const turn = ['commit 1', 'push 1'];
      expect(thread.sent.slice(4)).toEqual(soon ? [...learnt, ...turn] : ['learning 1', ...turn, ...learnt]);
      stream.close();
      expect(clock.pendingTimers).toBe(0);
    }
  });

  it('answers a turn that is understood anyway at once, and goes on with the next one', async () => {
    const { clock, thread, learner, open } = await startRecogniser();
    const stream = open(['Kowalski']);
    await settled();
    const first = stream.commit();
    stream.push(new Int16Array(1));
    const second = stream.commit();
    expect(thread.sent.slice(2)).toEqual(['try-commit 1']);
    thread.emit('message', { type: 'committed', stream: 1, tried: true, results });
    expect(await first).toBe(results);
    expect(thread.sent.slice(3)).toEqual(['push 1', 'try-commit 1']);
    // What is learnt while the thread decides does not commit twice.
    learner.emit('message', { id: 1, model: new Uint8Array(1) });
    await settled();
    expect(thread.sent.slice(5)).toEqual(['extend 1', 'learning 1']);
    thread.emit('message', { type: 'undecided', stream: 1 });
    expect(thread.sent.slice(7)).toEqual(['commit 1']);
    thread.emit('message', { type: 'committed', stream: 1, tried: false, results });
    expect(await second).toBe(results);
    stream.close();
    expect(clock.pendingTimers).toBe(0);
  });

  it('waits in vain for what is learnt once, not at every turn', async () => {
    const { clock, thread, open } = await startRecogniser();
    const stream = open(['Kowalski']);
    await settled();
    for (const turn of ['first', 'second']) {
      stream.commit().catch(() => undefined);
      if (turn === 'first') {
        thread.emit('message', { type: 'undecided', stream: 1 });
        clock.advance(8_000);
      }
      expect([turn, thread.sent.at(-1)]).toEqual([turn, 'commit 1']);
    }
    stream.close();
  });

  it('has it closed once', async () => {
    const { thread, open } = await startRecogniser();
    const stream = open();
    stream.close();
    stream.close();
    expect(thread.sent).toEqual(['open 1', 'close 1']);
  });
});

describe('the learner of phrases', () => {
  const starting = (files?: LearntFiles) => {
    const thread = new SilentThread();
    const clock = new ManualClock();
    const startThread = (): Worker => thread as unknown as Worker;
    return { thread, clock, learner: new PhraseLearner({ startThread, files, clock, logger: silentLogger }) };
  };

  it('learns what a turn waits for before a vocabulary', async () => {
    const { thread, learner } = starting();
    for (const phrase of ['one', 'two', 'three', 'four']) void learner.learn('en', phrase, 'vocabulary');
    void learner.learn('en', 'Kowalski');
    void learner.learn('en', 'four');
    await settled();
    for (const id of [1, 2, 3, 4]) thread.emit('message', { id, model: new Uint8Array(1) });
    expect(thread.phrases).toEqual(['one', 'two', 'four', 'Kowalski', 'three']);
  });

  it('learns nothing again after a restart, and learns what the file of it no longer holds', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'offhook-learnt-'));
    try {
      const model = encodeModel({ words: [], wordStates: [], states: fitGaussians([], 1, 1) });
      const files = (code: string): LearntFiles => new LearntFiles(folder, Promise.resolve(code), silentLogger);
      const first = starting(files('code'));
      const learnt = first.learner.learn('en', 'Kowalski');
      await vi.waitUntil(() => first.thread.phrases.length === 1);
      first.thread.emit('message', { id: 1, model });
      await learnt;
      const second = starting(files('code'));
      expect((await second.learner.learn('en', 'Kowalski!'))?.model).toEqual(Buffer.from(model));
      expect(second.thread.phrases).toEqual([]);
      const changed = starting(files('other code'));
      void changed.learner.learn('en', 'Kowalski');
      await vi.waitUntil(() => changed.thread.phrases.length === 1);
      for (const name of readdirSync(folder)) writeFileSync(join(folder, name), model.subarray(0, 9));
      const third = starting(files('code'));
      void third.learner.learn('en', 'Kowalski');
      await vi.waitUntil(() => third.thread.phrases.length === 1);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('ends its thread when there was nothing to learn for a minute', async () => {
    const { thread, clock, learner } = starting();
    void learner.learn('en', 'Kowalski');
    await settled();
    clock.advance(60_000);
    expect(thread.terminated).toBe(false);
    thread.emit('message', { id: 1, model: new Uint8Array(1) });
    clock.advance(60_000);
    expect(thread.terminated).toBe(true);
  });
});
