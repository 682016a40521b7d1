import { describe, expect, it } from 'vitest';
import { QueueUnavailableError } from '../../../../src/records/job-errors.ts';
import type { JobCounts } from '../../../../src/records/queue/port.ts';
import { Watchdog } from '../../../../src/records/queue/worker.ts';
import { silentLogger } from '../../../../src/observability/logger.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const idle: JobCounts = { waiting: 0, active: 0, delayed: 0, failed: 0, completed: 0 };

/** A watchdog over one queue, whose counts a test sets before each of its looks. */
async function watch(looks: readonly (JobCounts | Error)[]): Promise<{ restarts: number[]; sweeps: number }> {
  const clock = new ManualClock();
  const restarts: number[] = [];
  let look = -1;
  let sweeps = 0;
  const watchdog = new Watchdog({
    queue: {
      counts: async () => {
        const counts = looks[Math.min(look, looks.length - 1)]!;
        if (counts instanceof Error) throw counts;
        return counts;
      },
    },
    names: ['post-call'],
    restart: async () => void restarts.push(look),
    sweep: async () => {
      look += 1;
      sweeps += 1;
    },
    clock,
    logger: silentLogger,
    everyMs: 30_000,
    stillMs: 60_000,
  });
  for (let step = 0; step < looks.length; step += 1) {
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
    clock.advance(30_000);
  }
  const stopped = watchdog.stop();
  clock.advance(30_000);
  await stopped;
  return { restarts, sweeps };
}

describe('the watchdog', () => {
  it('starts work anew where jobs wait and none is done for long enough, and waits as long before it does so again', async () => {
    const still = { ...idle, waiting: 3, completed: 5 };
    expect((await watch(Array.from({ length: 6 }, () => still))).restarts).toEqual([2, 4]);
  });

  it.each([
    { note: 'nothing waits', looks: [idle, idle, idle, idle] },
    { note: 'jobs are being done', looks: Array.from({ length: 5 }, () => ({ ...idle, waiting: 9, active: 1 })) },
    { note: 'jobs get done', looks: [1, 2, 3, 4, 5].map((completed) => ({ ...idle, waiting: 9, completed })) },
    { note: 'jobs fail, one after the other', looks: [1, 2, 3, 4, 5].map((failed) => ({ ...idle, waiting: 9, failed })) },
    { note: 'jobs wait for their time alone', looks: Array.from({ length: 5 }, () => ({ ...idle, delayed: 9 })) },
  ])('leaves a queue alone where $note', async ({ looks }) => {
    expect((await watch(looks)).restarts).toEqual([]);
  });

  it('sweeps each time, and goes on when the queue cannot be looked at', async () => {
    const away = new QueueUnavailableError('away');
    const still = { ...idle, waiting: 1 };
    const { restarts, sweeps } = await watch([still, away, away, still]);
    expect(sweeps).toBe(4);
    expect(restarts).toEqual([3]);
  });

  it('ends in the middle of a look at a queue that does not answer', async () => {
    const asked: string[] = [];
    const watchdog = new Watchdog({
      queue: {
        counts: (name) => {
          asked.push(name);
          return new Promise(() => undefined);
        },
      },
      names: ['post-call', 'webhooks'],
      restart: async () => undefined,
      sweep: async () => undefined,
      clock: new ManualClock(),
      logger: silentLogger,
    });
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
    await watchdog.stop();
    expect(asked).toEqual(['post-call']);
  });
});
