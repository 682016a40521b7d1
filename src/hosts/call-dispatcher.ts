import type { Socket } from 'node:net';
import {
  admit,
  type CallAnswer,
  type CallRefusal,
  type DoorOptions,
  type KeyedSlot,
  outboundRoom,
  placeOf,
  refusal,
} from '../call/admission/call-door.ts';
import type { CallRegistryOptions } from '../call/admission/call-registry.ts';
import type {
  GivenUp,
  GivenUpListener,
  OutboundCall,
  OutboundCalls,
  OutboundReport,
  ReservedCall,
} from '../call/admission/outbound-calls.ts';
import { carrierCallOf } from '../call/admission/reserved-calls.ts';
import type { NumberedNews } from '../call/log/followed-news.ts';
import { OrderRefusedError } from '../call/control/supervision.ts';
import { liveKey } from '../call/live-session.ts';
import { newId } from '../kernel/ids.ts';
import type { InboundCall } from '../carriers/port.ts';
import type { CallIntake } from '../http/intake.ts';
import type { Clock } from '../kernel/clock.ts';
import type { ReachedCalls, Repeat } from './call-host.ts';
import { callsBehind, callsOf, type CallOrders, ListedCalls, tellers } from './call-orders.ts';
import { MediaProcessError } from './errors.ts';
import type { MediaProcess } from './media-process.ts';
import type { Asked, Report, TellName } from './protocol.ts';

export interface CallDispatcherOptions
  extends Omit<DoorOptions<KeyedSlot>, 'shedding'>, Pick<CallRegistryOptions, 'onBegun' | 'onOver'> {
  /** All media processes that are not gone. */
  readonly processes: () => readonly MediaProcess[];
  /** Whether all of them are ending for good. */
  readonly stopping: () => boolean;
  /** The bot that a call has which a process died with; undefined for a call that is over. */
  readonly botOf?: (callId: string) => Promise<string | undefined>;
  /** Hears of dialled calls too. */
  readonly onDialReport?: CallIntake['dialReported'];
  readonly clock: Clock;
}

/** A call's place: counted from before its process is asked until it is over. */
interface Seat {
  readonly process: MediaProcess;
  readonly slot: KeyedSlot;
  readonly tenantId: string;
  /** The first answer; further ones wait for it. */
  answered: Promise<CallAnswer>;
  callId: string | undefined;
  /** `liveKey`; undefined for a call that is dialled, until its media comes. */
  carrierKey: string | undefined;
  /** A call that is dialled, until its media comes. */
  dialled: OutboundCall | undefined;
}

type Admitted = Extract<ReturnType<typeof admit<KeyedSlot>>, { kind: 'admit' }>;

/**
 * The calls of all media processes, as the front sees them: lets calls in, all of them together up to the limit, gives each
 * to the process that has the fewest, and finds that process again for whatever concerns the call.
 */
export class CallDispatcher implements OutboundCalls {
  /** The calls of all processes as those of one. */
  readonly calls: ReachedCalls;
  readonly #options: CallDispatcherOptions;
  readonly #seats = new Set<Seat>();
  readonly #byCarrierKey = new Map<string, Seat>();
  readonly #byCallId = new Map<string, Seat>();
  /** Agents' legs of warm transfers: in the process that has the caller, whatever its load, since the sound of both may meet there. */
  readonly #legs = new Map<string, MediaProcess>();
  readonly #listed: ListedCalls<MediaProcess>;
  readonly #givenUpListeners: GivenUpListener[] = [];
  /** Told when no call is left. */
  readonly #waiting: (() => void)[] = [];
  #onNews: (news: NumberedNews) => void = () => undefined;

  constructor(options: CallDispatcherOptions) {
    this.#options = options;
    this.#listed = new ListedCalls(options.clock);
    this.calls = callsBehind(this.#orders(), (listener) => (this.#onNews = listener));
  }

  /** What concerns a call is passed on to its process. */
  #orders(): CallOrders {
    const holderOf = (callId: string): MediaProcess | undefined => this.#byCallId.get(callId)?.process;
    return {
      ...tellers((name, asked) => this.#tell(name, asked)),
      reported: ({ callId, report }) => {
        this.reported(callId, report);
        this.#options.onDialReport?.(callId, report);
        return null;
      },
      answer: ({ inbound }) => this.#answer(inbound),
      again: async (inbound) => (await this.again(inbound)) ?? null,
      media: (asked, socket) => this.#processFor(asked.grant.callId, socket).ask('media', asked, socket),
      listen: (asked, socket) => this.#processFor(asked.order.callId, socket).ask('listen', asked, socket),
      list: () =>
        this.#listed.list(
          this.#options.processes(),
          (each) => each.ask('list', null),
          (callId) => this.#byCallId.has(callId),
        ),
      find: async (asked) => (await holderOf(asked.callId)?.ask('find', asked)) ?? null,
      follow: async (asked) => (await holderOf(asked.callId)?.ask('follow', asked)) ?? null,
      order: async (asked) => {
        const holder = holderOf(asked.callId);
        if (holder === undefined) throw new OrderRefusedError('The call is over.');
        return holder.ask('order', asked);
      },
      redeem: (asked) => this.#redeem(asked),
    };
  }

  /** Calls that are not over, and those that are dialled. */
  get active(): number {
    return this.#seats.size;
  }

  get room(): number {
    return this.#closed === undefined ? outboundRoom(this.#door, this.active) : 0;
  }

  /** Calls of one process that are not over. */
  callsOf(process: MediaProcess): number {
    return [...this.#seats].filter((seat) => seat.process === process).length;
  }

  /** Whether all processes that are up refuse calls because their event loops are late. */
  get shedding(): boolean {
    const up = this.#up;
    return up.length > 0 && up.every(({ load }) => load.shedding);
  }

  /** Whether a call of some process has this id: a live one, one that is dialled, or the leg of an agent. */
  readonly has = (callId: string): boolean => this.#processOf(callId) !== undefined;

  /** @param carrierKey `liveKey` */
  readonly hasCarrierCall = (carrierKey: string): boolean => this.#byCarrierKey.has(carrierKey);

  /** Another attachment for a call that is alive; undefined where there is none. */
  async again(inbound: Repeat): Promise<CallAnswer | undefined> {
    const { carrier, carrierCallId, mode, isRepeat, next } = inbound;
    const seat = this.#byCarrierKey.get(liveKey(inbound));
    const first = await seat?.answered;
    if (seat === undefined || first?.kind !== 'accept') return first;
    const again = await seat.process.ask('again', { carrier, carrierCallId, mode, isRepeat, next }).catch(() => null);
    if (again !== null) return again;
    this.#free(seat);
    return undefined;
  }

  /** Admits a call and has a process begin it; a call that is alive gets another attachment. */
  async #answer(asked: InboundCall): Promise<CallAnswer> {
    // The id decides the bot's version, here and in the process.
    const inbound = asked.next === undefined ? { ...asked, callId: asked.callId ?? newId('call') } : asked;
    // It may be over by the time its process is asked, and its place free.
    if (this.hasCarrierCall(liveKey(inbound))) return (await this.again(inbound)) ?? this.#answer(inbound);
    const goesOn = inbound.next !== undefined;
    const botName = goesOn ? await this.#options.botOf?.(inbound.next ?? '') : inbound.botName;
    if (goesOn && botName === undefined) return { kind: 'over' };
    const at = { active: this.#tenants, closed: this.#closed, goesOn, callId: inbound.next ?? inbound.callId };
    const admission = admit(this.#door, { ...inbound, botName }, at);
    if (admission.kind === 'refuse') return admission;
    return this.#begin(this.#emptiest(), admission, inbound);
  }

  /** @throws MediaProcessError when the process that was asked fails at it */
  async reserve(call: OutboundCall): Promise<ReservedCall | CallRefusal> {
    const { callId, tenantId } = call;
    const at = { active: this.#tenants, closed: this.#closed, leavesFree: true, tenantId, callId } as const;
    const admission = admit(this.#door, carrierCallOf(call), at);
    if (admission.kind === 'refuse') return admission;
    const { bot, reservation: slot } = admission;
    if (this.#byCallId.has(callId)) {
      slot.release();
      return refusal(bot, 'apology', 'lease');
    }
    const process = this.#emptiest();
    const answered = Promise.resolve({ kind: 'accept', callId, attachmentId: '' } as const);
    const seat: Seat = { process, slot, tenantId: call.tenantId, answered, callId, carrierKey: undefined, dialled: undefined };
    this.#seats.add(seat);
    this.#byCallId.set(callId, seat);
    const reserved = await process.ask('reserve', { call, place: placeOf(slot) }).catch((error: unknown) => {
      this.#free(seat);
      if (process.isUp) throw error;
      return undefined;
    });
    // Another process takes the place of one that ended under the question.
    if (reserved === undefined) return this.reserve(call);
    if (reserved.kind === 'refuse') {
      this.#free(seat);
      return reserved;
    }
    if (this.#options.stopping()) {
      this.release(callId, 'stopping');
      return refusal(bot, 'shutdown', 'stopping');
    }
    seat.dialled = call;
    return reserved;
  }

  release(callId: string, reason: string): void {
    const seat = this.#byCallId.get(callId);
    if (seat === undefined) return;
    seat.dialled = undefined;
    // Its process says when it is over.
    seat.process.tell('release', { callId, reason });
  }

  reported(callId: string, { carrier, carrierCallId, progress, witness }: OutboundReport): void {
    this.#processOf(callId)?.tell('reported', { callId, report: { carrier, carrierCallId, progress, witness } });
  }

  onGivenUp(listener: GivenUpListener): void {
    this.#givenUpListeners.push(listener);
  }

  /** What a process tells of a call that is followed. */
  readonly tellNews = (news: NumberedNews): void => this.#onNews(news);

  /** Gives up the calls that are dialled; resolves when no call is left. */
  drained(): Promise<void> {
    for (const dialled of [...this.#seats].flatMap((seat) => seat.dialled ?? [])) {
      this.release(dialled.callId, 'stopping');
      this.#tellGivenUp(dialled, 'stopping');
    }
    return this.active === 0 ? Promise.resolve() : new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** An agent is rung for a caller of this process. */
  readonly openLeg = (process: MediaProcess, legId: string): unknown => this.#legs.set(legId, process);

  readonly closeLeg = (legId: string): boolean => this.#legs.delete(legId);

  /** What a process says of one of its calls: its media has come, it is given up before that, or it is over. */
  heard(process: MediaProcess, report: Report & { readonly type: 'begun' | 'given-up' | 'over' }): void {
    const { callId } = report;
    const seat = this.#byCallId.get(callId) ?? this.#byCarrierKey.get(report.type === 'over' ? (report.carrierKey ?? '') : '');
    if (seat?.process !== process) return;
    switch (report.type) {
      case 'begun':
        seat.dialled = undefined;
        seat.carrierKey = report.carrierKey;
        this.#byCarrierKey.set(report.carrierKey, seat);
        this.#options.onBegun?.(callId, report.carrierKey);
        return;
      case 'given-up':
        this.#free(seat);
        if (seat.dialled !== undefined) this.#tellGivenUp(seat.dialled, report.why);
        return;
      case 'over':
        seat.callId ??= callId;
        return this.#free(seat);
    }
  }

  /** A process is gone, and its calls with it. @returns how many of those were alive */
  gone(process: MediaProcess): number {
    const lost = [...this.#seats].filter((seat) => seat.process === process);
    for (const seat of lost) this.#free(seat);
    for (const [legId, has] of this.#legs) if (has === process) this.#legs.delete(legId);
    const dialled = lost.flatMap((seat) => seat.dialled ?? []);
    for (const call of dialled) this.#tellGivenUp(call, 'process-died');
    return lost.length - dialled.length;
  }

  #tellGivenUp(call: OutboundCall, why: GivenUp): void {
    for (const listener of this.#givenUpListeners) listener(call, why);
  }

  /** @param socket closed where the call is over @throws MediaProcessError then */
  #processFor(callId: string, socket: Socket | undefined): MediaProcess {
    const process = this.#processOf(callId);
    if (process !== undefined) return process;
    socket?.destroy();
    throw new MediaProcessError('the call is over');
  }

  #processOf(callId: string): MediaProcess | undefined {
    return this.#byCallId.get(callId)?.process ?? this.#legs.get(callId);
  }

  #tell<Name extends TellName>(name: Name, asked: Asked<Name>): void {
    const about = callsOf(name, asked);
    const holders = about.map((call) =>
      'callId' in call ? this.#processOf(call.callId) : this.#byCarrierKey.get(call.carrierKey)?.process,
    );
    for (const process of about.length === 0 ? this.#options.processes() : new Set(holders)) process?.tell(name, asked);
  }

  /** Gives out a value that a caller keyed, once: the process that has it forgets it. */
  async #redeem(asked: Asked<'redeem'>): Promise<string | null> {
    if (asked.bots.length === 0) return null;
    const found = this.#options.processes().map(async (each) => {
      const value = await each.ask('redeem', asked);
      if (value === null) throw new MediaProcessError('this process does not have the value');
      return value;
    });
    return Promise.any(found).catch(() => null);
  }

  get #tenants(): string[] {
    return [...this.#seats].map(({ tenantId }) => tenantId);
  }

  get #door(): DoorOptions<KeyedSlot> {
    return { ...this.#options, shedding: () => this.shedding };
  }

  /** Why no call is taken; undefined where a process can be asked. */
  get #closed(): 'stopping' | 'process' | undefined {
    if (this.#options.stopping()) return 'stopping';
    return this.#up.length === 0 ? 'process' : undefined;
  }

  get #up(): readonly MediaProcess[] {
    return this.#options.processes().filter(({ isUp }) => isUp);
  }

  /** The process that has the fewest calls among those whose event loop is in time; there is one where a call was admitted. */
  #emptiest(): MediaProcess {
    const inTime = this.#up.filter(({ load }) => !load.shedding);
    const calls = new Map(inTime.map((process) => [process, this.callsOf(process)]));
    const [process] = inTime.toSorted((one, other) => (calls.get(one) ?? 0) - (calls.get(other) ?? 0));
    if (process === undefined) throw new TypeError('a call was admitted without a media process');
    return process;
  }

  #begin(process: MediaProcess, { bot, reservation: slot }: Admitted, inbound: InboundCall): Promise<CallAnswer> {
    const carrierKey = liveKey(inbound);
    const answered = process.ask('answer', { inbound, place: placeOf(slot) });
    const seat: Seat = { process, slot, tenantId: bot.tenant, answered, callId: undefined, carrierKey, dialled: undefined };
    this.#seats.add(seat);
    this.#byCarrierKey.set(carrierKey, seat);
    seat.answered = answered.then(
      (answer) => {
        if (answer.kind !== 'accept') this.#free(seat);
        else if (this.#seats.has(seat)) {
          seat.callId = answer.callId;
          this.#byCallId.set(answer.callId, seat);
        }
        return answer;
      },
      (error: unknown) => {
        this.#free(seat);
        // Another process takes the place of one that ended under the question.
        if (!process.isUp) return this.#answer(inbound);
        throw error;
      },
    );
    return seat.answered;
  }

  #free(seat: Seat): void {
    if (!this.#seats.delete(seat)) return;
    if (seat.carrierKey !== undefined) this.#byCarrierKey.delete(seat.carrierKey);
    if (seat.callId !== undefined) this.#byCallId.delete(seat.callId);
    seat.slot.release();
    if (seat.callId !== undefined) this.#options.onOver?.(seat.callId, seat.carrierKey);
    if (this.active > 0) return;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
