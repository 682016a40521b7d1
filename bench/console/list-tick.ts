// What one telling of the list of live calls costs a gateway's event loop, without its sockets.
import { EventEmitter } from 'node:events';
import { liveCallsOf } from '../../src/call/admission/live-calls.ts';
import { FollowedNews } from '../../src/call/log/followed-news.ts';
import { LiveWatch, type WatchSocket } from '../../src/http/api/calls/live-watch.ts';
import { silentLogger } from '../../src/observability/logger.ts';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { CallBench } from '../../test/unit/call/call-bench.ts';

/** Of a watcher's list. */
const TICK_MS = 500;
const WARM_UP_TICKS = 400;
const TICKS = 400;
/** Of every so many calls, one changes between two tellings, … */
const CHANGES_ONE_IN = 10;
/** … and the lag of the loop is measured anew after so many. */
const TICKS_PER_LAG = 4;

export interface ListTick {
  /** Processor time. */
  readonly us: number;
  /** Of one processor, at two tellings a second. */
  readonly percent: number;
  /** Sent to the console for each telling. */
  readonly bytes: number;
}

/** @param calls of which each has a bot that has answered twice */
export async function measureListTick(calls: number): Promise<ListTick> {
  const benches: CallBench[] = [];
  for (let at = 0; at < calls; at += 1) benches.push(await talkedTo(at));
  const load = { lagMs: 0 };
  const registry = {
    calls: benches.map(({ session }) => session),
    dialled: [],
    order: () => Promise.reject(new Error('nobody orders anything here')),
    orderDialled: () => undefined,
  };
  const clock = new ManualClock();
  const live = liveCallsOf({ registry, load, followed: new FollowedNews(clock) });
  using watch = new LiveWatch({ calls: live, clock, logger: silentLogger });
  let bytes = 0;
  const socket = Object.assign(new EventEmitter(), {
    bufferedAmount: 0,
    send: (text: string) => void (bytes += text.length),
    close: () => undefined,
    terminate: () => undefined,
    ping: () => undefined,
  });
  const scopes = ['calls:read', 'calls:listen', 'numbers:read'] as const;
  watch.watch(socket as unknown as WatchSocket, { id: 'key_1', tenantId: 'default', scopes: [...scopes] }, async () => true);
  socket.emit('message', Buffer.from('{"type":"calls"}'), false);
  await settled();
  let us = 0;
  for (let tick = 0; tick < WARM_UP_TICKS + TICKS; tick += 1) {
    if (tick === WARM_UP_TICKS) bytes = 0;
    if (tick % TICKS_PER_LAG === 0) load.lagMs = 2 + ((tick / TICKS_PER_LAG) % 3);
    const on = Math.floor(tick / CHANGES_ONE_IN) % 2 === 0;
    for (const { session } of benches.filter((_, at) => at % CHANGES_ONE_IN === tick % CHANGES_ONE_IN))
      await session.order({ type: 'mute', on }, 'key_1');
    const before = process.cpuUsage();
    clock.advance(TICK_MS);
    await settled();
    const { user, system } = process.cpuUsage(before);
    if (tick >= WARM_UP_TICKS) us += (user + system) / TICKS;
  }
  for (const bench of benches) bench[Symbol.dispose]();
  const percent = (us * (1000 / TICK_MS)) / 10_000;
  return { us: Math.round(us), percent: Math.round(100 * percent) / 100, bytes: Math.round(bytes / TICKS) };
}

async function talkedTo(at: number): Promise<CallBench> {
  const bench = new CallBench(
    async function* () {
      yield { type: 'say', text: 'Our opening hours are from nine to five. Which day would suit you, and at what time?' };
    },
    {},
    { callId: `call_${String(at).padStart(32, '0')}` },
  );
  await bench.start();
  await bench.quiet(500);
  await bench.voice(600);
  await bench.quiet(660);
  bench.recognised(0, 'I would like to come in on Tuesday afternoon if that is possible');
  await bench.quiet(500);
  return bench;
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
}
