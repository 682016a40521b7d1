import { EventEmitter } from 'node:events';
import type { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../../../../src/observability/logger.ts';
import { PhraseLearner } from '../../../../../src/platform/engines/recognise/phrase-learner.ts';
import { Recogniser } from '../../../../../src/platform/engines/recognise/recogniser.ts';
import type { ToWorker } from '../../../../../src/platform/engines/recognise/worker-protocol.ts';
import { ManualClock } from '../../../../../src/sim/manual-clock.ts';

/** A thread that keeps what it is sent, and answers nothing. */
class SilentThread extends EventEmitter {
  readonly sent: string[] = [];

  postMessage({ type, stream }: ToWorker): void {
    this.sent.push(`${type} ${stream}`);
  }

  unref(): void {}

  async terminate(): Promise<number> {
    return 0;
  }
}

async function startRecogniser() {
  const clock = new ManualClock();
  const thread = new SilentThread();
  const startThread = (): Worker => thread as unknown as Worker;
  const learning = new SilentThread();
  const learner = new PhraseLearner(() => learning as unknown as Worker, silentLogger);
  const recogniser = new Recogniser({ languages: ['en'], startThread, learner, clock, logger: silentLogger });
  const ready = recogniser.start();
  thread.emit('message', { type: 'ready' });
  await ready;
  const stream = recogniser.open({ language: 'en', rateHz: 8_000, boostPhrases: [] }, () => undefined);
  return { clock, thread, stream, recogniser, learner: learning };
}

describe('a stream of the recogniser', () => {
  it('has its session closed in a thread that answers no commit within fifteen seconds', async () => {
    const { clock, thread, stream } = await startRecogniser();
    const failure = expect(stream.commit()).rejects.toThrow('the recogniser does not answer');
    clock.advance(15_000);
    await failure;
    expect(thread.sent).toEqual(['open 1', 'commit 1', 'close 1']);
    stream.close();
    expect(thread.sent).toHaveLength(3);
    await expect(stream.commit()).rejects.toThrow('the recogniser does not answer');
    expect(clock.pendingTimers).toBe(0);
  });

  it('holds a commit while boosted phrases are learnt, three seconds at most, and takes them in when they come', async () => {
    for (const soon of [true, false]) {
      const { clock, thread, learner, recogniser } = await startRecogniser();
      const stream = recogniser.open({ language: 'en', rateHz: 8_000, boostPhrases: ['Kowalski'] }, () => undefined);
      stream.push(new Int16Array(1));
      stream.commit().catch(() => undefined);
      stream.push(new Int16Array(1));
      expect(thread.sent.slice(1)).toEqual(['open 2', 'push 2']);
      if (!soon) clock.advance(3_000);
      learner.emit('message', { id: 1, model: new Uint8Array(1) });
      await new Promise(setImmediate);
      expect(thread.sent.slice(3)).toEqual(soon ? ['extend 2', 'commit 2', 'push 2'] : ['commit 2', 'push 2', 'extend 2']);
      stream.close();
      expect(clock.pendingTimers).toBe(0);
    }
  });

  it('has it closed once', async () => {
    const { thread, stream } = await startRecogniser();
    stream.close();
    stream.close();
    expect(thread.sent).toEqual(['open 1', 'close 1']);
  });
});
