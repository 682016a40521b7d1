import { z } from 'zod';
import { liveCall, type LiveCall } from '../../call/log/live-call.ts';
import type { Principal } from './api-route.ts';
import { anyCallView, isoTime, numbersFor } from './call-views.ts';

export const liveCallView = anyCallView.extend({
  since: z.iso.datetime(),
  /** Who has the floor; `connecting` before the first sound, and while the carrier's socket is gone. */
  phase: liveCall.shape.phase,
  muted: z.boolean(),
  /** When a muted bot gets its voice back by itself; null while it has it. */
  mutedUntil: z.iso.datetime().nullable(),
  turns: z.int(),
  /** The last turn; null without the scope `calls:listen`. */
  words: z.object({ caller: z.string(), bot: z.string() }).nullable(),
});

export function liveView(call: LiveCall, key: Pick<Principal, 'scopes'>): z.output<typeof liveCallView> {
  const shown = numbersFor(key);
  const { id, bot, carrier, from, to, direction, startedAtWallMs, phase, muted, mutedUntilWallMs, turns } = call;
  return {
    id,
    bot,
    carrier,
    from: shown(from),
    to: shown(to),
    direction,
    since: isoTime(startedAtWallMs),
    phase,
    muted,
    mutedUntil: mutedUntilWallMs === undefined ? null : isoTime(mutedUntilWallMs),
    turns,
    words: key.scopes.includes('calls:listen') ? { caller: call.callerText, bot: call.botText } : null,
  };
}
