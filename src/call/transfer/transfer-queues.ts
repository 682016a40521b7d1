import { fillPhrase, type PhraseSet } from '../../config/bot-phrases.ts';
import type { DialogAction } from '../../dialog/port.ts';
import type { TransferOutcome } from '../turn/farewell-state.ts';

/** Callers of one process waiting for the same agent, in order of arrival. */
export class TransferQueues {
  readonly #lines = new Map<string, string[]>();

  /** @returns the caller's place, from 1; a new caller comes last */
  place(tenantId: string, to: string, callId: string): number {
    const name = nameOf(tenantId, to);
    const line = this.#lines.get(name) ?? [];
    if (!line.includes(callId)) line.push(callId);
    this.#lines.set(name, line);
    return line.indexOf(callId) + 1;
  }

  /** The caller leaves the queue. */
  leave(tenantId: string, to: string, callId: string): void {
    const name = nameOf(tenantId, to);
    const line = (this.#lines.get(name) ?? []).filter((each) => each !== callId);
    if (line.length === 0) this.#lines.delete(name);
    else this.#lines.set(name, line);
  }
}

function nameOf(tenantId: string, to: string): string {
  return JSON.stringify([tenantId, to]);
}

/** Delay before ringing a busy or unanswering agent again. */
const RING_AGAIN_MS = 15_000;
/** Outcomes after which the agent is rung again; not after the agent declined or the carrier refused. */
const RUNG_AGAIN: ReadonlySet<TransferOutcome> = new Set(['busy', 'no-answer', 'voicemail', 'dropped']);

type Queued = NonNullable<NonNullable<(DialogAction & { readonly type: 'transfer' })['warm']>['queue']>;

/** One caller in an agent's queue: when the agent is rung, what the caller hears, and when the wait is over. */
export class QueuedCaller {
  readonly action: DialogAction & { readonly type: 'transfer' };
  readonly sinceWallMs: number;
  readonly #queue: Queued;
  readonly #queues: TransferQueues;
  readonly #who: { readonly tenantId: string; readonly callId: string };
  readonly #untilMs: number;
  #ringsAtMs: number;
  #toldPlace: number | undefined;

  constructor(
    action: DialogAction & { readonly type: 'transfer' },
    queue: Queued,
    queues: TransferQueues,
    who: { readonly tenantId: string; readonly callId: string },
    now: { readonly nowMs: number; readonly wallMs: number },
  ) {
    this.action = action;
    this.#queue = queue;
    this.#queues = queues;
    this.#who = who;
    this.sinceWallMs = now.wallMs;
    this.#untilMs = now.nowMs + queue.maxWaitMs;
    this.#ringsAtMs = now.nowMs;
  }

  /** From 1 on. */
  get place(): number {
    return this.#queues.place(this.#who.tenantId, this.action.to, this.#who.callId);
  }

  /** Whether to ring the agent for this caller now. */
  mayRing(nowMs: number): boolean {
    return this.place === 1 && nowMs >= this.#ringsAtMs;
  }

  hasWaited(nowMs: number): boolean {
    return nowMs >= this.#untilMs;
  }

  /** The agent was rung without success. @returns whether to ring again */
  waitsOn(outcome: TransferOutcome, nowMs: number): boolean {
    if (!RUNG_AGAIN.has(outcome) || this.hasWaited(nowMs)) return false;
    this.#ringsAtMs = nowMs + RING_AGAIN_MS;
    return true;
  }

  /** Whether the caller has moved up since the last announcement. */
  get isNews(): boolean {
    return this.place !== this.#toldPlace;
  }

  /** The announcement of the caller's place. */
  announcement(phrases: PhraseSet): string {
    const { place } = this;
    this.#toldPlace = place;
    const said = place === 1 ? phrases.queueNext : fillPhrase(phrases.queuePlace, { place: String(place) });
    return this.#queue.say === undefined ? said : `${said} ${this.#queue.say}`;
  }

  leave(): void {
    this.#queues.leave(this.#who.tenantId, this.action.to, this.#who.callId);
  }
}
