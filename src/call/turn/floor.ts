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
  /** They have said words that nobody was asked about. */
  | 'words';

/** Why the caller has the floor; undefined where they are quiet, and no words of theirs are outstanding. */
export function callerFloor({ phase, voice, caller, recogniser }: TurnState): FloorReason | undefined {
  if (phase.name === 'caller-speaking') return 'speaking';
  if (phase.name === 'settling' || phase.name === 'keying') return phase.name;
  if (phase.name === 'bot-speaking' && phase.contest !== undefined) return 'contest';
  if (voice.burstSinceMs !== undefined) return 'sound';
  // Where no final is marked as a commit's last, nothing tells that a commit was answered.
  if (recogniser.marksEndOfUtterance && recogniser.commitsOutstanding > 0) return 'words-outstanding';
  return hasWords(caller.words) ? 'words' : undefined;
}

/** Whether the caller has to be answered, or may have begun to speak: nobody is hung up on then. */
export function callerMustBeHeard(state: TurnState): boolean {
  const reason = callerFloor(state);
  return reason === 'speaking' || reason === 'settling' || reason === 'keying' || reason === 'contest';
}
