import type { CallLog } from '../log/call-log.ts';
import type { Media } from '../media.ts';
import type { TurnEffect } from '../turn/turn-state.ts';

const FLOOR_EFFECTS = ['hold', 'resume', 'clear', 'restore', 'cancel-reply', 'silence'] as const;

/** An effect that takes the floor from the bot, or gives it back. */
export type FloorEffect = TurnEffect & { readonly type: (typeof FLOOR_EFFECTS)[number] };

export function isFloorEffect(effect: TurnEffect): effect is FloorEffect {
  return FLOOR_EFFECTS.some((type) => type === effect.type);
}

/** Has the outbound audio stop, go on or forget, and logs it. */
export function carryOutFloor(effect: FloorEffect, { outbound, voice, recording }: Media, callLog: CallLog, nowMs: number): void {
  switch (effect.type) {
    case 'hold':
      outbound.playout.hold();
      return callLog.floor('hold', 'voice');
    case 'resume':
      outbound.playout.resume(nowMs);
      outbound.pump(nowMs);
      return callLog.floor('resume', 'quiet');
    case 'clear':
      outbound.clear(nowMs);
      return callLog.interrupted(effect, recording?.positionMs(effect.onsetMs));
    case 'restore':
      outbound.playout.restore();
      outbound.pump(nowMs);
      return callLog.floor('restore', 'words');
    case 'cancel-reply':
      voice.abort();
      outbound.clear(nowMs);
      outbound.playout.discardCut();
      if (effect.takesBack) callLog.conversation.takeBack();
      return;
    case 'silence':
      voice.abort();
      if (outbound.playout.isAudible(nowMs) || !outbound.playout.idle) outbound.clear(nowMs);
      outbound.playout.discardCut();
      outbound.playout.release();
      return;
  }
}
