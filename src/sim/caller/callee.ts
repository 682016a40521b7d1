import { type Clock, systemClock, type Timer } from '../../kernel/clock.ts';
import { sleep } from '../../kernel/waiting.ts';
import type { LineOptions } from '../carrier-line.ts';
import type { CallerLine } from './caller.ts';

/** One order for a call, as a simulated carrier got it. */
export interface SimulatedOrder {
  /** E.164, both. */
  readonly from: string;
  readonly to: string;
  /** The id that the call has at the carrier, if it is placed. */
  readonly carrierCallId: string;
  readonly statusUrl: string;
  readonly ringTimeoutMs: number;
  readonly maxDurationMs: number;
  readonly detectMachine: boolean;
  /** 0 for the first order of this carrier. */
  readonly index: number;
}

/** How the carrier answers an order. */
export type OrderAnswer =
  /** @param queueMs the carrier waits for so long before it dials, and says so where it can */
  | { readonly kind: 'taken'; readonly afterMs?: number; readonly queueMs?: number }
  /** No call is placed. `code` is the carrier's. */
  | { readonly kind: 'refused'; readonly status: number; readonly code?: number | string | undefined; readonly message?: string }
  /** A fault, behind which a call may have been placed all the same. */
  | { readonly kind: 'fault'; readonly status: number; readonly placed: boolean }
  /** The connection ends without an answer. */
  | { readonly kind: 'lost'; readonly placed: boolean; readonly afterMs?: number };

/** How reports on a call reach the gateway: each after the next one, each twice, or not at all. */
export type ReportOrder = 'in-order' | 'swapped' | 'twice' | 'never';

/** What a carrier's own detection says of who answered; `machine-done` once the greeting is over. */
export type Detection = 'person' | 'machine' | 'machine-done' | 'fax' | 'unknown';

export type CalleeOutcome =
  | { readonly kind: 'busy' | 'no-answer' | 'rejected' }
  /** @param sip the network's answer; `code` is the carrier's own */
  | { readonly kind: 'failed'; readonly sip: number; readonly code?: string }
  | {
      readonly kind: 'answered';
      /** What the person does; `ScriptedCaller` fits, with `fullMedia`. The person hangs up when it resolves. */
      readonly talk?: (line: CallerLine) => Promise<unknown>;
      /** The person hangs up so long after their media stream started; without this and `talk` they wait for the bot to do it. */
      readonly hangUpAfterMs?: number;
      /** What the carrier's detection says, so long after the answer; only where the order asks for it. */
      readonly detected?: readonly { readonly as: Detection; readonly afterMs: number }[];
      /** Media frame by frame, with all that was said kept; without it media costs next to nothing, and nothing is heard. */
      readonly fullMedia?: boolean;
      /** How bad the line is. */
      readonly stream?: LineOptions;
    };

/** Somebody who is called, and how the carrier carries the call to them. */
export interface SimulatedCallee {
  readonly order?: OrderAnswer;
  /** From the order to the first ring. */
  readonly dialMs?: number;
  /** Ringing before the outcome. Rings longer than the order allows end as unanswered. */
  readonly ringMs?: number;
  readonly outcome: CalleeOutcome;
  readonly reports?: ReportOrder;
}

/** Who is at the other end of each order. */
export type OnDial = (order: SimulatedOrder) => SimulatedCallee;

/** Where a dialled call stands. */
export type DialledState =
  | 'queued'
  | 'ringing'
  | 'answered'
  | 'completed'
  | 'busy'
  | 'no-answer'
  | 'rejected'
  | 'failed'
  | 'cancelled';

/** Something that a carrier reports of a call. */
export type DialledNews =
  | { readonly state: DialledState; readonly sip?: number; readonly code?: string }
  | { readonly detected: Detection };

/** What one carrier does for a call that it dialled. */
export interface CarrierSide {
  /** Sends a signed report. May reject: nobody may be listening. */
  report(news: DialledNews): Promise<unknown>;
  /** Obeys the answer document of the order. @throws when no media stream opens */
  open(fullMedia: boolean, stream?: LineOptions): Promise<CallerLine>;
  /** Resolves when the call is over at the carrier, whoever ended it, once it was answered. */
  readonly ended: Promise<unknown>;
  /** Ends an answered call. */
  hangUp(): Promise<unknown>;
}

const DEFAULT_DIAL_MS = 20;
const DEFAULT_RING_MS = 500;
/** The answer of SIP that stands for each end. */
const SIP: Partial<Record<DialledState, number>> = { busy: 486, rejected: 603, 'no-answer': 487, cancelled: 487 };

/** One phone that rings: acts as its script says, and has the carrier report on it. */
export class DialledPhone {
  readonly order: SimulatedOrder;
  /** On the carrier's wall clock. */
  readonly createdAtMs: number;
  /** When it was answered, on the same clock. */
  answeredAtMs: number | undefined;
  state: DialledState = 'queued';
  /** Resolves when the call is over and everything was reported. Never rejects. */
  readonly over: Promise<void>;
  readonly #callee: SimulatedCallee;
  readonly #clock: Clock;
  readonly #side: CarrierSide;
  readonly #cancelled = new AbortController();
  readonly #timers: Timer[] = [];
  #reports: Promise<unknown> = Promise.resolve();
  #held: DialledNews | undefined;

  constructor(order: SimulatedOrder, callee: SimulatedCallee, clock: Clock, side: CarrierSide) {
    this.order = order;
    this.#callee = callee;
    this.#clock = clock;
    this.#side = side;
    this.createdAtMs = clock.wallMs();
    this.over = this.#run();
  }

  get isOver(): boolean {
    return !['queued', 'ringing', 'answered'].includes(this.state);
  }

  /** Ends the call over REST, whatever it is doing. */
  cancel(): void {
    if (this.state === 'answered') void this.#side.hangUp();
    else this.#cancelled.abort(new Error('the call was cancelled'));
  }

  async #run(): Promise<void> {
    const { order: answer, outcome, dialMs = DEFAULT_DIAL_MS, ringMs = DEFAULT_RING_MS } = this.#callee;
    const queueMs = answer?.kind === 'taken' ? (answer.queueMs ?? 0) : 0;
    try {
      await this.#wait(queueMs);
      this.#tell({ state: 'queued' });
      await this.#wait(dialMs);
      if (outcome.kind === 'failed') return await this.#end('failed', outcome.sip, outcome.code);
      this.#tell({ state: 'ringing' });
      const { ringTimeoutMs } = this.order;
      await this.#wait(outcome.kind === 'no-answer' ? ringTimeoutMs : Math.min(ringMs, ringTimeoutMs));
    } catch {
      return await this.#end('cancelled');
    }
    if (outcome.kind !== 'answered') return await this.#end(outcome.kind);
    if (ringMs >= this.order.ringTimeoutMs) return await this.#end('no-answer');
    await this.#talk(outcome);
    await this.#end('completed', 200);
  }

  async #talk({
    talk,
    hangUpAfterMs,
    detected = [],
    fullMedia = false,
    stream,
  }: CalleeOutcome & { kind: 'answered' }): Promise<void> {
    this.answeredAtMs = this.#clock.wallMs();
    this.#tell({ state: 'answered' });
    if (this.order.detectMachine)
      for (const { as, afterMs } of detected) this.#after(afterMs, () => this.#tell({ detected: as }));
    this.#after(this.order.maxDurationMs, () => void this.#side.hangUp());
    try {
      const line = await this.#side.open(fullMedia, stream);
      // Counted from the first media: the gateway's sockets take real time, which a manual clock runs ahead of.
      if (hangUpAfterMs !== undefined) this.#after(hangUpAfterMs, () => void this.#side.hangUp());
      if (talk !== undefined)
        void talk(line).then(
          () => this.#side.hangUp(),
          () => this.#side.hangUp(),
        );
    } catch {
      // The gateway let no stream in: the document has nothing behind it, and the call ends.
    }
    await this.#side.ended;
    for (const timer of this.#timers) timer.cancel();
  }

  async #end(state: DialledState, sip = SIP[state], code?: string): Promise<void> {
    this.#tell({ state, ...(sip === undefined ? {} : { sip }), ...(code === undefined ? {} : { code }) });
    if (this.#held !== undefined) this.#send(this.#held);
    await this.#reports;
  }

  #tell(news: DialledNews): void {
    if ('state' in news) this.state = news.state;
    switch (this.#callee.reports ?? 'in-order') {
      case 'never':
        return;
      case 'in-order':
        return this.#send(news);
      case 'twice':
        this.#send(news);
        return this.#send(news);
      case 'swapped': {
        const before = this.#held;
        this.#held = before === undefined ? news : undefined;
        if (before === undefined) return;
        this.#send(news);
        return this.#send(before);
      }
    }
  }

  /** One report at a time, each whatever became of the one before. */
  #send(news: DialledNews): void {
    this.#reports = this.#reports.then(() => this.#side.report(news)).catch(() => undefined);
  }

  #after(delayMs: number, run: () => void): void {
    this.#timers.push(this.#clock.after(delayMs, run));
  }

  #wait(delayMs: number): Promise<void> {
    return delayMs === 0 ? Promise.resolve() : sleep(this.#clock, delayMs, this.#cancelled.signal);
  }
}

/** A time zone in which it is between 12:00 and 13:00 now, so that a simulated person there may be called at any time of day. */
export function zoneAtNoon(): string {
  // The sign of these names is the other way round: Etc/GMT+5 is five hours behind UTC.
  const hours = new Date(systemClock.wallMs()).getUTCHours() - 12;
  return `Etc/GMT${hours >= 0 ? '+' : ''}${hours}`;
}
