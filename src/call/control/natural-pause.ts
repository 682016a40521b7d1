import type { DialogHook } from '../../dialog/port.ts';
import type { CallLine } from '../call-line.ts';
import { callerFloor } from '../turn/floor.ts';

/** Silence of both sides in which the dialog may begin to speak by itself. */
const PAUSE_MS = 500;
/** Words that have not come after this do not come: a sound without words is committed too. */
const WORDS_LOST_MS = 2_000;

/** In a natural pause, opens a turn for what the dialog has to tell without being asked. */
export function tellDue(line: CallLine, hook: Pick<DialogHook, 'due'>, nowMs: number): void {
  const { turn, media } = line;
  if (turn.phase.name !== 'listening' || media === undefined || media.voice.speaking) return;
  const tool = hook.due;
  const quietMs = nowMs - Math.max(turn.phase.sinceMs, turn.voice.lastVoicedMs ?? 0);
  if (tool === undefined || quietMs < PAUSE_MS) return;
  const floor = callerFloor(turn);
  if (floor !== undefined && !(floor === 'words-outstanding' && quietMs >= WORDS_LOST_MS)) return;
  line.feed({ type: 'dialog-due', atMs: nowMs, tool });
}
