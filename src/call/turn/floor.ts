import { hasWords } from './transcript.ts';
import type { TurnState } from './turn-state.ts';

/** Why the caller has the floor, strongest reason first. */
export type FloorReason =
  /** They speak, have spoken or pressed keys, and were not answered yet. */
  | 'speaking'
  | 'settling'
  | 'keying'
  /** They make a sound over the bot that may become speech. */
  | 'contest'
  /** They make a sound. */
  | 'sound'
  /** The recogniser still owes words of theirs. */
  | 'words-outstanding'
  /** They said words that the dialog was not asked about. */
  | 'words';

/** Why the caller has the floor; undefined where they are quiet, with no words outstanding. */
export function callerFloor({ phase, voice, caller, recogniser }: TurnState): FloorReason | undefined {
  if (phase.name === 'caller-speaking') return 'speaking';
  if (phase.name === 'settling' || phase.name === 'keying') return phase.name;
  if (phase.name === 'bot-speaking' && phase.contest !== undefined) return 'contest';
  if (voice.burstSinceMs !== undefined) return 'sound';
  // Where a commit's last final is not marked, its answer cannot be recognised.
  if (recogniser.marksEndOfUtterance && recogniser.commitsOutstanding > 0) return 'words-outstanding';
  return hasWords(caller.words) ? 'words' : undefined;
}

/** Whether the caller must be answered, or may have begun to speak: the bot does not hang up then. */
export function callerMustBeHeard(state: TurnState): boolean {
  const reason = callerFloor(state);
  return reason === 'speaking' || reason === 'settling' || reason === 'keying' || reason === 'contest';
}
