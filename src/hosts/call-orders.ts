import type { Socket } from 'node:net';
import type { LiveCall } from '../call/admission/live-calls.ts';
import type { Clock } from '../kernel/clock.ts';
import { within } from '../kernel/waiting.ts';
import type { LocalCalls, ReachedCalls } from './call-host.ts';
import { type Asked, type CallName, type CallOrderName, type Handlers, type TellName, TELLS } from './protocol.ts';

/** A holder of calls, by what it can be asked: the same for this process, its media processes and another machine. */
export type CallOrders = Handlers<CallOrderName>;

/** Obeys orders with the calls of this machine or process. */
export function ordersOn(calls: LocalCalls): CallOrders {
  const { intake, live, media, audio } = calls;
  return {
    answer: ({ inbound }) => intake.answer(inbound),
    again: async (inbound) => (await calls.again(inbound)) ?? null,
    reported: ({ callId, report }) => done(intake.dialReported(callId, report)),
    expect: ({ callId, attachmentId, withinMs }) => done(media.expect(callId, attachmentId, withinMs)),
    abandon: ({ callId, attachmentId, reason }) =>
      done(callId === undefined ? media.abandon(attachmentId, reason) : intake.abandon(callId, attachmentId, reason)),
    'key-reported': ({ digit, ...call }) => done(intake.keyReported(call, digit)),
    'carrier-ended': (call) => done(intake.carrierStatus(call, 'completed', true)),
    async media({ grant, early, ...upgrade }, socket) {
      await media.take(grant, { ...upgrade, early: Buffer.from(early, 'base64'), socket: socketOf(socket) });
      return null;
    },
    list: async () => [...(await live.list())],
    find: async ({ callId }) => (await live.find(callId)) ?? null,
    order: ({ callId, order, by }) => live.order(callId, order, by),
    async follow({ callId }) {
      const told = await live.follow(callId);
      return told === undefined ? null : { ...told, soFar: [...told.soFar] };
    },
    unfollow: ({ callId }) => done(live.unfollow(callId)),
    listen: ({ order, headers, early }, socket) =>
      audio.listen(order, { socket: socketOf(socket), headers, early: Buffer.from(early, 'base64') }),
    dismiss: ({ listenerId }) => done(audio.dismiss(listenerId)),
    redeem: async ({ bots, token }) => (await calls.redeem(bots, token)) ?? null,
  };
}

/** The calls that a holder of calls elsewhere obeys orders for, as carriers' routes and the API reach them. */
export function callsBehind(orders: CallOrders, onNews: ReachedCalls['live']['onNews']): ReachedCalls {
  return {
    intake: {
      answer: (inbound) => orders.answer({ inbound }),
      attach() {
        throw new TypeError('media attaches in its own process');
      },
      abandon: (callId, attachmentId, reason) => void orders.abandon({ callId, attachmentId, reason }),
      carrierStatus(call, _status, terminal) {
        if (terminal) void orders['carrier-ended'](call);
      },
      keyReported: (call, digit) => void orders['key-reported']({ ...call, digit }),
      dialReported: (callId, { carrier, carrierCallId, progress, witness }) =>
        void orders.reported({ callId, report: { carrier, carrierCallId, progress, witness } }),
    },
    live: {
      list: async () => orders.list(null),
      find: async (callId) => (await orders.find({ callId })) ?? undefined,
      order: async (callId, order, by) => orders.order({ callId, order, by }),
      follow: async (callId) => (await orders.follow({ callId })) ?? undefined,
      unfollow: (callId) => void orders.unfollow({ callId }),
      onNews,
    },
    media: {
      expect: (callId, attachmentId, withinMs) => void orders.expect({ callId, attachmentId, withinMs }),
      abandon: (attachmentId, reason) => void orders.abandon({ attachmentId, reason }),
      async take(grant, { socket, transport = 'websocket', headers, early, answered = false, address }) {
        const sent = Buffer.from(early).toString('base64');
        await orders.media({ grant, transport, headers: { ...headers }, early: sent, answered, address }, socket);
      },
    },
    audio: {
      listen: async (order, { socket, headers, early }) =>
        orders.listen({ order, headers: { ...headers }, early: early.toString('base64') }, socket),
      dismiss: (listenerId) => void orders.dismiss({ listenerId }),
    },
    redeem: async (botNames, token) => (await orders.redeem({ bots: [...botNames], token })) ?? undefined,
  };
}

/** Passes on everything that needs no answer. @param tell never throws */
export function tellers(tell: <Name extends TellName>(name: Name, asked: Asked<Name>) => void): Handlers<TellName> {
  const tellerOf = <Name extends TellName>(name: Name) => [name, (asked: Asked<Name>): null => done(tell(name, asked))] as const;
  return Object.fromEntries((Object.keys(TELLS) as TellName[]).map((name) => tellerOf(name))) as unknown as Handlers<TellName>;
}

const ABOUT: { readonly [Name in TellName]: { readonly about: (asked: Asked<Name>) => readonly CallName[] } } = TELLS;

/** Which calls something told is about; none where only their holder knows. */
export function callsOf<Name extends TellName>(name: Name, asked: Asked<Name>): readonly CallName[] {
  return ABOUT[name].about(asked);
}

/** The socket that comes with a question about media. @throws TypeError where it did not */
export function socketOf(socket: Socket | undefined): Socket {
  if (socket === undefined) throw new TypeError('the question came without its socket');
  return socket;
}

/** The answer to what was told. */
export function done(_told: void): null {
  return null;
}

/** How long a holder of calls, whose event loop or network may be late, gets to list them. */
const LIST_WITHIN_MS = 1_000;

/** The live calls of several holders as one list; of one that does not respond, its calls as it listed them last. */
export class ListedCalls<Holder extends object> {
  readonly #clock: Clock;
  readonly #last = new WeakMap<Holder, readonly LiveCall[]>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @param isAlive asked of calls that were listed before @returns oldest first */
  async list(
    holders: readonly Holder[],
    ask: (holder: Holder) => Promise<readonly LiveCall[]>,
    isAlive: (callId: string) => boolean = () => true,
  ): Promise<LiveCall[]> {
    const asked = holders.map(async (holder) => {
      const known = this.of(holder).filter(({ id }) => isAlive(id));
      const calls = await within(this.#clock, LIST_WITHIN_MS, ask(holder), known).catch(() => known);
      this.#last.set(holder, calls);
      return calls;
    });
    return (await Promise.all(asked)).flat().toSorted((one, other) => one.startedAtWallMs - other.startedAtWallMs);
  }

  /** As they were listed last. */
  of(holder: Holder): readonly LiveCall[] {
    return this.#last.get(holder) ?? [];
  }
}
