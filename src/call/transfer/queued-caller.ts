import { fillPhrase, type PhraseSet } from '../../config/bot-phrases.ts';
import type { DialogAction } from '../../dialog/port.ts';
import type { TransferOutcome } from '../turn/farewell-state.ts';
import type { TransferQueues } from './transfer-queues.ts';

/** An agent who was busy or did not answer is rung again after this. */
const RING_AGAIN_MS = 15_000;
/** An agent who declined, and a carrier that would not, are not asked again. */
const RUNG_AGAIN: ReadonlySet<TransferOutcome> = new Set(['busy', 'no-answer', 'voicemail', 'dropped']);

type Queued = NonNullable<NonNullable<(DialogAction & { readonly type: 'transfer' })['warm']>['queue']>;

/** The caller of one call in the line for an agent: when the agent is rung, what the caller hears, and when they have waited for long enough. */
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

  /** Whether the agent is to be rung for this caller now. */
  mayRing(nowMs: number): boolean {
    return this.place === 1 && nowMs >= this.#ringsAtMs;
  }

  hasWaited(nowMs: number): boolean {
    return nowMs >= this.#untilMs;
  }

  /** The agent was rung in vain. @returns whether they are rung again */
  waitsOn(outcome: TransferOutcome, nowMs: number): boolean {
    if (!RUNG_AGAIN.has(outcome) || this.hasWaited(nowMs)) return false;
    this.#ringsAtMs = nowMs + RING_AGAIN_MS;
    return true;
  }

  /** Whether the caller has not heard yet that they have come forward. */
  get isNews(): boolean {
    return this.place !== this.#toldPlace;
  }

  /** What the caller hears of their place. */
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
