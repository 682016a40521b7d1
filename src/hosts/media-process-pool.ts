import type { ChildProcess } from 'node:child_process';
import { within, sleep } from '../kernel/waiting.ts';
import { type BackoffPolicy, backoffDelayMs } from '../kernel/backoff.ts';
import type { Clock, Timer } from '../kernel/clock.ts';
import type { Logger } from '../observability/logger.ts';
import { addUp, type MetricsSnapshot } from '../observability/metrics.ts';
import { LOOK_MS, MediaProcess } from './media-process.ts';
import type { Asked, Assignment, Report } from './protocol.ts';

export interface MediaProcessPoolOptions {
  readonly size: number;
  /** Starts a media process, with a channel to it. */
  readonly launch: (number: number) => ChildProcess;
  readonly assignment: () => Omit<Assignment, 'number' | 'processes'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Time a process gets to come up. */
  readonly startTimeoutMs: number;
  readonly backoff?: BackoffPolicy;
  readonly onReport: (process: MediaProcess, report: Report) => void;
  /** A process is gone, whatever it was doing. */
  readonly onGone: (process: MediaProcess) => void;
}

export interface ProcessState {
  readonly name: string;
  readonly pid: number | null;
  readonly state: 'up' | 'silent' | 'leaving';
  readonly lagMs: number;
  readonly shedding: boolean;
  readonly calls: number;
}

const BACKOFF: BackoffPolicy = { firstMs: 200, factor: 2, maxMs: 10_000, jitter: 0.3 };
/** A process that stayed up this long starts its back-off anew. */
const HEALTHY_MS = 30_000;

/** A process whose event loop is late is told of with what it had counted before. */
const METRICS_WITHIN_MS = 1_000;

/** The media processes: starts them, and starts each one again that ends, after a pause that grows. */
export class MediaProcessPool {
  readonly #options: MediaProcessPoolOptions;
  readonly #stopping = new AbortController();
  readonly #members = new Map<number, MediaProcess>();
  readonly #watching: Promise<void>[] = [];
  #departed: MetricsSnapshot = [];
  #restarts = 0;
  #nextLook: Timer | undefined;

  constructor(options: MediaProcessPoolOptions) {
    this.#options = options;
  }

  /** Those that can be asked: they take calls, or have some still. */
  get members(): readonly MediaProcess[] {
    return this.#all.filter(({ serves }) => serves);
  }

  /** How many take calls; one that stands still does not. */
  get up(): number {
    return this.#all.filter(({ isUp, isSilent }) => isUp && !isSilent).length;
  }

  /** Every process that there should be, as it is; one that is not there, or not yet, is silent. */
  states(callsOf: (member: MediaProcess) => number): ProcessState[] {
    return Array.from({ length: this.#options.size }, (_, index) => {
      const member = this.#members.get(index + 1);
      const { lagMs, shedding } = member?.load ?? { lagMs: 0, shedding: false };
      const isUp = member?.isUp === true && !member.isSilent;
      return {
        name: `media ${index + 1}`,
        pid: member?.pid ?? null,
        state: isUp ? 'up' : member?.serves === true && !member.isUp ? 'leaving' : 'silent',
        lagMs,
        shedding,
        calls: member === undefined ? 0 : callsOf(member),
      };
    });
  }

  get #all(): readonly MediaProcess[] {
    return [...this.#members.values()];
  }

  /** Whether all of them are ending for good. */
  get stopping(): boolean {
    return this.#stopping.signal.aborted;
  }

  get restarts(): number {
    return this.#restarts;
  }

  /** The numbers of all processes, and what those had counted that are gone. */
  async metrics(): Promise<readonly MetricsSnapshot[]> {
    const { clock } = this.#options;
    const asked = this.members.map(async (member) => {
      const numbers = await within(clock, METRICS_WITHIN_MS, member.metrics(), undefined).catch(() => undefined);
      // A process that died meanwhile counts without its gauges.
      return numbers ?? member.counted;
    });
    return [this.#departed, ...(await Promise.all(asked))];
  }

  /**
   * Starts all of them.
   * @throws MediaProcessError when one does not come up; the others are killed
   */
  async start(): Promise<void> {
    const { size } = this.#options;
    const numbers = Array.from({ length: size }, (_, index) => index + 1);
    try {
      await Promise.all(numbers.map((number) => this.#launch(number)));
    } catch (error) {
      const started = this.#all;
      for (const member of started) member.kill();
      await Promise.all(started.map(({ gone }) => gone));
      throw error;
    }
    for (const number of numbers) this.#watching.push(this.#watch(number));
    this.#lookAfterThem();
  }

  /**
   * Has all of them read the bots again, and give them to new calls once every one has them.
   * @param share asked then: the spare slots of each process for these bots
   * @throws OffhookError of the first that cannot; none has changed then
   */
  async loadBots(share: () => Promise<Assignment['spareSlots']>): Promise<void> {
    const { members } = this;
    const loaded = await Promise.allSettled(members.map((member) => member.ask('load-bots', null)));
    for (const [index, outcome] of loaded.entries()) {
      // One that has ended meanwhile reads them when it is started again.
      if (outcome.status === 'rejected' && members[index]?.serves === true) throw outcome.reason;
    }
    const spareSlots = await share();
    for (const member of members) member.tell('use-bots', { spareSlots });
  }

  /** A vendor failed in a call of one process: the others begin no call with it for a while. */
  speechFailed(source: MediaProcess, { service, vendor }: Asked<'speech-failed'>): void {
    for (const member of this.members) if (member !== source) member.tell('speech-failed', { service, vendor });
  }

  /** Tells all processes which bots have reached a limit of the day's costs. */
  spendReached(bots: readonly string[]): void {
    for (const member of this.members) member.tell('spend-reached', { bots: [...bots] });
  }

  /** None is started any more; those there are go on until `stop`. */
  startNoMore(): void {
    this.#stopping.abort(new Error('the gateway stops'));
  }

  /** Has all of them say goodbye to their calls and end, and starts none again. */
  async stop(): Promise<void> {
    this.startNoMore();
    const left = this.#all;
    for (const member of left) member.tell('drain', null);
    await Promise.all(left.map(({ gone }) => gone));
    await Promise.all(this.#watching);
    this.#nextLook?.cancel();
  }

  /** A process that stands still ends neither by itself nor with what it is told. */
  #lookAfterThem(): void {
    this.#nextLook = this.#options.clock.after(LOOK_MS, () => {
      this.#lookAfterThem();
      for (const member of this.#all) member.look();
    });
  }

  async #launch(number: number): Promise<void> {
    const { launch, clock, logger, assignment, size, startTimeoutMs, onReport, onGone } = this.#options;
    const member: MediaProcess = new MediaProcess({
      number,
      child: launch(number),
      clock,
      logger,
      onReport: (report) => onReport(member, report),
    });
    this.#members.set(number, member);
    void member.gone.then(() => {
      this.#members.delete(number);
      void this.#remember(member.counted);
      onGone(member);
    });
    member.tell('assign', { ...assignment(), number, processes: size });
    await member.up(startTimeoutMs);
    logger.info({ process: number, pid: member.pid }, 'media process ready');
  }

  /** No sum falls because a process is gone. */
  async #remember(counted: MetricsSnapshot): Promise<void> {
    if (counted.length > 0) this.#departed = await addUp([this.#departed, counted]);
  }

  async #watch(number: number): Promise<void> {
    const { clock, logger, backoff = BACKOFF } = this.#options;
    const { signal } = this.#stopping;
    for (let attempt = 0; !signal.aborted;) {
      const sinceMs = clock.nowMs();
      await this.#members.get(number)?.gone;
      if (signal.aborted) return;
      if (clock.nowMs() - sinceMs > HEALTHY_MS) attempt = 0;
      logger.error({ process: number }, 'media process exited: restarting it');
      try {
        await sleep(clock, backoffDelayMs(backoff, attempt, Math.random()), signal);
        attempt += 1;
        await this.#launch(number);
        this.#restarts += 1;
      } catch (error) {
        if (!signal.aborted) logger.error({ process: number, error }, 'media process restart failed');
      }
    }
  }
}
