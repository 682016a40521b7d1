import { withCommit } from './asking.ts';
import { isBackchannel } from './backchannel.ts';
import { NO_WORDS, provisionalText } from './transcript.ts';
import type { InterruptionSettings, TurnSettings } from './turn-settings.ts';
import { type In, quietly, type Step, type TurnState } from './turn-state.ts';
import { quietMs, withoutBurst } from './voice.ts';

/** Speech that is nobody's turn: a cough, a "mm-hm", an "um". */

/** What sounded like the caller was nothing: the bot speaks on, or waits on. */
export function nothingSaid(state: TurnState, interrupted: boolean, atMs: number): Step {
  const quiet: TurnState = { ...state, caller: { ...state.caller, words: NO_WORDS, wordsChangedMs: undefined } };
  if (!interrupted) return quietly({ ...quiet, phase: { name: 'listening', sinceMs: atMs } });
  return {
    state: { ...quiet, phase: { name: 'bot-speaking', policy: 'always', contest: undefined } },
    effects: [{ type: 'restore' }],
  };
}

/** These words are nobody's turn, however late their final comes. */
export function withoutWords(state: TurnState): TurnState {
  const { caller, recogniser, dialog } = state;
  const dropped = Math.max(recogniser.askedSeg, caller.words.lastSeg);
  return {
    ...state,
    caller: { ...caller, words: NO_WORDS, wordsChangedMs: undefined },
    recogniser: { ...recogniser, askedSeg: dropped, droppedSeg: dropped },
    dialog: { ...dialog, early: undefined },
  };
}

/** Whether the caller said nothing but a "mm-hm", and has fallen silent. */
export function onlyListens({ backchannelOverMs }: InterruptionSettings, state: TurnState, atMs: number): boolean {
  if (quietMs(state.voice, atMs) < backchannelOverMs) return false;
  return isBackchannel(provisionalText(state.caller.words), state.dialog.expectation.asked === true);
}

/** The sound of listening, or of waiting: committed, so that no later words join its segment. */
export function dropBackchannel(state: TurnState, atMs: number, nowMs: number): Step {
  const dropped = withoutWords(state);
  return {
    state: { ...dropped, recogniser: withCommit(dropped.recogniser, nowMs) },
    effects: [{ type: 'commit', reason: 'backchannel', lastVoicedMs: state.voice.lastVoicedMs ?? atMs }],
  };
}

/** Whether an interruption without a word may have been a cough or a "mm-hm", and is over. */
export function isDoubtful({ interruption }: TurnSettings, { voice, phase }: In<'caller-speaking'>, atMs: number): boolean {
  const { doubtfulEvidenceMs, doubtfulOverMs, tonelessMs } = interruption;
  if (!phase.interrupted || phase.evidenceMs >= doubtfulEvidenceMs) return false;
  const since = (lastMs: number | undefined): number => atMs - (lastMs ?? phase.sinceMs);
  return since(voice.lastVoicedMs) >= doubtfulOverMs || since(voice.lastPitchedMs) >= tonelessMs;
}

/** What was taken for an interruption is committed all the same: a recogniser may tell of a word on a commit alone. */
export function speakOn(state: TurnState, lastVoicedMs: number, atMs: number, nowMs: number): Step {
  const committed = { ...state, voice: withoutBurst(state.voice), recogniser: withCommit(state.recogniser, nowMs) };
  const next = nothingSaid(committed, true, atMs);
  return { state: next.state, effects: [{ type: 'commit', reason: 'doubtful', lastVoicedMs }, ...next.effects] };
}
