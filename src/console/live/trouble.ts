import type { z } from 'zod';
import type { liveCallView } from '../../http/api/calls/call-views.ts';
import { SLOW_REPLY_MS } from '../parts/format.ts';

type Health = z.output<typeof liveCallView>['health'];

/** From here on a number of a call is worth a word. */
export const BAD = { holesMs: 200, lateMs: 150, replyMs: SLOW_REPLY_MS } as const;

/** Whether something is wrong with the sound or the replies of a call. */
export function isInTrouble({ holesMs, lateMs, lastReplyMs }: Health): boolean {
  return holesMs >= BAD.holesMs || lateMs >= BAD.lateMs || (lastReplyMs ?? 0) >= BAD.replyMs;
}
