import { decodeAudio } from '../../audio/codec.ts';
import type { AudioFormat } from '../../audio/format.ts';
import type { Attachment, CallControl, MediaEvent } from '../../carriers/port.ts';
import type { Timer } from '../../kernel/clock.ts';
import type { DecisionLog } from './decision.ts';
import type { CallFixture, Entry } from './fixture.ts';
import { CarrierEnd } from './recorded-carrier.ts';
import { replayAnswer, median, type NoteStandIn, takeFirst } from './replayed-answer.ts';
import type { VirtualTime } from './virtual-time.ts';

type Kept<Kind extends Entry['k']> = Extract<Entry, { k: Kind }> & { readonly rank: number };

/** Delay of a mark's return, where the fixture has none. */
const USUAL_LAG_MS = 40;
/** Duration of a carrier action, where the fixture has none. */
const USUAL_ACT_MS = 150;

/** Recorded marks of a carrier. */
export class KeptMarks {
  readonly #marks = new Map<string, Kept<'mark'>[]>();
  readonly #lost: Set<string>;
  readonly #playedLagMs: number;
  /** Undefined where cleared marks do not return. */
  readonly #clearLagMs: number | undefined;

  constructor({ log, lostMarks }: CallFixture) {
    this.#lost = new Set(lostMarks);
    const played: number[] = [];
    const cleared: number[] = [];
    for (const [rank, entry] of log.entries()) {
      if (entry.k !== 'mark') continue;
      const key = `${entry.a}:${entry.name}`;
      this.#marks.set(key, [...(this.#marks.get(key) ?? []), { ...entry, rank }]);
      (entry.by === 'played' ? played : cleared).push(entry.lagMs);
    }
    this.#playedLagMs = median(played, USUAL_LAG_MS);
    const comeBack = log.some((entry) => entry.k === 'attached' && entry.capabilities.marksReturnOnClear === 'yes');
    this.#clearLagMs = cleared.length > 0 || comeBack ? median(cleared, USUAL_LAG_MS) : undefined;
  }

  /** Return times of a mark sent now: since it was due, and since a clear. */
  take(a: number, name: string): { readonly played: MarkReturn | undefined; readonly cleared: MarkReturn | undefined } {
    const key = `${a}:${name}`;
    const kept = this.#marks.get(key)?.shift();
    if (kept === undefined && this.#lost.has(key)) return { played: undefined, cleared: undefined };
    const usual = { lagMs: this.#playedLagMs, rank: undefined };
    const usualCleared = this.#clearLagMs === undefined ? undefined : { lagMs: this.#clearLagMs, rank: undefined };
    return {
      played: kept?.by === 'played' ? kept : usual,
      cleared: kept?.by === 'clear' ? kept : usualCleared,
    };
  }
}

interface MarkReturn {
  readonly lagMs: number;
  readonly rank: number | undefined;
}

/** A recorded carrier socket: plays what it is sent at once, and returns marks as late as recorded. */
export class ReplayedAttachment implements Attachment {
  readonly id: string;
  readonly carrier: string;
  readonly started: Attachment['started'];
  readonly capabilities: Attachment['capabilities'];
  readonly rateHz: number;
  readonly speechFormat: AudioFormat;
  readonly bufferedBytes = 0;
  readonly #number: number;
  readonly #time: VirtualTime;
  readonly #kept: KeptMarks;
  readonly #end: CarrierEnd;
  #outstanding: { readonly name: string; readonly timer: Timer | undefined; readonly cleared: MarkReturn | undefined }[] = [];
  #listener: (event: MediaEvent) => void = () => undefined;

  constructor(
    { a, carrier, format, speechFormat, capabilities }: Extract<Entry, { k: 'attached' }>,
    time: VirtualTime,
    marks: KeptMarks,
  ) {
    this.id = `replayed-${a}`;
    this.carrier = carrier;
    const wire = { inbound: format, outbound: speechFormat ?? format };
    this.started = { type: 'started', streamId: this.id, carrierCallId: 'replayed', ...wire, parameters: {} };
    this.rateHz = format.rateHz;
    this.speechFormat = wire.outbound;
    this.capabilities = capabilities;
    this.#number = a;
    this.#time = time;
    this.#kept = marks;
    this.#end = new CarrierEnd(this.speechFormat.rateHz);
  }

  listen(listener: (event: MediaEvent) => void): void {
    this.#listener = listener;
  }

  /** The carrier sends this event now. */
  emit(event: MediaEvent): void {
    this.#listener(event);
  }

  /** Caller audio arrives. @param payload in the fixture's format */
  hear(payload: Uint8Array, timestampMs: number | undefined): void {
    this.emit({ type: 'audio', pcm: decodeAudio(this.started.inbound.encoding, payload), timestampMs });
  }

  sendAudio(pcm: Int16Array): void {
    this.#end.sent(pcm.length, this.#time.nowMs());
  }

  sendMark(name: string): void {
    const { played, cleared } = this.#kept.take(this.#number, name);
    const timer = played === undefined ? undefined : this.#return(name, this.#end.at(this.#time.nowMs()), played);
    this.#outstanding.push({ name, timer, cleared });
  }

  sendClear(): void {
    const nowMs = this.#time.nowMs();
    this.#end.cleared(nowMs);
    const taken = this.#outstanding;
    this.#outstanding = [];
    for (const { name, timer, cleared } of taken) {
      timer?.cancel();
      if (cleared !== undefined) this.#return(name, nowMs, cleared);
    }
  }

  sendDigits(): void {
    // The result is not needed.
  }

  sendTransfer(): void {
    // The stream's end comes from the fixture.
  }

  close(): void {
    // Later carrier events are recorded, and an ended call ignores them.
  }

  #return(name: string, fromMs: number, { lagMs, rank }: MarkReturn): Timer {
    return this.#time.at(Math.round(fromMs + lagMs), rank, () => {
      this.#outstanding = this.#outstanding.filter((mark) => mark.name !== name);
      this.emit({ type: 'mark', name });
    });
  }
}

/** Recorded actions of the carrier. */
export function replayControl(
  { log, acts }: CallFixture,
  time: VirtualTime,
  decisions: DecisionLog,
  standIn: NoteStandIn,
): CallControl {
  const taken = new Set<number>();
  const act = async (what: string, signal: AbortSignal): Promise<void> => {
    decisions.note('carrier', what);
    const number = takeFirst(acts, taken, (kept) => kept.what === what);
    if (number === undefined) standIn('carrier', `"${what}" was not asked for then; it is done`);
    const parts =
      number === undefined
        ? [{ by: 'asked' as const, tookMs: USUAL_ACT_MS, rank: undefined, what: { failure: undefined } }]
        : log.flatMap((entry, rank) =>
            entry.k === 'acted' && entry.act === number ? [{ ...entry, rank, what: { failure: entry.failure } }] : [],
          );
    const wasAborted = parts.some(({ by }) => by === 'abort');
    for await (const _ of replayAnswer<never>(time, { parts, wasAborted }, signal));
  };
  // Whether an ended call was also hung up at its carrier depends on the account, and affects no decision.
  const wasHungUp = acts.some(({ what }) => what === 'hang up');
  return {
    hangUp: (_call, signal) => (wasHungUp ? act('hang up', signal) : Promise.resolve()),
    transfer: (_call, _to, signal) => act('transfer', signal),
    sendDigits: (_call, _digits, signal) => act('press keys', signal),
  };
}
