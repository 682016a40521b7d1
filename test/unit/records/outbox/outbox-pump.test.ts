import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DrainLease } from '../../../../src/records/outbox/drain-lease.ts';
import { JobSubjectError } from '../../../../src/records/job-errors.ts';
import { Outbox } from '../../../../src/records/outbox/outbox.ts';
import { type Deliver, OutboxPump } from '../../../../src/records/outbox/outbox-pump.ts';
import { silentLogger } from '../../../../src/observability/logger.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { temporaryFolder } from '../../../support/databases.ts';
import { eventually } from '../../../support/eventually.ts';

async function setUp(deliver: (body: unknown) => void) {
  const folder = await temporaryFolder();
  const clock = new ManualClock();
  const outbox = await Outbox.open(folder.path, () => clock.wallMs());
  const tries: unknown[] = [];
  const trying: Deliver = async ({ body }) => {
    tries.push(body);
    deliver(body);
  };
  const start = (): OutboxPump => new OutboxPump({ outbox, deliver: trying, clock, logger: silentLogger });
  return { folder, clock, outbox, tries, start };
}

const pause = (clock: ManualClock): Promise<boolean> => eventually('the pump to pause', () => clock.pendingTimers === 1);

describe('OutboxPump', () => {
  it('delivers what an earlier run left and what is appended, oldest first, once', async () => {
    const { folder, outbox, tries, start } = await setUp(() => {});
    await using _folder = folder;
    await outbox.append('n', 1);
    await outbox.append('n', 2);
    await using pump = start();
    await pump.drained();
    await outbox.append('n', 3);
    await pump.drained();
    expect(tries).toEqual([1, 2, 3]);
    expect(outbox.size).toBe(0);
  });

  it('finds entries that another process appended without waking it', async () => {
    const { folder, clock, tries, start } = await setUp(() => {});
    await using _folder = folder;
    await using pump = start();
    await pump.drained();
    const other = await Outbox.open(folder.path, () => clock.wallMs());
    await other.append('n', 1);
    await pause(clock);
    expect(tries).toEqual([]);
    clock.advance(10_000);
    await eventually('its delivery', () => tries.length === 1);
  });

  it('leaves the outbox to the process that drains it, and takes over when that one ends', async () => {
    const { folder, clock, outbox, tries } = await setUp(() => {});
    await using _folder = folder;
    const lease = (): DrainLease => new DrainLease(join(folder.path, 'lease'), clock, () => {});
    const [first, second] = [lease(), lease()];
    const by = (name: string, mayDrain: () => Promise<boolean>): OutboxPump =>
      new OutboxPump({
        outbox,
        deliver: async ({ body }) => void tries.push([name, body]),
        mayDrain,
        clock,
        logger: silentLogger,
      });
    expect(await first.held()).toBe(true);
    const one = by('first', () => first.held());
    await using _two = by('second', () => second.held());
    for (const number of [1, 2]) await outbox.append('n', number);
    await one.drained();
    expect(tries).toEqual([1, 2].map((number) => ['first', number]));
    await one.stop();
    await outbox.append('n', 3);
    await first.release();
    await eventually('the other to drain', () => {
      clock.advance(1_000);
      return tries.length === 3;
    });
    expect(tries[2]).toEqual(['second', 3]);
    await second.release();
  });

  it('tries again with growing pauses while store or queue are away, and loses nothing', async () => {
    let away = true;
    const { folder, clock, outbox, tries, start } = await setUp(() => {
      if (away) throw new Error('away');
    });
    await using _folder = folder;
    await outbox.append('n', 1);
    await using pump = start();
    const pauses: number[] = [];
    for (let round = 1; round <= 9; round += 1) {
      await pause(clock);
      expect(tries).toHaveLength(round);
      let waitedMs = 0;
      while (clock.pendingTimers === 1) {
        clock.advance(50);
        waitedMs += 50;
      }
      pauses.push(waitedMs);
    }
    expect(pauses[0]).toBeLessThanOrEqual(250);
    expect(pauses.slice(-2).every((waitedMs) => waitedMs > 20_000 && waitedMs <= 30_000)).toBe(true);
    await pause(clock);
    away = false;
    const drained = pump.drained();
    clock.advance(30_000);
    await drained;
    expect(outbox.size).toBe(0);
  });

  it('delivers many at once where it can, and one by one what then fails, each with its own outcome', async () => {
    const { folder, clock, outbox, tries } = await setUp(() => {});
    await using _folder = folder;
    for (let n = 0; n < 120; n += 1) await outbox.append('n', n);
    const together: number[] = [];
    const one = async ({ body }: { body: unknown }): Promise<void> => {
      tries.push(body);
      if (body === 70) throw new JobSubjectError('never this one', false, {});
    };
    const many = async (entries: readonly { body: unknown }[]): Promise<void> => {
      together.push(entries.length);
      if (entries.some(({ body }) => body === 70)) throw new Error('one of these');
    };
    await using pump = new OutboxPump({ outbox, deliver: Object.assign(one, { many }), clock, logger: silentLogger });
    await pump.drained();
    expect(together).toEqual([50, 50, 20]);
    expect(tries).toEqual(Array.from({ length: 50 }, (_, n) => n + 50));
    expect(outbox.size).toBe(0);
    expect((await outbox.allNames()).filter((name) => name.startsWith('rejected'))).toHaveLength(1);
  });

  it('lets one entry fail without holding up the others', async () => {
    const { folder, clock, outbox, tries, start } = await setUp((body) => {
      if (body === 1) throw new Error('not this one yet');
    });
    await using _folder = folder;
    for (const body of [1, 2, 3]) await outbox.append('n', body);
    await using _pump = start();
    await pause(clock);
    expect(tries).toEqual([1, 2, 3]);
    expect(outbox.size).toBe(1);
  });

  it('gives a round up when one entry after the other fails', async () => {
    const { folder, clock, outbox, tries, start } = await setUp(() => {
      throw new Error('away');
    });
    await using _folder = folder;
    for (let body = 0; body < 6; body += 1) await outbox.append('n', body);
    await using _pump = start();
    await pause(clock);
    expect(tries).toEqual([0, 1, 2]);
  });

  it('sets aside what can never be delivered', async () => {
    const { folder, outbox, tries, start } = await setUp((body) => {
      if (body === 'bad') throw new JobSubjectError('never', false, {});
    });
    await using _folder = folder;
    for (const body of ['bad', 'good']) await outbox.append('n', body);
    await using pump = start();
    await pump.drained();
    expect(tries).toEqual(['bad', 'good']);
    expect(outbox.size).toBe(0);
  });

  it('stops without taking the rest, which the next run delivers', async () => {
    const { folder, outbox, tries, start } = await setUp((body) => {
      if (body === 1) void pump.stop();
    });
    await using _folder = folder;
    for (const body of [1, 2]) await outbox.append('n', body);
    const pump = start();
    await pump.stop();
    expect(tries.length).toBeLessThanOrEqual(1);
    await using next = start();
    await next.drained();
    expect(tries).toEqual([1, 2]);
  });

  it('stops within seconds where a delivery never ends, and leaves the entry to the next run', async () => {
    const { folder, clock, outbox, tries, start } = await setUp(() => {});
    await using _folder = folder;
    await outbox.append('n', 1);
    let asked = false;
    const deliver: Deliver = () => {
      asked = true;
      return new Promise(() => undefined);
    };
    const hanging = new OutboxPump({ outbox, deliver, clock, logger: silentLogger });
    await eventually('the delivery', () => asked);
    const stopped = hanging.stop();
    clock.advance(5_000);
    await stopped;
    await using next = start();
    await next.drained();
    expect(tries).toEqual([1]);
  });
});
