import { readFileSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { availableParallelism, loadavg, totalmem } from 'node:os';
import { z } from 'zod';
import type { OpenCarriers } from '../carriers/open-carriers.ts';
import type { Bot } from '../config/bots.ts';
import type { LoadedConfig } from '../config/load.ts';
import type { BotOrders, DrainOrders, SystemOrders } from '../http/api/api-app.ts';
import type { SystemState } from '../http/api/system/system-views.ts';
import { ALL_QUEUES, QUEUE_PURPOSES } from '../records/queue/port.ts';
import type { Clock } from '../kernel/clock.ts';
import { within } from '../kernel/waiting.ts';
import type { CarrierWatch } from '../observability/carrier-traffic.ts';
import { type MetricsSnapshot, UNTRUSTED_PROXIES } from '../observability/metrics.ts';
import type { SpeechRouter } from '../speech/routing/router.ts';
import type { Backlog } from './backlog.ts';
import type { GatewaySpeech } from './speech.ts';

export interface SystemParts {
  readonly settings: LoadedConfig['settings'];
  readonly secrets: Pick<LoadedConfig['secrets'], 'databaseUrl'>;
  readonly bots: () => readonly Bot[];
  readonly lastReload: () => BotOrders['lastReload'];
  readonly speech: GatewaySpeech;
  readonly backlog: Pick<Backlog, 'queue' | 'storeState' | 'outbox' | 'recordingOutbox'>;
  readonly carriers: OpenCarriers;
  readonly traffic: CarrierWatch;
  /** The numbers of all processes as those of one. */
  readonly numbers: () => Promise<MetricsSnapshot>;
  readonly calls: () => SystemState['calls'];
  readonly processes: () => SystemState['processes'];
  readonly callDrain: DrainOrders;
  readonly clock: Clock;
}

/** One look serves everybody who asks meanwhile: however many watch, the gateway looks once. */
const LOOK_AGAIN_MS = 2_000;
/** A queue that has not answered by then is shown without its numbers. */
const QUEUE_WITHIN_MS = 1_500;

const { version } = z
  .object({ version: z.string() })
  .parse(JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')));

/** What `GET /api/system` shows of a gateway. */
export function systemOrders(parts: SystemParts): SystemOrders {
  const { clock, carriers, settings, callDrain } = parts;
  const startedMs = clock.wallMs();
  let last: { readonly atMs: number; readonly state: Promise<SystemState> } | undefined;
  const remote = [...carriers.values()].filter(({ loopbackOnly, carrier }) => !loopbackOnly && isRemote(carrier));
  return {
    callDrain,
    publicUrl: { address: settings.publicUrl, carriers: remote.map(({ carrier }) => carrier.title) },
    look() {
      const nowMs = clock.nowMs();
      if (last === undefined || nowMs - last.atMs > LOOK_AGAIN_MS) {
        const state = look(parts, startedMs);
        last = { atMs: nowMs, state };
        state.catch(() => (last = undefined));
      }
      return last.state;
    },
  };
}

function isRemote({ proof, offers }: { readonly proof?: unknown; readonly offers: { readonly ownPremises?: true } }): boolean {
  return proof !== undefined && offers.ownPremises !== true;
}

async function look(parts: SystemParts, startedMs: number): Promise<SystemState> {
  const { settings, secrets, backlog, clock } = parts;
  const [numbers, store, disk, queues, rejected] = await Promise.all([
    parts.numbers(),
    backlog.storeState(),
    statfs(settings.dataDir),
    within(clock, QUEUE_WITHIN_MS, queuesOf(parts), []).catch(() => []),
    Promise.all([backlog.outbox.rejected(), backlog.recordingOutbox.rejected()]),
  ]);
  const reload = parts.lastReload();
  return {
    version,
    startedAt: isoTime(startedMs),
    checkedAt: isoTime(clock.wallMs()),
    calls: parts.calls(),
    replies: repliesIn(numbers),
    processes: [...parts.processes()],
    machine: {
      cores: availableParallelism(),
      load: Math.round((loadavg()[0] ?? 0) * 100) / 100,
      memoryBytes: totalmem(),
      memoryFreeBytes: process.availableMemory(),
      diskBytes: disk.blocks * disk.bsize,
      diskFreeBytes: disk.bavail * disk.bsize,
    },
    store: { kind: secrets.databaseUrl === undefined ? 'embedded' : 'server', state: store },
    outbox: {
      calls: backlog.outbox.size,
      recordings: backlog.recordingOutbox.size,
      rejected: rejected.reduce((sum, count) => sum + count, 0),
    },
    speech: speechOf(parts, numbers),
    queues: { backend: backlog.queue.backend, queues },
    carriers: carriersOf(parts, numbers),
    untrustedProxies: labelsOver0(numbers, UNTRUSTED_PROXIES, 'address'),
    bots: {
      count: parts.bots().length,
      reloadedAt: reload === undefined ? null : isoTime(reload.atMs),
      problems: [...(reload?.problems ?? [])],
      down: labelsOver0(numbers, 'offhook_bots_down', 'bot'),
    },
  };
}

function queuesOf({ backlog: { queue } }: SystemParts): Promise<SystemState['queues']['queues']> {
  return Promise.all(
    ALL_QUEUES.map(async (name) => {
      const { waiting, active, delayed, failed } = await queue.counts(name);
      const oldestMs = waiting === 0 ? undefined : await queue.oldestMs(name);
      const oldestAt = oldestMs === undefined ? null : isoTime(oldestMs);
      return { name, purpose: QUEUE_PURPOSES[name], waiting, active, delayed, failed, oldestAt };
    }),
  );
}

function speechOf({ speech, bots }: SystemParts, numbers: MetricsSnapshot): SystemState['speech'] {
  const { router } = speech;
  const held = valuesIn(numbers, 'offhook_speech_slots');
  const sum = (of: Readonly<Record<string, string>>): number =>
    held
      .filter(({ labels }) => Object.entries(of).every(([name, value]) => labels[name] === value))
      .reduce((total, { value }) => total + value, 0);
  return {
    state: speech.state(bots()),
    slots: limitsOf(router).map(({ vendor, service, most }) => ({
      vendor,
      service,
      live: sum({ vendor, service, priority: 'live', state: 'held' }),
      batch: sum({ vendor, service, priority: 'batch', state: 'held' }),
      waiting: sum({ vendor, service, state: 'waiting' }),
      most,
    })),
    openBreakers: labelsOver0(numbers, 'offhook_speech_breakers_open', 'service'),
    failing: [...router.failing],
  };
}

/** Slots of each service in all, used or not. */
function limitsOf({ slotGauges }: SpeechRouter): { vendor: string; service: 'asr' | 'tts'; most: number }[] {
  return slotGauges
    .filter(({ priority, limit }) => priority === 'live' && limit > 0)
    .map(({ vendor = 'platform', service, limit }) => ({ vendor, service, most: limit }));
}

function carriersOf({ carriers, traffic }: SystemParts, numbers: MetricsSnapshot): SystemState['carriers'] {
  const active = new Map(valuesIn(numbers, 'offhook_calls_active').map(({ labels, value }) => [labels['carrier'], value]));
  const withoutMarks = labelsOver0(numbers, 'offhook_carrier_marks_missing', 'carrier');
  return [...carriers.values()].flatMap(({ carrier: { name, title, proof }, loopbackOnly }) => {
    const { lastCallMs, lastRefusalMs, lastRefusal = null } = traffic.of(name);
    const live = active.get(name) ?? 0;
    const configured = proof !== undefined && !loopbackOnly;
    if (!configured && lastCallMs === undefined && lastRefusalMs === undefined && live === 0) return [];
    const at = (ms: number | undefined): string | null => (ms === undefined ? null : isoTime(ms));
    const last = { lastCallAt: at(lastCallMs), lastRefusalAt: at(lastRefusalMs), lastRefusal };
    return [{ name, title, configured, live, ...last, marksMissing: withoutMarks.includes(name) }];
  });
}

/** From the histogram of latencies, whose buckets hold what took no longer. */
export function repliesIn(numbers: MetricsSnapshot): SystemState['replies'] {
  const total = valuesIn(numbers, 'offhook_turn_latency_seconds').filter(({ labels }) => labels['stage'] === 'total');
  const bounded = total.filter(({ labels }) => Number.isFinite(Number(labels['le'])));
  const upTo = bounded.map(({ labels, value }) => ({ ms: Math.round(Number(labels['le']) * 1000), count: value }));
  return { count: total.find(({ labels }) => labels['le'] === '+Inf')?.value ?? 0, upTo: upTo.sort((a, b) => a.ms - b.ms) };
}

const valueList = z.array(z.looseObject({ value: z.number(), labels: z.record(z.string(), z.coerce.string()).default({}) }));

function valuesIn(numbers: MetricsSnapshot, name: string): z.output<typeof valueList> {
  return valueList.parse(numbers.find((metric) => metric.name === name)?.['values'] ?? []);
}

/** Names of the bots whose servers cannot be reached from some process. */
export function unreachableBots(numbers: MetricsSnapshot): string[] {
  const down = valuesIn(numbers, 'offhook_bots_down').filter(({ labels, value }) => labels['state'] === 'down' && value > 0);
  return down.flatMap(({ labels }) => labels['bot'] ?? []);
}

/** What a gauge is above zero for. */
function labelsOver0(numbers: MetricsSnapshot, name: string, label: string): string[] {
  return [...new Set(valuesIn(numbers, name).flatMap(({ labels, value }) => (value > 0 ? [labels[label] ?? ''] : [])))];
}

function isoTime(wallMs: number): string {
  return new Date(wallMs).toISOString();
}
