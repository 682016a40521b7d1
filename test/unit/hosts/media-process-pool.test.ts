import type { ChildProcess } from 'node:child_process';
import { expect, it } from 'vitest';
import { MediaProcessPool } from '../../../src/hosts/media-process-pool.ts';
import type { Report } from '../../../src/hosts/protocol.ts';
import { silentLogger } from '../../../src/observability/logger.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { ScriptedChild, ScriptedMedia, settle } from './scripted-process.ts';

/** Children that come up when they are told what to do, unless they are duds. */
function crewOf(size: number, isDud: (started: number) => boolean = () => false) {
  const clock = new ManualClock();
  const children: ScriptedChild[] = [];
  const gone: number[] = [];
  const crew = new MediaProcessPool({
    size,
    clock,
    logger: silentLogger,
    startTimeoutMs: 1_000,
    backoff: { firstMs: 100, factor: 2, maxMs: 1_000, jitter: 0 },
    assignment: () => ({ spareSlots: {}, gatewayUrl: 'http://127.0.0.1:1' }),
    launch() {
      const child = new ScriptedChild();
      children.push(child);
      if (!isDud(children.length)) void child.channel.assigned.then(() => child.channel.report({ type: 'up' }));
      return child as unknown as ChildProcess;
    },
    onReport: () => undefined,
    onGone: ({ number }) => void gone.push(number),
  });
  return { crew, clock, children, gone };
}

it('starts every process with its number, and one that ends again under the same, after a pause that grows', async () => {
  const { crew, clock, children, gone } = crewOf(2);
  await crew.start();
  expect(await Promise.all(children.map(async ({ channel }) => (await channel.assigned).number))).toEqual([1, 2]);
  for (const pauseMs of [100, 200]) {
    children.at(-1)!.kill();
    await settle();
    expect(crew.members.map(({ number }) => number)).not.toHaveLength(2);
    clock.advance(pauseMs - 1);
    await settle();
    const before = children.length;
    clock.advance(1);
    await settle();
    expect(children).toHaveLength(before + 1);
    expect((await children.at(-1)!.channel.assigned).number).toBe(2);
  }
  await settle();
  expect([crew.members.length, crew.restarts, gone]).toEqual([2, 2, [2, 2]]);
});

it('ends with all of its processes when one does not come up in time', async () => {
  const { crew, clock, children } = crewOf(2, (started) => started === 2);
  const starting = expect(crew.start()).rejects.toMatchObject({ code: 'OFFHOOK_MEDIA_PROCESS' });
  await settle();
  clock.advance(1_000);
  await starting;
  expect(children.map(({ connected }) => connected)).toEqual([false, false]);
});

it('gives no calls to a process that says nothing for a while, kills one that never does again, and starts it anew', async () => {
  const { crew, clock, children, gone } = crewOf(2);
  await crew.start();
  const second = async (): Promise<void> => {
    children[0]!.channel.report({ type: 'load', lagMs: 3, shedding: false });
    await settle();
    clock.advance(1_000);
    await settle();
  };
  const shedding = (): boolean[] => crew.members.map(({ load }) => load.shedding);
  for (let seconds = 0; seconds < 5; seconds += 1) await second();
  expect([shedding(), crew.up]).toEqual([[false, false], 2]);
  await second();
  expect([shedding(), crew.up]).toEqual([[false, true], 1]);
  expect(crew.members[1]!.load.lagMs).toBe(6_000);
  // It was only late.
  children[1]!.channel.report({ type: 'load', lagMs: 4, shedding: false });
  await settle();
  expect([shedding(), crew.up]).toEqual([[false, false], 2]);
  for (let seconds = 0; seconds < 19; seconds += 1) await second();
  expect(gone).toEqual([]);
  await second();
  expect(gone).toEqual([2]);
  await second();
  expect([crew.members.map(({ number }) => number), crew.restarts, crew.up]).toEqual([[1, 2], 1, 2]);
});

it('is not held up by a process that stands still when it is stopped', async () => {
  const { crew, clock, children } = crewOf(1);
  await crew.start();
  children[0]!.deaf = true;
  const stopping = crew.stop();
  await settle();
  clock.advance(20_000);
  await stopping;
  expect(clock.pendingTimers).toBe(0);
});

it('waits for all processes when it is stopped, and starts none again', async () => {
  const { crew, clock, children } = crewOf(2);
  await crew.start();
  let stopped = false;
  const stopping = crew.stop().then(() => (stopped = true));
  await settle();
  children[0]!.kill();
  await settle();
  expect(stopped).toBe(false);
  children[1]!.kill();
  await stopping;
  clock.advance(10_000);
  await settle();
  expect(children).toHaveLength(2);
});

/** Two processes that do as they are told, and what they say. */
function scriptedCrew() {
  const media: ScriptedMedia[] = [];
  const reports: Report[] = [];
  const crew: MediaProcessPool = new MediaProcessPool({
    size: 2,
    clock: new ManualClock(),
    logger: silentLogger,
    startTimeoutMs: 1_000,
    assignment: () => ({ spareSlots: {}, gatewayUrl: 'http://127.0.0.1:1' }),
    launch(number) {
      const one = new ScriptedMedia(`media ${number}`);
      media.push(one);
      void one.child.channel.assigned.then(() => one.child.channel.report({ type: 'up' }));
      return one.child as unknown as ChildProcess;
    },
    onReport(process, report) {
      reports.push(report);
      if (report.type === 'speech-failed') crew.speechFailed(process, report);
    },
    onGone: () => undefined,
  });
  return { crew, media, reports };
}

it('tells the other processes of a vendor that failed in one, and takes no report of a vendor without a sensible name', async () => {
  const { crew, media, reports } = scriptedCrew();
  await crew.start();
  media[0]?.report({ type: 'speech-failed', service: 'recognition', vendor: 'acme' });
  media[0]?.report({ type: 'speech-failed', service: 'recognition', vendor: 'a'.repeat(65) });
  media[0]?.report({ type: 'speech-failed', service: 'recognition', vendor: '' });
  await settle();
  expect(media.map(({ told }) => told)).toEqual([[], ['speech-failed recognition acme']]);
  expect(reports.filter(({ type }) => type === 'speech-failed')).toHaveLength(1);
});

it('has every process load the bots before any uses them, and none use them where one cannot', async () => {
  const { crew, media } = scriptedCrew();
  await crew.start();
  await crew.loadBots(async () => ({ acme: 3 }));
  await settle();
  expect(media.map(({ told }) => told)).toEqual([
    ['load-bots', 'use-bots'],
    ['load-bots', 'use-bots'],
  ]);
  for (const each of media) each.told.length = 0;
  media[1]!.badBots = new Error('a flow without an end');
  await expect(crew.loadBots(async () => ({ acme: 4 }))).rejects.toThrow('a flow without an end');
  await settle();
  expect(media.map(({ told }) => told)).toEqual([['load-bots'], []]);
  expect(media.map(({ spareSlots }) => spareSlots)).toEqual([{ acme: 3 }, { acme: 3 }]);
});
