import { z } from 'zod';
import { ANSWERED_BY } from '../../config/answered-by.ts';
import type { CallRegistry } from './call-registry.ts';
import { LIVE_PHASES, TRANSFER_STATES, type LiveSession } from '../live-session.ts';
import type { FollowedNews, NumberedNews, ToldSoFar } from '../log/followed-news.ts';
import { type CallOrder, OrderRefusedError } from '../control/supervision.ts';

/** Lag is shared by all calls and always moves: in finer steps, every call would change with each measurement. */
const LATE_STEP_MS = 50;

/** How a live call fares, in ms. */
const callHealth = z.object({
  /** Total inbound audio that never arrived. */
  holesMs: z.number(),
  /** How late outbound audio plays, or the event loop runs: the greater of the two recently, in steps of 50 ms. */
  lateMs: z.number(),
  /** How long the caller waited for the last reply; absent before the first. */
  lastReplyMs: z.number().optional(),
});

/** A live call at a glance, as data that can pass between processes. */
export const liveCall = z.object({
  id: z.string(),
  tenantId: z.string(),
  bot: z.string(),
  carrier: z.string(),
  from: z.string(),
  to: z.string(),
  direction: z.enum(['inbound', 'outbound']),
  /** A call between people that is only listened to: the bot's texts are those of the other party. */
  mode: z.literal('listen').optional(),
  startedAtWallMs: z.number(),
  phase: z.enum(LIVE_PHASES),
  muted: z.boolean(),
  /** When a muted bot is unmuted automatically. */
  mutedUntilWallMs: z.number().optional(),
  /** Who muted it, as named in the audit log. */
  mutedBy: z.string().optional(),
  turns: z.int(),
  /** Text of the last turn. */
  callerText: z.string(),
  botText: z.string(),
  /** The agent who is rung for the caller, or is talking to them through the gateway. */
  transfer: z.object({ to: z.string(), state: z.enum(TRANSFER_STATES), sinceWallMs: z.number() }).optional(),
  /** Who or what answered an outbound call, once known. */
  answeredBy: z.enum(ANSWERED_BY).optional(),
  /** Who has taken the call over by voice, as named in the audit log. */
  takenOver: z.string().optional(),
  health: callHealth,
});

export type LiveCall = z.infer<typeof liveCall>;

/** The live calls of a gateway, in whichever process, and the orders they take. */
export interface LiveCalls {
  /** Oldest first. */
  list(): Promise<readonly LiveCall[]>;
  find(callId: string): Promise<LiveCall | undefined>;
  /**
   * Carries out an order from outside the call.
   * @param by who gave it, for the record
   * @returns the call as it stands afterwards
   * @throws OrderRefusedError, CarrierControlError
   */
  order(callId: string, order: CallOrder, by: string): Promise<LiveCall>;
  /** Starts following a call's news. @returns undefined for an unknown call */
  follow(callId: string): Promise<ToldSoFar | undefined>;
  unfollow(callId: string): void;
  /** Hears the news of all followed calls; replaces the earlier listener. */
  onNews(listener: (news: NumberedNews) => void): void;
}

/** What `liveCallsOf` needs of one process. */
export interface LiveCallsParts {
  readonly registry: Pick<CallRegistry, 'calls' | 'order' | 'dialled' | 'orderDialled'>;
  /** Event-loop lag of the process. */
  readonly load: { readonly lagMs: number };
  readonly followed: FollowedNews;
}

/** The live calls of this process. */
export function liveCallsOf({ registry, load, followed }: LiveCallsParts): LiveCalls {
  const seen = (session: LiveSession): LiveCall => seenSession(session, load.lagMs);
  const sessionOf = (callId: string): LiveSession | undefined => registry.calls.find(({ id }) => id === callId);
  const dialledOf = (callId: string) => registry.dialled.find(({ call }) => call.callId === callId);
  return {
    list: async () =>
      [...registry.calls.map(seen), ...registry.dialled.map(seenDialled)].toSorted(
        (one, other) => one.startedAtWallMs - other.startedAtWallMs,
      ),
    async find(callId) {
      const [session, dialled] = [sessionOf(callId), dialledOf(callId)];
      if (session !== undefined) return seen(session);
      return dialled && seenDialled(dialled);
    },
    async order(callId, order, by) {
      const [session, dialled] = [sessionOf(callId), dialledOf(callId)];
      if (dialled !== undefined) {
        registry.orderDialled(callId, order);
        return seenDialled(dialled);
      }
      if (session === undefined) throw new OrderRefusedError('The call is over.');
      await registry.order(session, order, by);
      return seen(session);
    },
    async follow(callId) {
      const session = sessionOf(callId);
      if (session === undefined && dialledOf(callId) === undefined) return undefined;
      return { number: followed.follow(callId), soFar: session?.soFar ?? [] };
    },
    unfollow: (callId) => followed.unfollow(callId),
    onNews: (listener) => followed.onNews(listener),
  };
}

/**
 * How many live calls each carrier has.
 * @param carriers also listed when they have no call
 */
export function callsByCarrier(
  { calls, dialled }: Pick<CallRegistry, 'calls' | 'dialled'>,
  carriers: Iterable<string>,
): ReadonlyMap<string, number> {
  const counts = new Map([...carriers].map((carrier) => [carrier, 0]));
  const live = [...calls.map(({ identity }) => identity.inbound.carrier), ...dialled.map(({ call }) => call.carrier)];
  for (const carrier of live) counts.set(carrier, (counts.get(carrier) ?? 0) + 1);
  return counts;
}

function seenSession(session: LiveSession, lagMs: number): LiveCall {
  const { id, identity, attached, standing } = session;
  const { tenantId, bot, inbound } = identity;
  const { holesMs, lateMs, lastReplyMs } = standing;
  const steps = Math.floor(Math.max(lateMs, lagMs) / LATE_STEP_MS);
  // One object literal: a spread makes it twenty times as slow.
  return {
    id,
    tenantId,
    bot: bot.name,
    carrier: inbound.carrier,
    from: inbound.from,
    to: inbound.to,
    direction: inbound.direction,
    mode: inbound.mode,
    startedAtWallMs: standing.startedAtWallMs,
    phase: attached ? standing.phase : 'connecting',
    muted: standing.muted,
    mutedUntilWallMs: standing.mutedUntilWallMs,
    mutedBy: standing.mutedBy,
    turns: standing.turns,
    callerText: standing.callerText,
    botText: standing.botText,
    transfer: standing.transfer,
    answeredBy: standing.answeredBy,
    takenOver: standing.takenOver,
    health: { holesMs: Math.round(holesMs), lateMs: steps * LATE_STEP_MS, lastReplyMs },
  };
}

function seenDialled({ call, sinceWallMs, ringing }: CallRegistry['dialled'][number]): LiveCall {
  const { callId: id, tenantId, botName: bot, carrier, from, to } = call;
  const about = { id, tenantId, bot, carrier, from, to, direction: 'outbound', startedAtWallMs: sinceWallMs } as const;
  const health = { holesMs: 0, lateMs: 0 };
  return { ...about, phase: ringing ? 'ringing' : 'dialling', muted: false, turns: 0, callerText: '', botText: '', health };
}
