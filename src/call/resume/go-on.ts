import type { Clock } from '../../kernel/clock.ts';
import type { ResumedCall } from '../log/call-record.ts';
import type { Media } from '../media.ts';
import type { CallParts } from './state-watch.ts';

/** Continues a call after a crash, once its media is attached and before any words. */
export function goOn(
  resumed: ResumedCall,
  media: Media,
  { turns, dialog }: Pick<CallParts, 'turns' | 'dialog'>,
  clock: Pick<Clock, 'nowMs' | 'wallMs'>,
): void {
  const { state, next } = resumed;
  const { leaves } = state;
  const atMs = clock.nowMs();
  media.voice.switchTo(state.language, state.voice);
  dialog.goOn(resumed, media);
  if (state.mutedUntilMs !== undefined)
    turns.feed({ type: 'muted', atMs, on: true, forMs: Math.max(0, state.mutedUntilMs - clock.wallMs()) });
  if (leaves === undefined || next.do === 'ask') return;
  turns.feed({
    type: 'leave-after-reply',
    reason: leaves.reason,
    transferTo: leaves.transferTo,
    ...(leaves.warm ? { warm: true as const } : {}),
  });
}
