import { withCommit, withEarlyAsk } from './asking.ts';
import { dropBackchannel, isDoubtful, nothingSaid, onlyListens, speakOn } from './dropped-speech.ts';
import { afterCommit, percentile } from './settling.ts';
import { provisionalText } from './transcript.ts';
import type { EndpointingSettings, TurnSettings } from './turn-settings.ts';
import { type In, quietly, type Step, type TurnState } from './turn-state.ts';
import { isSentence, isUnfinished } from './unfinished.ts';

/**
 * Whether the turn of a caller who speaks is over, or was none.
 * @param atMs when what has been heard so far was said
 * @param nowMs when it came: what is sent now is answered after that
 */
export function turnMayEnd(settings: TurnSettings, state: In<'caller-speaking'>, atMs: number, nowMs = atMs): Step {
  return withEarlyAsk(settings, afterSpeech(settings, state, atMs, nowMs), atMs);
}

function afterSpeech(settings: TurnSettings, state: In<'caller-speaking'>, atMs: number, nowMs: number): Step {
  const { phase, caller } = state;
  const { voice, interruption } = settings;
  const lastVoicedMs = state.voice.lastVoicedMs ?? phase.sinceMs;
  const wordless = provisionalText(caller.words) === '';
  if (wordless && phase.voicedMs < voice.blipMs && atMs - lastVoicedMs >= voice.blipOverMs)
    return nothingSaid(state, phase.interrupted, atMs);
  const reversible = phase.interrupted && atMs - phase.sinceMs <= interruption.reverseWithinMs;
  if (reversible && onlyListens(interruption, state, atMs)) {
    const dropped = dropBackchannel(state, atMs, nowMs);
    const next = nothingSaid(dropped.state, true, atMs);
    return { state: next.state, effects: [...dropped.effects, ...next.effects] };
  }
  if (wordless && isDoubtful(settings, state, atMs)) return speakOn(state, lastVoicedMs, atMs, nowMs);
  const { endpointingMs = settings.endpointing.endpointingMs } = state.dialog.expectation;
  const spoken = {
    startedMs: phase.sinceMs,
    lastVoicedMs,
    wordsChangedMs: wordless ? undefined : caller.wordsChangedMs,
    text: () => provisionalText(caller.words),
    valueMs: wordless ? undefined : silenceOfValue(settings, state, endpointingMs, atMs - lastVoicedMs),
    pauses: caller.pauses,
  };
  const reason = commitReason(settings.endpointing, endpointingMs, spoken, atMs);
  return reason === undefined ? quietly(state) : commit(settings, state, reason, lastVoicedMs, atMs, nowMs);
}

function commit(
  settings: TurnSettings,
  state: In<'caller-speaking'>,
  reason: string,
  lastVoicedMs: number,
  atMs: number,
  nowMs: number,
): Step {
  const { recogniser } = state;
  const { voicedMs, interrupted } = state.phase;
  const phase = { name: 'settling', committedAtMs: atMs, sentAtMs: nowMs, voicedMs, interrupted, fillerSaid: false } as const;
  // A commit not answered by now was lost with its socket: nothing waits for it any more.
  const lost = recogniser.lastCommitMs !== undefined && nowMs - recogniser.lastCommitMs >= settings.endpointing.settleAbandonMs;
  const committed = {
    ...state,
    phase,
    recogniser: withCommit(lost ? { ...recogniser, commitsOutstanding: 0 } : recogniser, nowMs),
  };
  const next = afterCommit(settings, committed, atMs, nowMs);
  return { state: next.state, effects: [{ type: 'commit', reason, lastVoicedMs }, ...next.effects] };
}

/** The silence that ends the value which was asked for; undefined while the line is not quiet, or nothing of it was said. */
function silenceOfValue(
  { reader }: TurnSettings,
  { caller, dialog }: TurnState,
  baseMs: number,
  silentMs: number,
): number | undefined {
  const { value } = dialog.expectation;
  if (value === undefined || silentMs < reader.leastSilenceMs) return undefined;
  return reader.silenceMs(value, provisionalText(caller.words), baseMs);
}

interface SpokenSoFar {
  readonly startedMs: number;
  readonly lastVoicedMs: number;
  /** When the recognised words last changed; undefined while there are none. */
  readonly wordsChangedMs: number | undefined;
  /** The words so far; asked for only when they can matter. */
  readonly text: () => string;
  /** The silence that ends the value which was asked for, as far as it has been said; undefined where it says nothing of that. */
  readonly valueMs: number | undefined;
  /** Pauses of this caller inside earlier turns and this one, newest last. */
  readonly pauses: readonly number[];
}

/** Why a turn should be committed now, or undefined to go on listening. @param endpointingMs silence that ends a plain answer */
function commitReason(
  settings: EndpointingSettings,
  endpointingMs: number,
  spoken: SpokenSoFar,
  nowMs: number,
): 'silence' | 'stable-words' | 'too-long' | undefined {
  const silentMs = nowMs - spoken.lastVoicedMs + settings.frameEarlyMs;
  const mayEnd = silentMs >= (spoken.valueMs ?? endpointingMs * settings.sentenceShare);
  if (mayEnd && (spoken.valueMs !== undefined || silentMs >= silenceThatEnds(settings, endpointingMs, spoken, nowMs)))
    return 'silence';
  if (nowMs - spoken.startedMs >= settings.maxTurnMs) return 'too-long';
  if (spoken.wordsChangedMs !== undefined && nowMs - spoken.wordsChangedMs >= settings.stableWordsMs) return 'stable-words';
  return undefined;
}

/** How long a silence must last to end this turn. */
function silenceThatEnds(settings: EndpointingSettings, endpointingMs: number, spoken: SpokenSoFar, nowMs: number): number {
  const { patienceMs, sentenceShare, tellingPauses, pauseMargin, stillMs } = settings;
  const longest =
    spoken.pauses.length < tellingPauses ? 0 : (percentile(spoken.pauses, settings.pausePercentile) ?? 0) * pauseMargin;
  const learned = Math.min(endpointingMs + patienceMs, Math.max(endpointingMs, longest));
  if (spoken.wordsChangedMs === undefined) return learned;
  const text = spoken.text();
  if (isUnfinished(text)) return Math.max(learned, endpointingMs + patienceMs);
  const still = nowMs - spoken.wordsChangedMs >= stillMs;
  return still && isSentence(text) && learned === endpointingMs ? endpointingMs * sentenceShare : learned;
}
