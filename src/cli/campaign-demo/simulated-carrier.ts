import type { OutboundCall, OutboundCalls } from '../../call/admission/outbound-calls.ts';
import { CarrierControlError, DialUnknownError } from '../../carriers/errors.ts';
import type { CallControl, DialEnd, DialOrder, DialProgress, FoundDial } from '../../carriers/port.ts';
import { localMs } from '../../outbound/gate/local-time.ts';
import type { CallRecord, NewCallRecord } from '../../records/record.ts';
import type { Person, Reaction } from './people.ts';
import type { VirtualDays } from './virtual-days.ts';

/** An order as the carrier saw it: what the demo is judged by. */
export interface CarrierOrder {
  readonly callId: string;
  readonly person: Person;
  readonly atMs: number;
  readonly reaction: Reaction;
  /** Undefined for an order that the carrier refused. */
  readonly carrierCallId: string | undefined;
  progress: DialProgress;
  endedAtMs: number | undefined;
}

/** Told of everything that the carrier reports. */
export interface CarrierListener {
  /** How far a call has come. */
  readonly reported: (
    callId: string,
    report: { carrier: string; carrierCallId: string; progress: DialProgress },
  ) => Promise<unknown>;
  /** An answered call is over: the record that the gateway would have made of it. */
  readonly recorded: (record: CallRecord | NewCallRecord) => Promise<unknown>;
}

export const CARRIER = 'twilio';
const RINGS_AFTER_MS = 1_000;
const ANSWERED_AFTER_MS = 8_000;
const BUSY_AFTER_MS = 2_000;
const EVENTS_EVERY_MS = 10_000;
const DAY_MS = 86_400_000;

/** What comes of an answered call, as the gateway's record has it. */
interface Talk {
  readonly lastsMs: number;
  readonly answeredBy: NonNullable<NonNullable<NewCallRecord['outbound']>['answeredBy']>;
  /** Whether the first sentence was heard. */
  readonly identified: boolean;
  readonly endReason: string;
  readonly optOut?: NonNullable<NewCallRecord['optOut']>['kind'];
  readonly how?: 'spoken' | 'keyed';
  readonly message?: 'all';
  readonly callsBack?: true;
}

const TALKS: Readonly<Partial<Record<Reaction, Talk>>> = {
  talks: { lastsMs: 42_000, answeredBy: 'person', identified: true, endReason: 'confirmed' },
  'answer-lost': { lastsMs: 42_000, answeredBy: 'person', identified: true, endReason: 'confirmed' },
  mailbox: { lastsMs: 25_000, answeredBy: 'mailbox', identified: true, endReason: 'message-left', message: 'all' },
  'mailbox-full': { lastsMs: 9_000, answeredBy: 'mailbox-full', identified: false, endReason: 'mailbox-full' },
  screened: { lastsMs: 20_000, answeredBy: 'screening', identified: true, endReason: 'caller-hung-up' },
  'says-stop': {
    lastsMs: 14_000,
    answeredBy: 'person',
    identified: true,
    endReason: 'opt-out',
    optOut: 'opt-out',
    how: 'spoken',
  },
  'presses-stop': {
    lastsMs: 9_000,
    answeredBy: 'person',
    identified: true,
    endReason: 'opt-out',
    optOut: 'opt-out',
    how: 'keyed',
  },
  'wrong-number': {
    lastsMs: 11_000,
    answeredBy: 'person',
    identified: true,
    endReason: 'opt-out',
    optOut: 'wrong-number',
    how: 'spoken',
  },
  'calls-back': { lastsMs: 16_000, answeredBy: 'person', identified: true, endReason: 'call-back', callsBack: true },
  'hangs-up-early': { lastsMs: 800, answeredBy: 'person', identified: false, endReason: 'caller-hung-up' },
  fax: { lastsMs: 6_000, answeredBy: 'fax', identified: false, endReason: 'fax' },
  silent: { lastsMs: 12_000, answeredBy: 'silence', identified: false, endReason: 'no-input' },
};

/** The places and recognition slots that a gateway would hold. */
class HeldPlaces implements OutboundCalls {
  readonly calls = new Map<string, OutboundCall>();
  readonly #places: number;

  constructor(places: number) {
    this.#places = places;
  }

  get room(): number {
    return this.#places - this.calls.size;
  }

  async reserve(call: OutboundCall): ReturnType<OutboundCalls['reserve']> {
    if (this.room <= 0) return { kind: 'refuse', cause: 'calls', reason: 'all places are taken', say: '', language: 'en' };
    this.calls.set(call.callId, call);
    return { kind: 'reserved', attachmentId: `att_${call.callId}` };
  }

  release(callId: string): void {
    this.calls.delete(callId);
  }

  reported(): void {}
  onGivenUp(): void {}
}

/** A carrier, the phones behind it, and the media of a gateway, at the level of orders, reports and records of calls: no sound. */
export class SimulatedCarrier implements CallControl {
  readonly orders: CarrierOrder[] = [];
  readonly outbound: HeldPlaces;
  readonly #byNumber: ReadonlyMap<string, Person>;
  readonly #time: VirtualDays;
  readonly #eventsMs = new Set<{ readonly atMs: number }>();
  #listener: CarrierListener | undefined;

  /** @param places calls at once */
  constructor(people: readonly Person[], time: VirtualDays, places: number) {
    this.#byNumber = new Map(people.map((person) => [person.number, person]));
    this.#time = time;
    this.outbound = new HeldPlaces(places);
  }

  listen(listener: CarrierListener): void {
    this.#listener = listener;
  }

  /** When the next thing happens at a phone; undefined where none rings. */
  get nextEventMs(): number | undefined {
    const moments = [...this.#eventsMs].map(({ atMs }) => atMs);
    return moments.length === 0 ? undefined : Math.min(...moments);
  }

  readonly dialling = {
    capabilities: { callsPerSecond: 1, detectsMachines: false, canFind: true },
    dial: async (order: DialOrder): Promise<{ carrierCallId: string }> => {
      const { callId, to } = order;
      const person = this.#byNumber.get(to);
      if (person === undefined) throw new CarrierControlError('nobody has this number', { retryable: false });
      const before = this.orders.filter((each) => each.person === person).length;
      const reaction = person.reactions[Math.min(before, person.reactions.length - 1)] ?? 'talks';
      const carrierCallId = reaction === 'line-down' ? undefined : `CA${callId}`;
      const placed: CarrierOrder = {
        callId,
        person,
        atMs: this.#time.wallMs(),
        reaction,
        carrierCallId,
        progress: { state: 'queued' },
        endedAtMs: carrierCallId === undefined ? this.#time.wallMs() : undefined,
      };
      this.orders.push(placed);
      if (carrierCallId === undefined) {
        throw new CarrierControlError('the carrier is out of order', {
          retryable: true,
          surelyNotDone: true,
          facts: { status: 503 },
        });
      }
      this.#ring(placed, carrierCallId, order);
      if (reaction === 'answer-lost') throw new DialUnknownError('the answer of the carrier was lost');
      return { carrierCallId };
    },
    find: async ({ callId }: Pick<DialOrder, 'callId'>): Promise<FoundDial> => {
      const order = this.orders.find((each) => each.callId === callId);
      return order?.carrierCallId === undefined
        ? { found: 'not-placed' }
        : { found: 'placed', carrierCallId: order.carrierCallId, progress: order.progress };
    },
    progressOf: async (carrierCallId: string): Promise<DialProgress | undefined> =>
      this.orders.find((each) => each.carrierCallId === carrierCallId)?.progress,
  };

  async hangUp(carrierCallId: string): Promise<void> {
    const order = this.orders.find((each) => each.carrierCallId === carrierCallId);
    if (order !== undefined && order.endedAtMs === undefined) this.#end(order, 'cancelled');
  }
  async transfer(): Promise<void> {}
  async sendDigits(): Promise<void> {}

  #ring(order: CarrierOrder, carrierCallId: string, { ringTimeoutMs, from }: DialOrder): void {
    this.#later(RINGS_AFTER_MS, () => this.#progress(order, { state: 'ringing' }));
    const talk = TALKS[order.reaction];
    if (talk === undefined) {
      const [afterMs, end] = unansweredEnd(order.reaction, ringTimeoutMs);
      this.#later(afterMs, () => this.#end(order, end));
      return;
    }
    this.#later(ANSWERED_AFTER_MS, () => this.#progress(order, { state: 'answered' }));
    this.#later(ANSWERED_AFTER_MS + talk.lastsMs, () => {
      const held = this.outbound.calls.get(order.callId);
      this.#end(order, 'completed');
      const record = recordOf(order, carrierCallId, talk, { from, endedAtMs: this.#time.wallMs(), campaignId: held?.campaignId });
      this.#tell(this.#listener?.recorded(record));
    });
  }

  #end(order: CarrierOrder, outcome: DialEnd): void {
    if (order.endedAtMs !== undefined) return;
    order.endedAtMs = this.#time.wallMs();
    this.#progress(order, { state: 'ended', outcome });
  }

  #progress(order: CarrierOrder, progress: DialProgress): void {
    const { callId, carrierCallId = '' } = order;
    if (order.progress.state === 'ended') return;
    order.progress = progress;
    this.#tell(this.#listener?.reported(callId, { carrier: CARRIER, carrierCallId, progress }));
  }

  #tell(work: Promise<unknown> | undefined): void {
    if (work !== undefined) void this.#time.hold(work);
  }

  #later(afterMs: number, run: () => void): void {
    // In steps, so that much happens at once.
    const atMs = Math.ceil((this.#time.wallMs() + afterMs) / EVENTS_EVERY_MS) * EVENTS_EVERY_MS;
    const event = { atMs };
    this.#eventsMs.add(event);
    this.#time.after(atMs - this.#time.wallMs(), () => {
      this.#eventsMs.delete(event);
      run();
    });
  }
}

function unansweredEnd(reaction: Reaction, ringTimeoutMs: number): [afterMs: number, end: DialEnd] {
  if (reaction === 'busy') return [BUSY_AFTER_MS, 'busy'];
  return reaction === 'declines' ? [ANSWERED_AFTER_MS, 'rejected'] : [ringTimeoutMs, 'no-answer'];
}

/** What the gateway keeps of such a call. */
function recordOf(
  { callId, person, atMs }: CarrierOrder,
  carrierCallId: string,
  { lastsMs, answeredBy, identified, endReason, optOut, how = 'spoken', message, callsBack }: Talk,
  about: { readonly from: string; readonly endedAtMs: number; readonly campaignId: string | undefined },
): NewCallRecord {
  const { from, endedAtMs, campaignId } = about;
  return {
    id: callId,
    tenantId: 'default',
    revision: 1,
    botName: 'reminder',
    carrier: CARRIER,
    carrierCallId,
    from,
    to: person.number,
    direction: 'outbound',
    language: 'en',
    startedAtMs: atMs,
    answeredAtMs: atMs + ANSWERED_AFTER_MS,
    endedAtMs,
    endReason,
    digits: how === 'keyed' ? '9' : '',
    outbound: { campaignId, answeredBy, opinions: [{ by: answeredBy, atMs: 700, confidence: 0.97 }], message, identified },
    ...(optOut === undefined ? {} : { optOut: { kind: optOut, how, atMs: endedAtMs - 3_000 } }),
    ...(callsBack === undefined ? {} : { callBackAtMs: mondayAtFive(person.zone, endedAtMs) }),
    summary: { durationMs: lastsMs },
    legs: [],
    attachments: [],
    turns: [],
    timeline: [],
  };
}

/** The next Monday, 17:00, on the clock of a zone. */
export function mondayAtFive(zone: string, afterMs: number): number {
  const local = new Date(localMs(zone, afterMs));
  const daysAhead = (8 - local.getUTCDay()) % 7 || 7;
  const wanted = Date.UTC(local.getUTCFullYear(), local.getUTCMonth(), local.getUTCDate(), 17) + daysAhead * DAY_MS;
  // The offset may change on the way.
  const guess = wanted - (localMs(zone, afterMs) - afterMs);
  return guess - (localMs(zone, guess) - wanted);
}
