import type { CallLog } from './log/call-log.ts';
import type { Media } from './media.ts';
import type { TurnEffect } from './turn/turn-state.ts';

const FLOOR_EFFECTS = ['hold', 'resume', 'clear', 'restore', 'cancel-reply', 'silence'] as const;

/** An effect that takes the floor from the bot, or gives it back. */
export type FloorEffect = TurnEffect & { readonly type: (typeof FLOOR_EFFECTS)[number] };

export function isFloorEffect(effect: TurnEffect): effect is FloorEffect {
  return FLOOR_EFFECTS.some((type) => type === effect.type);
}

/** Has the line stop, go on or forget, and writes it down. */
export function carryOutFloor(effect: FloorEffect, { line, voice, recording }: Media, book: CallLog, nowMs: number): void {
  switch (effect.type) {
    case 'hold':
      line.playout.hold();
      return book.floor('hold', 'voice');
    case 'resume':
      line.playout.resume(nowMs);
      line.pump(nowMs);
      return book.floor('resume', 'quiet');
    case 'clear':
      line.clear(nowMs);
      return book.interrupted(effect, recording?.positionMs(effect.onsetMs));
    case 'restore':
      line.playout.restore();
      line.pump(nowMs);
      return book.floor('restore', 'words');
    case 'cancel-reply':
      voice.abort();
      line.clear(nowMs);
      line.playout.discardCut();
      if (effect.takesBack) book.conversation.takeBack();
      return;
    case 'silence':
      voice.abort();
      if (line.playout.isAudible(nowMs) || !line.playout.idle) line.clear(nowMs);
      line.playout.discardCut();
      line.playout.release();
      return;
  }
}
