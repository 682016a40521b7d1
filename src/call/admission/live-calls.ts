import { z } from 'zod';
import { ANSWERED_BY } from '../../config/answered-by.ts';
import type { CallRegistry } from './call-registry.ts';
import { LIVE_PHASES, TRANSFER_STATES, type LiveSession } from '../live-session.ts';
import { type CallOrder, OrderRefusedError } from '../control/supervision.ts';

/** A live call at a glance, as data, so that another process can be told of it. */
export const liveCall = z.object({
  id: z.string(),
  tenantId: z.string(),
  bot: z.string(),
  carrier: z.string(),
  from: z.string(),
  to: z.string(),
  direction: z.enum(['inbound', 'outbound']),
  /** A call between people, which is listened to: the bot's texts are whoever the caller talks to. */
  mode: z.literal('listen').optional(),
  startedAtWallMs: z.number(),
  phase: z.enum(LIVE_PHASES),
  muted: z.boolean(),
  /** When a muted bot gets its voice back by itself. */
  mutedUntilWallMs: z.number().optional(),
  turns: z.int(),
  /** Of the last turn. */
  callerText: z.string(),
  botText: z.string(),
  /** The agent who is rung for the caller, or talks to them through the gateway. */
  transfer: z.object({ to: z.string(), state: z.enum(TRANSFER_STATES), sinceWallMs: z.number() }).optional(),
  /** Who or what answered a call that we placed, once it is known. */
  answeredBy: z.enum(ANSWERED_BY).optional(),
});

export type LiveCall = z.infer<typeof liveCall>;

/** The live calls of a gateway, wherever they are, and what can be done to them. */
export interface LiveCalls {
  /** Oldest first. */
  list(): Promise<readonly LiveCall[]>;
  find(callId: string): Promise<LiveCall | undefined>;
  /**
   * Has a call do what somebody outside it wants.
   * @param by who that is, for the record
   * @returns the call as it stands then
   * @throws OrderRefusedError, CarrierControlError
   */
  order(callId: string, order: CallOrder, by: string): Promise<LiveCall>;
}

/** The live calls of this process. */
export function liveCallsOf(registry: Pick<CallRegistry, 'calls' | 'order' | 'dialled' | 'orderDialled'>): LiveCalls {
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
  };
}

function seen({ id, identity: { tenantId, bot, inbound }, attached, standing }: LiveSession): LiveCall {
  const { mutedUntilWallMs, startedAtWallMs, turns, callerText, botText, answeredBy, muted, transfer } = standing;
  const { carrier, from, to, direction, mode } = inbound;
  const about = { id, tenantId, bot: bot.name, carrier, from, to, direction, startedAtWallMs };
  const phase = attached ? standing.phase : 'connecting';
  return { ...about, phase, muted, mutedUntilWallMs, turns, callerText, botText, answeredBy, mode, transfer };
}

function seenDialled({ call, sinceWallMs, ringing }: CallRegistry['dialled'][number]): LiveCall {
  const { callId: id, tenantId, botName: bot, carrier, from, to } = call;
  const about = { id, tenantId, bot, carrier, from, to, direction: 'outbound', startedAtWallMs: sinceWallMs } as const;
  return { ...about, phase: ringing ? 'ringing' : 'dialling', muted: false, turns: 0, callerText: '', botText: '' };
}
