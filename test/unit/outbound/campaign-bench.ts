import type { OutboundCall } from '../../../src/call/admission/outbound-calls.ts';
import { DialGate } from '../../../src/outbound/ask-gate.ts';
import { CampaignRunner, type DueDial } from '../../../src/outbound/campaign-runner.ts';
import type { WrittenSettings } from '../../../src/outbound/campaign.ts';
import { CallDialler } from '../../../src/outbound/dialler.ts';
import { DiallingProfiles, SHIPPED_FOLDER } from '../../../src/outbound/profiles.ts';
import { DialUnknownError } from '../../../src/carriers/errors.ts';
import type { DialEnd, DialOrder, DialProgress, FoundDial } from '../../../src/carriers/port.ts';
import { readCallerIds } from '../../../src/config/caller-ids.ts';
import type { Clock } from '../../../src/kernel/clock.ts';
import { silentLogger } from '../../../src/observability/logger.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import type { Attempt } from '../../../src/records/dialling.ts';
import type { NewContact } from '../../../src/records/campaigns.ts';
import type { StoredCall } from '../../../src/records/port.ts';
import { callRecordOf } from '../../support/call-records.ts';
import { numberZones } from './gate/dial-facts.ts';
import { MemoryAttempts } from './memory-attempts.ts';
import { MemoryCampaigns } from './memory-campaigns.ts';
import { OPEN_DIALLING } from '../../support/open-dialling.ts';

const shipped = await DiallingProfiles.load(SHIPPED_FOLDER);
const STEP_MS = 250;
/** While no phone rings and nothing is queued. */
const QUIET_STEP_MS = 5_000;
const RING_MS = 2_000;
const TALK_MS = 3_000;
const STALLED_MS = 5_000;

/** What a person does when the phone rings, call by call; the last one repeats. `lost`: the carrier's answer to the order is lost. */
export type Script = readonly (DialEnd | 'lost')[];

export interface PlacedOrder extends DialOrder {
  readonly atMs: number;
  /** When it was over at the carrier; undefined while it is not. */
  endedAtMs?: number;
  progress: DialProgress;
}

interface Job extends DueDial {
  notBeforeMs: number;
  takenBy?: Process;
  takenAtMs?: number;
}

/** One process of a gateway. A killed one neither gets answers nor asks for anything any more. */
interface Process {
  isDead: boolean;
  readonly dialler: CallDialler;
  readonly runner: CampaignRunner;
}

const never = new Promise<never>(() => undefined);

/** A gateway of several processes over a store in memory, with people who answer by a script, on virtual time. */
export class CampaignBench {
  readonly attempts = new MemoryAttempts();
  readonly store = new MemoryCampaigns(() => this.attempts.all);
  readonly clock: ManualClock;
  readonly orders: PlacedOrder[] = [];
  readonly scripts = new Map<string, Script>();
  readonly processes: Process[] = [];
  /** Answers of the store, the queue and the carrier after which the process that asked is killed: before it hears, or before they hear. */
  readonly kills: { inSteps: number; readonly unheard: boolean }[] = [];
  room = 50;
  accountRate = 1000;
  changes = 0;
  readonly #jobs = new Map<string, Job | 'done'>();
  readonly #records = new Map<string, StoredCall>();
  readonly #held = new Map<string, OutboundCall>();

  readonly #profiles: Pick<DiallingProfiles, 'named' | 'names'>;

  constructor(wallMs: number, profiles: Pick<DiallingProfiles, 'named' | 'names'> = shipped) {
    this.clock = new ManualClock(0, wallMs);
    this.#profiles = profiles;
  }

  /** A running campaign. */
  async campaign(id: string, contacts: readonly NewContact[], settings: Partial<WrittenSettings> = {}): Promise<void> {
    const whole = { name: id, bot: 'reminder', from: '+442079460001', profile: 'none', ...settings };
    const ref = { tenantId: 'default', campaignId: id };
    await this.store.campaigns.create({ tenantId: 'default', id, name: id, settings: whole, createdAtMs: this.clock.wallMs() });
    await this.store.contacts.add(ref, contacts, 0);
    await this.store.campaigns.setState(ref, ['draft'], 'running', { atMs: this.clock.wallMs() });
  }

  stateOf(id: string): string | undefined {
    return this.store.stored.get(id)?.state;
  }

  startProcess(): Process {
    const parts = { isDead: false };
    const mortal = <Part extends object>(part: Part): Part => this.#mortal(part, parts);
    const clock = this.#clockOf(parts);
    const attempts = mortal(this.attempts);
    const controlOf = () => ({ ...mortal(this.#control()), dialling: mortal(this.#dialling()) });
    const gate = new DialGate({
      ...OPEN_DIALLING,
      attempts,
      profiles: this.#profiles,
      zones: numberZones,
      means: () => ({ callerIds: readCallerIds('+4420794600*').callerIds, carriers: ['twilio'], carrier: undefined }),
      missingFor: () => [],
      clock,
    });
    const room = (): number => this.room - this.#held.size;
    const outbound = {
      get room() {
        return room();
      },
      reserve: async (call: OutboundCall) => {
        this.#held.set(call.callId, call);
        return { kind: 'reserved' as const, attachmentId: `att-${call.callId}` };
      },
      release: (callId: string) => void this.#held.delete(callId),
      reported: () => undefined,
      onGivenUp: () => undefined,
    };
    const dialler = new CallDialler({
      gate,
      destinationsOf: OPEN_DIALLING.destinationsOf,
      attempts,
      calls: mortal({ get: async (_tenantId: string, id: string) => this.#records.get(id) }),
      outbound,
      controlOf,
      addressesOf: async ({ callId }) => ({ streamUrl: `wss://voice.test/${callId}`, statusUrl: `https://voice.test/${callId}` }),
      placed: () => undefined,
      maxDurationMsOf: () => 600_000,
      pace: { take: () => 0 },
      concurrency: 1000,
      detectMachine: false,
      tell: () => undefined,
      clock,
      logger: silentLogger,
    });
    const limit = () => ({ callsPerSecond: this.accountRate, concurrency: 1000 });
    const { enqueue } = mortal({
      enqueue: async (dials: readonly DueDial[]) => {
        for (const dial of dials) {
          if (!this.#jobs.has(dial.attemptId)) this.#jobs.set(dial.attemptId, { ...dial, notBeforeMs: 0 });
        }
      },
    });
    const runner = new CampaignRunner({
      campaigns: mortal(this.store.campaigns) as never,
      contacts: mortal(this.store.contacts) as never,
      attempts,
      zones: numberZones,
      dialler,
      profiles: this.#profiles,
      room,
      carrierOf: () => 'twilio',
      limitOfCarrier: limit,
      enqueue,
      changed: async () => void (this.changes += 1),
      clock,
      logger: silentLogger,
    });
    dialler.onEnded((attempt: Attempt) => void runner.ended(attempt));
    dialler.start();
    runner.start();
    const process: Process = Object.assign(parts, { dialler, runner });
    this.processes.push(process);
    return process;
  }

  get alive(): readonly Process[] {
    return this.processes.filter(({ isDead }) => !isDead);
  }

  /** Lets time pass, a quarter of a second at a time, until a condition holds. @throws when it does not within that time */
  async until(condition: () => boolean, withinMs: number): Promise<void> {
    const endMs = this.clock.nowMs() + withinMs;
    while (!condition()) {
      if (this.clock.nowMs() > endMs) throw new Error(`not within ${withinMs} ms of virtual time`);
      await this.step(this.#isQuiet() ? QUIET_STEP_MS : STEP_MS);
    }
  }

  #isQuiet(): boolean {
    return (
      this.orders.every(({ endedAtMs }) => endedAtMs !== undefined) && [...this.#jobs.values()].every((job) => job === 'done')
    );
  }

  async step(byMs: number): Promise<void> {
    this.clock.advance(byMs);
    await this.#carrierWorks();
    this.#queueWorks();
    for (let turn = 0; turn < 40; turn += 1) await Promise.resolve();
  }

  /** What a process asks: it may die before it is heard, or before it hears the answer. */
  #mortal<Part extends object>(part: Part, process: { isDead: boolean }): Part {
    return new Proxy(part, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== 'function') return value;
        return async (...given: unknown[]): Promise<unknown> => {
          if (process.isDead) return never;
          const [kill] = this.kills;
          const dies = kill !== undefined && (kill.inSteps -= 1) <= 0;
          if (dies) {
            this.kills.shift();
            process.isDead = true;
            if (kill.unheard) return never;
          }
          const answer: unknown = await (value as (...all: unknown[]) => unknown).apply(target, given);
          return process.isDead ? never : answer;
        };
      },
    });
  }

  #clockOf(process: { readonly isDead: boolean }): Clock {
    return {
      nowMs: () => this.clock.nowMs(),
      wallMs: () => this.clock.wallMs(),
      after: (delayMs, run) => this.clock.after(delayMs, () => void (process.isDead || run())),
    };
  }

  #control() {
    return {
      hangUp: async (carrierCallId: string) => {
        const order = this.orders.find(({ callId }) => `CA-${callId}` === carrierCallId);
        if (order !== undefined) this.#over(order, 'cancelled');
      },
      transfer: async () => undefined,
      sendDigits: async () => undefined,
    };
  }

  #dialling() {
    const of = (callId: string): PlacedOrder | undefined => this.orders.find((order) => order.callId === callId);
    return {
      capabilities: { callsPerSecond: 1, detectsMachines: false, canFind: true },
      dial: async (order: DialOrder) => {
        this.orders.push({ ...order, atMs: this.clock.wallMs(), progress: { state: 'queued' } });
        if (this.#scriptOf(order) === 'lost') throw new DialUnknownError('the answer was lost');
        return { carrierCallId: `CA-${order.callId}` };
      },
      find: async ({ callId }: Pick<DialOrder, 'callId'>): Promise<FoundDial> => {
        const order = of(callId);
        return order === undefined
          ? { found: 'not-placed' }
          : { found: 'placed', carrierCallId: `CA-${callId}`, progress: order.progress };
      },
      progressOf: async (carrierCallId: string) => of(carrierCallId.slice('CA-'.length))?.progress,
    };
  }

  #scriptOf({ to, callId }: DialOrder): DialEnd | 'lost' {
    const script = this.scripts.get(to) ?? ['completed'];
    const place = this.orders.filter((order) => order.to === to).findIndex((order) => order.callId === callId);
    return script[Math.min(Math.max(place, 0), script.length - 1)] ?? 'completed';
  }

  #over(order: PlacedOrder, outcome: DialEnd): void {
    if (order.endedAtMs !== undefined) return;
    order.endedAtMs = this.clock.wallMs();
    order.progress = { state: 'ended', outcome };
  }

  /** Phones ring, people answer and hang up, and the carrier reports to whichever process is there. */
  async #carrierWorks(): Promise<void> {
    const nowMs = this.clock.wallMs();
    for (const order of this.orders) {
      if (order.endedAtMs !== undefined) continue;
      const ageMs = nowMs - order.atMs;
      const scripted = this.#scriptOf(order);
      const end = scripted === 'lost' ? 'busy' : scripted;
      const before = order.progress.state;
      if (ageMs >= RING_MS && end !== 'completed') this.#over(order, end);
      else if (ageMs >= RING_MS + TALK_MS) {
        this.#over(order, 'completed');
        this.#keepRecord(order);
      } else if (ageMs >= RING_MS) order.progress = { state: 'answered' };
      else if (ageMs >= RING_MS / 2) order.progress = { state: 'ringing' };
      if (order.progress.state === before) continue;
      const [process] = this.alive;
      const { callId, progress } = order;
      void process?.dialler.follower.reported(callId, { carrier: 'twilio', carrierCallId: `CA-${callId}`, progress });
      const record = this.#records.get(callId);
      if (record !== undefined) void process?.dialler.follower.stored(record);
    }
  }

  #keepRecord({ callId, to, from, atMs }: PlacedOrder): void {
    const outbound = { identified: true } as StoredCall['outbound'];
    const times = { startedAtMs: atMs, answeredAtMs: atMs + RING_MS, endedAtMs: this.clock.wallMs() };
    const facts = { id: callId, direction: 'outbound' as const, from, to, endReason: 'bot-hang-up', outbound, ...times };
    this.#records.set(callId, { ...callRecordOf(), ...facts } as unknown as StoredCall);
  }

  /** Live processes take what is due; jobs of dead ones come back. */
  #queueWorks(): void {
    const nowMs = this.clock.wallMs();
    for (const [id, job] of this.#jobs) {
      if (job === 'done') continue;
      if (job.takenBy !== undefined && !(job.takenBy.isDead && nowMs - (job.takenAtMs ?? 0) > STALLED_MS)) continue;
      const { alive } = this;
      const process = alive[this.#jobs.size % Math.max(1, alive.length)];
      if (process === undefined || nowMs < job.notBeforeMs) continue;
      Object.assign(job, { takenBy: process, takenAtMs: nowMs });
      void process.runner.place(job).then(
        (placed) => {
          if (placed === 'no-room') Object.assign(job, { takenBy: undefined, notBeforeMs: nowMs + 500 });
          else this.#jobs.set(id, 'done');
        },
        () => Object.assign(job, { takenBy: undefined }),
      );
    }
  }
}
