import { ask, withCommit, withEarlyAsk } from './asking.ts';
import { isBackchannel, isHesitation, isSentence, isUnfinished } from './spoken-cues.ts';
import { NO_WORDS, finalText, provisionalText } from './transcript.ts';
import type { EndpointingSettings, InterruptionSettings, TurnSettings } from './turn-settings.ts';
import { type Expectation, type In, type Step, type TurnState, quietly } from './turn-state.ts';
import { quietMs, withoutBurst } from './voice.ts';

/**
 * Whether the speaking caller's turn is over, or was none.
 * @param atMs when the latest audio was spoken
 * @param nowMs when it arrived: a commit sent now is answered after that
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
  const { endpointingMs = settings.endpointing.endpointingMs, message } = state.dialog.expectation;
  const spoken = {
    startedMs: phase.sinceMs,
    lastVoicedMs,
    wordsChangedMs: wordless ? undefined : caller.wordsChangedMs,
    text: () => provisionalText(caller.words),
    valueMs: wordless ? undefined : silenceOfValue(settings, state, endpointingMs, atMs - lastVoicedMs),
    pauses: caller.pauses,
  };
  const reason = commitReason(endpointingOf(settings.endpointing, message), endpointingMs, spoken, atMs);
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
  // A commit unanswered by now was lost with its socket and is not waited for.
  const lost = recogniser.lastCommitMs !== undefined && nowMs - recogniser.lastCommitMs >= settings.endpointing.settleAbandonMs;
  const committed = {
    ...state,
    phase,
    recogniser: withCommit(lost ? { ...recogniser, commitsOutstanding: 0 } : recogniser, nowMs),
  };
  const next = afterCommit(settings, committed, atMs, nowMs);
  return { state: next.state, effects: [{ type: 'commit', reason, lastVoicedMs }, ...next.effects] };
}

/** The silence that ends the expected value; undefined while the line is not quiet, or none of it was said. */
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
  /** When the recognised words last changed; undefined without words. */
  readonly wordsChangedMs: number | undefined;
  /** The words so far; called only when needed. */
  readonly text: () => string;
  /** The silence that ends the expected value, as far as it was said; undefined where it does not say. */
  readonly valueMs: number | undefined;
  /** This caller's pauses within earlier turns and this one, newest last. */
  readonly pauses: readonly number[];
}

/** Callers pause to think within a message: neither their words nor their usual pauses show its end. */
function endpointingOf(settings: EndpointingSettings, message: Expectation['message']): EndpointingSettings {
  if (message === undefined) return settings;
  return { ...settings, patienceMs: 0, sentenceShare: 1, maxTurnMs: message.maxMs, stableWordsMs: Number.POSITIVE_INFINITY };
}

/** Why to commit a turn now; undefined to go on listening. @param endpointingMs silence that ends a plain answer */
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

/** Length of silence that ends this turn. */
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

/** Most commit-to-final times kept. */
const MOST_SETTLINGS = 20;

/**
 * Whether the committed turn is complete, by the rules of the design in their order.
 * @param atMs when the latest audio was spoken
 * @param nowMs when it arrived: a commit sent now is answered after that
 */
export function turnMayBeComplete(settings: TurnSettings, state: In<'settling'>, atMs: number, nowMs = atMs): Step {
  return withEarlyAsk(settings, afterCommit(settings, state, atMs, nowMs), atMs);
}

export function afterCommit(settings: TurnSettings, state: In<'settling'>, atMs: number, nowMs: number): Step {
  const { endpointing } = settings;
  const { phase, caller, recogniser } = state;
  const waitedMs = nowMs - phase.sentAtMs;
  const silentMs = atMs - (state.voice.lastVoicedMs ?? phase.committedAtMs);
  const covered = finalText(caller.words) !== '' && caller.words.partial === undefined && silentMs >= endpointing.coveredMs;
  if (covered && !recogniser.marksEndOfUtterance) return completeTurn(settings, state, finalText(caller.words), false, atMs);
  const text = provisionalText(caller.words);
  if (text !== '' && waitedMs >= settleLimitMs(endpointing, percentile(recogniser.settlings, endpointing.settlePercentile)))
    return completeTurn(settings, state, text, true, atMs);
  if (waitedMs >= endpointing.settleAbandonMs) return completeTurn(settings, state, text, true, atMs);
  // A cut reply may still resume: no filler is said into it.
  const silent = phase.fillerSaid || phase.interrupted || state.bot.muted;
  if (silent || waitedMs < settings.settlingFillerMs || phase.voicedMs < settings.voice.unclearMs) return quietly(state);
  return { state: { ...state, phase: { ...phase, fillerSaid: true } }, effects: [{ type: 'filler', waitingFor: 'words' }] };
}

/** Ends the caller's turn with these words, possibly none. */
export function completeTurn(
  settings: TurnSettings,
  state: In<'settling'>,
  text: string,
  provisional: boolean,
  atMs: number,
): Step {
  const { phase, caller, dialog } = state;
  if (isHesitation(text)) {
    // A partial may still grow.
    const heard =
      caller.words.partial === undefined ? withoutWords(state) : { ...state, dialog: { ...dialog, early: undefined } };
    return nothingSaid(heard, phase.interrupted, atMs);
  }
  const enoughMs = phase.interrupted ? settings.interruption.meantMs : settings.voice.unclearMs;
  if (text === '' && phase.voicedMs < enoughMs) return nothingSaid(state, phase.interrupted, atMs);
  return ask(state, { kind: 'spoken', text }, atMs, provisional);
}

/** Notes how long after its commit a final came. */
export function withSettling(state: In<'settling'>, settledMs: number): In<'settling'> {
  const { recogniser } = state;
  return { ...state, recogniser: { ...recogniser, settlings: [...recogniser.settlings, settledMs].slice(-MOST_SETTLINGS) } };
}

/**
 * Longest wait for a final after a commit, within the bounds.
 * @param usualMs usual wait in this session; undefined before the first final
 */
export function settleLimitMs(settings: EndpointingSettings, usualMs: number | undefined): number {
  const wanted = usualMs === undefined ? settings.settleCapMs : settings.settleMargin * usualMs;
  return Math.min(settings.settleCapMs, Math.max(settings.settleFloorMs, wanted));
}

/** A percentile of a short list (nearest rank), or undefined when it is empty. @param share 0 to 1 */
export function percentile(values: readonly number[], share: number): number | undefined {
  if (values.length === 0) return undefined;
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)];
}

/** Speech that is not a turn: a cough, a "mm-hm", an "um". */

/** A sound was not speech: the bot speaks on, or keeps waiting. */
export function nothingSaid(state: TurnState, interrupted: boolean, atMs: number): Step {
  const quiet: TurnState = { ...state, caller: { ...state.caller, words: NO_WORDS, wordsChangedMs: undefined } };
  if (!interrupted) return quietly({ ...quiet, phase: { name: 'listening', sinceMs: atMs } });
  return {
    state: { ...quiet, phase: { name: 'bot-speaking', policy: 'always', contest: undefined } },
    effects: [{ type: 'restore' }],
  };
}

/** Drops these words, however late their final comes. */
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

/** Whether the caller only said "mm-hm", and has fallen silent. */
export function onlyListens({ backchannelOverMs }: InterruptionSettings, state: TurnState, atMs: number): boolean {
  if (quietMs(state.voice, atMs) < backchannelOverMs) return false;
  return isBackchannel(provisionalText(state.caller.words), state.dialog.expectation.asked === true);
}

/** A backchannel is committed, so that later words do not join its segment. */
export function dropBackchannel(state: TurnState, atMs: number, nowMs: number): Step {
  const dropped = withoutWords(state);
  return {
    state: { ...dropped, recogniser: withCommit(dropped.recogniser, nowMs) },
    effects: [{ type: 'commit', reason: 'backchannel', lastVoicedMs: state.voice.lastVoicedMs ?? atMs }],
  };
}

/** Whether an interruption without words may have been a cough or a "mm-hm", and is over. */
export function isDoubtful({ interruption }: TurnSettings, { voice, phase }: In<'caller-speaking'>, atMs: number): boolean {
  const { doubtfulEvidenceMs, doubtfulOverMs, tonelessMs } = interruption;
  if (!phase.interrupted || phase.evidenceMs >= doubtfulEvidenceMs) return false;
  const since = (lastMs: number | undefined): number => atMs - (lastMs ?? phase.sinceMs);
  return since(voice.lastVoicedMs) >= doubtfulOverMs || since(voice.lastPitchedMs) >= tonelessMs;
}

/** A supposed interruption is committed too: some recognisers report a word only on a commit. */
export function speakOn(state: TurnState, lastVoicedMs: number, atMs: number, nowMs: number): Step {
  const committed = { ...state, voice: withoutBurst(state.voice), recogniser: withCommit(state.recogniser, nowMs) };
  const next = nothingSaid(committed, true, atMs);
  return { state: next.state, effects: [{ type: 'commit', reason: 'doubtful', lastVoicedMs }, ...next.effects] };
}
