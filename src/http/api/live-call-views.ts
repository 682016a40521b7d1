import { z } from 'zod';
import type { CallSession } from '../../call/session.ts';
import type { Principal } from './api-route.ts';
import { anyCallView, isoTime, numbersFor } from './call-views.ts';

export const liveCallView = anyCallView.extend({
  since: z.iso.datetime(),
  /** Who has the floor; `connecting` before the first sound, and while the carrier's socket is gone. */
  phase: z.enum(['connecting', 'listening', 'caller-speaking', 'settling', 'keying', 'thinking', 'bot-speaking']),
  muted: z.boolean(),
  /** When a muted bot gets its voice back by itself; null while it has it. */
  mutedUntil: z.iso.datetime().nullable(),
  turns: z.int(),
  /** The last turn; null without the scope `calls:listen`. */
  words: z.object({ caller: z.string(), bot: z.string() }).nullable(),
});

export function liveView(
  { id, identity: { bot, inbound }, attached, standing }: CallSession,
  key: Pick<Principal, 'scopes'>,
): z.output<typeof liveCallView> {
  const shown = numbersFor(key);
  const { turn, mutedUntilWallMs, startedAtWallMs, turns, callerText, botText } = standing;
  return {
    id,
    bot: bot.name,
    carrier: inbound.carrier,
    from: shown(inbound.from),
    to: shown(inbound.to),
    direction: inbound.direction,
    since: isoTime(startedAtWallMs),
    phase: attached ? turn.phase.name : 'connecting',
    muted: turn.muted,
    mutedUntil: mutedUntilWallMs === undefined ? null : isoTime(mutedUntilWallMs),
    turns,
    words: key.scopes.includes('calls:listen') ? { caller: callerText, bot: botText } : null,
  };
}
