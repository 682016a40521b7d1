import type { GivenUp, GivenUpListener, OutboundCall } from '../../../src/call/admission/outbound-calls.ts';
import type { AttemptEvent } from '../../../src/outbound/attempt-steps.ts';
import { CallDialler, type DiallerParts } from '../../../src/outbound/dialler.ts';
import { DialGate, type DialGateParts } from '../../../src/outbound/ask-gate.ts';
import { SharedPace } from '../../../src/outbound/pacing.ts';
import type { DialRequest } from '../../../src/outbound/dialling.ts';
import { DiallingProfiles, SHIPPED_FOLDER } from '../../../src/outbound/profiles.ts';
import type { CallControl, DialOrder, DialProgress, FoundDial } from '../../../src/carriers/port.ts';
import { readCallerIds } from '../../../src/config/caller-ids.ts';
import { silentLogger } from '../../../src/observability/logger.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import type { Attempt } from '../../../src/records/dialling.ts';
import type { StoredCall } from '../../../src/records/port.ts';
import { numberZones } from './gate/dial-facts.ts';
import { MemoryAttempts } from './memory-attempts.ts';
import { MemoryCampaigns } from './memory-campaigns.ts';
import { OPEN_DIALLING } from '../../support/open-dialling.ts';

export const PERSON = '+442079460000';
const CALLER_ID = '+442079460001';
/** Tuesday noon in London. */
export const NOON_MS = Date.UTC(2026, 2, 3, 12);

const profiles = await DiallingProfiles.load(SHIPPED_FOLDER);

export function wish(changes: Partial<DialRequest> = {}): DialRequest {
  return {
    tenantId: 'default',
    to: PERSON,
    from: CALLER_ID,
    botName: 'reminder',
    variables: { name: 'Asha' },
    metadata: {},
    ringTimeoutMs: 30_000,
    profile: 'none',
    registrations: {},
    narrowing: [],
    ...changes,
  };
}

/** A carrier that answers as it is told to; `orders` are the dials that it got. */
export class ScriptedCarrier implements CallControl {
  readonly orders: DialOrder[] = [];
  readonly hungUp: string[] = [];
  finds = 0;
  dial: (order: DialOrder) => Promise<{ carrierCallId: string }> = async ({ callId }) => ({ carrierCallId: `CA-${callId}` });
  find: () => Promise<FoundDial> = async () => ({ found: 'unknown' });
  progress: DialProgress | undefined;

  readonly dialling = {
    capabilities: { callsPerSecond: 1, detectsMachines: true, canFind: true },
    dial: (order: DialOrder) => {
      this.orders.push(order);
      return this.dial(order);
    },
    find: () => {
      this.finds += 1;
      return this.find();
    },
    progressOf: async () => this.progress,
  };

  async hangUp(carrierCallId: string): Promise<void> {
    this.hungUp.push(carrierCallId);
  }
  async transfer(): Promise<void> {}
  async sendDigits(): Promise<void> {}
}

type BenchAttempts = DialGateParts['attempts'] & DiallerParts['attempts'];

interface BenchOptions<Attempts extends BenchAttempts> {
  readonly attempts: Attempts;
  readonly carrier?: ScriptedCarrier;
  readonly clock?: ManualClock;
  readonly callerIds?: string;
  readonly callsPerSecond?: number;
  readonly concurrency?: number;
  readonly carriers?: readonly string[];
  /** Destinations, ceilings and prices; none of them holds anything unless given. */
  readonly gate?: Partial<DialGateParts>;
  readonly missing?: (duties: readonly string[]) => readonly string[];
}

/** A dialler over a store in memory and a scripted carrier, on a clock that is moved by hand. */
export function diallerBench(options: Partial<BenchOptions<MemoryAttempts>> = {}) {
  return diallerOver({ attempts: new MemoryAttempts(), ...options });
}

/** The same over another store. */
export function diallerOver<Attempts extends BenchAttempts>(options: BenchOptions<Attempts>) {
  const { attempts, carrier = new ScriptedCarrier(), clock = new ManualClock(0, NOON_MS) } = options;
  const { callerIds = CALLER_ID, callsPerSecond = 1000, concurrency = 100, carriers = ['twilio'] } = options;
  const held = new Map<string, OutboundCall>();
  const released: string[] = [];
  const told: [AttemptEvent, Attempt][] = [];
  const records = new Map<string, StoredCall>();
  let givenUp: GivenUpListener = () => undefined;
  const outbound = {
    room: 10,
    async reserve(call: OutboundCall) {
      held.set(call.callId, call);
      return { kind: 'reserved' as const, attachmentId: `att-${call.callId}` };
    },
    release(callId: string) {
      if (held.delete(callId)) released.push(callId);
    },
    reported: () => undefined,
    onGivenUp: (listener: GivenUpListener) => void (givenUp = listener),
  };
  const parts = { ...OPEN_DIALLING, ...options.gate };
  const gate = new DialGate({
    ...parts,
    attempts,
    profiles,
    zones: numberZones,
    means: () => ({ callerIds: readCallerIds(callerIds).callerIds, carriers, carrier: undefined }),
    missingFor: (_botName, duties) => options.missing?.(duties.map(({ duty }) => duty)) ?? [],
    clock,
  });
  const dialler = new CallDialler({
    gate,
    destinationsOf: parts.destinationsOf,
    attempts,
    calls: { get: async (_tenantId, id) => records.get(id) },
    outbound,
    controlOf: (name) => (carriers.includes(name) ? carrier : undefined),
    addressesOf: async ({ callId, attachmentId }) => ({
      streamUrl: `wss://voice.test/stream/${attachmentId}`,
      statusUrl: `https://voice.test/status/${callId}`,
    }),
    placed: () => undefined,
    maxDurationMsOf: () => 600_000,
    pace: new SharedPace(new MemoryCampaigns(() => []).campaigns, { carrier: callsPerSecond, line: callsPerSecond }, clock),
    concurrency,
    detectMachine: false,
    tell: (event, attempt) => void told.push([event, attempt]),
    clock,
    logger: silentLogger,
  });
  /** Starts the dialler, and lets what is due happen, in steps, until a condition holds. */
  const until = async (condition: () => boolean, withinMs = 600_000): Promise<void> => {
    dialler.start();
    for (let waitedMs = 0; !condition(); waitedMs += 250) {
      if (waitedMs > withinMs) throw new Error(`not within ${withinMs} ms`);
      clock.advance(250);
      for (let turn = 0; turn < 30; turn += 1) await Promise.resolve();
    }
  };
  return {
    dialler,
    attempts,
    carrier,
    clock,
    outbound,
    held,
    released,
    told,
    records,
    /** The calls give up the place of a call that is dialled. */
    giveUp(callId: string, why: GivenUp): void {
      const call = held.get(callId);
      held.delete(callId);
      if (call !== undefined) givenUp(call, why);
    },
    until,
    untilEnded: (now: () => Attempt | undefined) => until(() => now()?.state === 'ended'),
    [Symbol.asyncDispose]: () => dialler[Symbol.asyncDispose](),
    /** Asks and places; the attempt as it stands then. */
    dial: async (changes: Partial<DialRequest> = {}) => {
      const [gated] = await dialler.ask([wish(changes)]);
      if (gated?.allowed !== true) throw new Error(`refused: ${gated?.refusal.detail}`);
      const { id } = gated.attempt;
      const placed = await dialler.place('default', id);
      return { id, placed, now: () => (attempts instanceof MemoryAttempts ? attempts.rows.get(id)?.attempt : undefined) };
    },
  };
}
