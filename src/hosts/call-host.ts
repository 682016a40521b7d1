import type { CallAnswer } from '../call/admission/call-door.ts';
import type { CallRegistry } from '../call/admission/call-registry.ts';
import type { LiveCalls } from '../call/admission/live-calls.ts';
import type { OutboundCalls } from '../call/admission/outbound-calls.ts';
import type { LegDoor, OpenLeg } from '../call/transfer/agent-legs.ts';
import type { InboundCall } from '../carriers/port.ts';
import type { Bot } from '../config/bots.ts';
import type { DrainOrders, DrainState } from '../http/api/api-app.ts';
import type { SystemState } from '../http/api/system/system-views.ts';
import type { CallIntake, ExpectedMedia, MediaElsewhere } from '../http/intake.ts';
import type { LiveAudio } from '../http/live-audio.ts';
import type { Clock } from '../kernel/clock.ts';
import { sleep } from '../kernel/waiting.ts';
import type { MetricsSnapshot } from '../observability/metrics.ts';

/** Calls as carriers' routes and the API reach them, wherever they are: in this process, in media processes or on any machine. */
export interface ReachedCalls {
  readonly intake: CallIntake;
  readonly live: LiveCalls;
  readonly media: MediaElsewhere;
  readonly audio: LiveAudio;
  /** Gives out a value that a caller keyed, once, to one of these bots. */
  redeem(botNames: readonly string[], token: string): string | undefined | Promise<string | undefined>;
}

/** The calls of this machine: of its one process, or of its media processes. */
export interface LocalCalls extends ReachedCalls {
  /** Whether it is a live call, one that is dialled, or the leg of an agent. */
  has(callId: string): boolean;
  /** @param carrierKey `liveKey` */
  hasCarrierCall(carrierKey: string): boolean;
  /** Another attachment for a call that is alive; undefined where there is none. */
  again(inbound: Repeat): CallAnswer | undefined | Promise<CallAnswer | undefined>;
  /** Waits until a call that begins finds a recognition slot at hand, or none is free. */
  speechReady(): Promise<void>;
  /** Another machine goes on with the call: it ends here, and the carrier is told nothing. */
  giveUp(callId: string): void;
}

/** What a call that is alive is asked for again by. */
export type Repeat = Pick<InboundCall, 'carrier' | 'carrierCallId' | 'mode' | 'isRepeat' | 'next'>;

/** What has the calls of a gateway: its own process, or media processes behind it. */
export interface CallHost extends LocalCalls {
  readonly outbound: OutboundCalls;
  /** The calls themselves, where they are in this process. */
  readonly registry: CallRegistry | undefined;
  /** Media sockets that this process serves itself; undefined where all are handed over. */
  readonly expected: ExpectedMedia | undefined;
  /** Calls that hold a place: live ones, and those that are dialled. */
  readonly active: number;
  /** Whether new calls are refused because the gateway drains or stops. */
  readonly draining: boolean;
  /** The event loop that is latest, and whether calls are refused because all are late. */
  readonly load: { readonly lagMs: number; readonly shedding: boolean };
  /** Media processes that take calls, and how many there should be; undefined where there are none. */
  readonly mediaProcesses: { readonly up: number; readonly size: number } | undefined;
  /** Resolves when the bots' fixed sentences are in the cache, or could not be spoken. Calls are taken before that. */
  readonly prepared: Promise<void>;
  /** Speaks again what could not be spoken; media processes do so by themselves. */
  prepare(): void;
  /** Every process of the gateway as `GET /api/system` shows it, this one first. */
  processes(): SystemState['processes'];
  /** The numbers of all processes but this one. */
  metrics(): Promise<readonly MetricsSnapshot[]>;
  /**
   * Loads other bots.
   * @param use told when new calls get them
   * @throws OffhookError when a bot's dialog, or a vendor that it names, cannot be opened; `use` is not told then
   */
  loadBots(bots: readonly Bot[], use: () => void): Promise<void>;
  /** Takes calls from now on. @throws MediaProcessError when a process does not come up */
  start(): Promise<void>;
  /** Refuses new calls; resolves when the live ones have ended. */
  drain(): Promise<unknown>;
  /** Takes calls again. */
  takeCalls(): void;
  /** The gateway drains for good: a process that exits is not started again. */
  startNoMore(): void;
  /** Says goodbye to live calls, waits for their ends, and closes what they had. */
  close(): Promise<void>;
}

/** What a call host tells its gateway, and asks of it. */
export interface HostedBy {
  /** Where carriers find the legs of agents who are rung for warm transfers. */
  readonly legs: {
    readonly addresses: LegDoor['addresses'];
    placed(leg: Pick<OpenLeg, 'legId' | 'carrier'>, carrierCallId: string): void;
    closed(leg: Pick<OpenLeg, 'legId'>): void;
  };
  /** A carrier reported on a call that was dialled. */
  readonly dialReported: CallIntake['dialReported'];
  /** The media of a call that was dialled has come. */
  readonly begun: (callId: string, carrierKey: string) => void;
  /** A call is over, and its place free. */
  readonly over: (callId: string) => void;
}

/** Time for carriers to ask what comes behind the last words of a call. They are to be told to hang up, and not to find a port that is closed. */
const LAST_STEP_MS = 500;

/**
 * Whether a gateway takes new calls. Operators drain it and undo that, as often as they like; a gateway that stops drains for good.
 */
export class CallDrain implements DrainOrders {
  readonly #calls: Pick<CallHost, 'active' | 'drain' | 'takeCalls'>;
  readonly #clock: Clock;
  readonly #listeners: ((state: DrainState) => void)[] = [];
  #state: DrainState = 'taking-calls';
  #stops = false;
  #drained: Promise<void> | undefined;

  constructor(calls: Pick<CallHost, 'active' | 'drain' | 'takeCalls'>, clock: Clock) {
    this.#calls = calls;
    this.#clock = clock;
  }

  get state(): DrainState {
    return this.#state;
  }

  get draining(): boolean {
    return this.#state !== 'taking-calls';
  }

  get live(): number {
    return this.#calls.active;
  }

  /** @param listener hears each later state */
  onChange(listener: (state: DrainState) => void): void {
    this.#listeners.push(listener);
  }

  /** Refuses new calls; resolves when the live ones have ended, or the drain was undone and they have. */
  drain(): Promise<void> {
    if (this.#drained !== undefined) return this.#drained;
    this.#change('draining');
    const drained = this.end(() => this.#calls.drain()).then(() => {
      if (this.#drained === drained) this.#change('drained');
    });
    this.#drained = drained;
    return drained;
  }

  undo(): boolean {
    if (this.#stops) return false;
    if (this.#drained === undefined) return true;
    this.#drained = undefined;
    this.#calls.takeCalls();
    this.#change('taking-calls');
    return true;
  }

  /** The gateway stops: a drain cannot be undone from now on. */
  stop(): void {
    this.#stops = true;
  }

  /** @param end resolves when the calls have ended @returns resolves when their carriers had time to hear of it */
  async end(end: () => Promise<unknown>): Promise<void> {
    const hadCalls = this.live > 0;
    await end();
    if (hadCalls) await sleep(this.#clock, LAST_STEP_MS);
  }

  #change(state: DrainState): void {
    this.#state = state;
    for (const listener of this.#listeners) listener(state);
  }
}
