import { ask, withCommit, withEarlyAsk } from './asking.ts';
import { endOfTurn, percentile, waitMs } from './end-of-turn.ts';
import { isBackchannel, isHesitation } from './spoken-cues.ts';
import { NO_WORDS, finalText, hasWords, provisionalText } from './transcript.ts';
import type { EndpointingSettings, InterruptionSettings, TurnSettings } from './turn-settings.ts';
import { type In, NO_EFFECTS, type Step, type TurnEvent, type TurnState, quietly } from './turn-state.ts';
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
  const asked = withModelAsked(settings, state, lastVoicedMs, atMs);
  const reason = commitReason(settings, asked.state, lastVoicedMs, atMs);
  return reason === undefined ? asked : commit(settings, state, reason, lastVoicedMs, atMs, nowMs);
}

/** Asks the model how the turn sounded, once in each pause; not of a message, which ends by silence alone. */
function withModelAsked(
  { endpointing: { askModelMs } }: TurnSettings,
  state: In<'caller-speaking'>,
  lastVoicedMs: number,
  atMs: number,
): Step & { readonly state: In<'caller-speaking'> } {
  const { caller, dialog } = state;
  const due = askModelMs !== undefined && atMs - lastVoicedMs >= askModelMs && caller.sound?.lastVoicedMs !== lastVoicedMs;
  if (!due || dialog.expectation.message !== undefined) return { state, effects: NO_EFFECTS };
  const sound = { lastVoicedMs, likelihood: undefined };
  return {
    state: { ...state, caller: { ...caller, sound } },
    effects: [{ type: 'ask-model', lastVoicedMs, sinceMs: state.phase.sinceMs }],
  };
}

/** The model answered. An answer for an earlier pause counts for nothing. */
export function modelAnswered(
  _settings: TurnSettings,
  state: TurnState,
  { lastVoicedMs, likelihood }: TurnEvent & { readonly type: 'model-answered' },
): Step {
  const { caller } = state;
  if (caller.sound?.lastVoicedMs !== lastVoicedMs) return quietly(state);
  return quietly({ ...state, caller: { ...caller, sound: { lastVoicedMs, likelihood } } });
}

/** A dialog that hears the caller finds the turn over: commits it, unless a value is asked for or a message is left. */
export function turnFoundOver(
  settings: TurnSettings,
  state: In<'caller-speaking'>,
  { atMs }: TurnEvent & { readonly type: 'turn-over' },
): Step {
  const { value, message } = state.dialog.expectation;
  if (value !== undefined || message !== undefined || state.phase.voicedMs < settings.voice.blipMs) return quietly(state);
  return commit(settings, state, 'found-over', state.voice.lastVoicedMs ?? atMs, atMs, atMs);
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
  const { interrupted } = state.phase;
  // Without any pitch it was no voice: a hiss, or the comfort noise of a telephone that was muted.
  const hadPitch = state.voice.lastPitchedMs !== undefined && state.voice.lastPitchedMs >= state.phase.sinceMs;
  const voicedMs = hadPitch ? state.phase.voicedMs : 0;
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

/** Why to commit a turn now; undefined to go on listening. */
function commitReason(
  settings: TurnSettings,
  state: In<'caller-speaking'>,
  lastVoicedMs: number,
  atMs: number,
): 'silence' | 'stable-words' | 'too-long' | undefined {
  const { maxTurnMs, stableWordsMs } = settings.endpointing;
  const { message } = state.dialog.expectation;
  if (isOver(settings, state, lastVoicedMs, atMs)) return 'silence';
  if (atMs - state.phase.sinceMs >= (message?.maxMs ?? maxTurnMs)) return 'too-long';
  const { words, wordsChangedMs } = state.caller;
  if (message !== undefined || wordsChangedMs === undefined || !hasWords(words)) return undefined;
  return atMs - wordsChangedMs >= stableWordsMs ? 'stable-words' : undefined;
}

/** Whether the silence is long enough for what is known of the turn. */
function isOver(settings: TurnSettings, { caller, dialog }: TurnState, lastVoicedMs: number, atMs: number): boolean {
  const { endOfTurn: rules, endpointingMs: usualMs, frameEarlyMs } = settings.endpointing;
  const { endpointingMs = usualMs, message, value } = dialog.expectation;
  const silentMs = atMs - lastVoicedMs + frameEarlyMs;
  // Callers pause to think within a message: neither their words nor their usual pauses show its end.
  if (message !== undefined) return silentMs >= endpointingMs;
  if (silentMs < waitMs(rules, 1, endpointingMs)) return false;
  const text = provisionalText(caller.words);
  const likelihood = endOfTurn(rules, {
    silentMs,
    text,
    stillMs: text === '' ? 0 : atMs - (caller.wordsChangedMs ?? atMs),
    pauses: caller.pauses,
    progress: value === undefined || text === '' ? undefined : settings.reader.progress(value, text, ''),
    heard: caller.sound?.lastVoicedMs === lastVoicedMs ? caller.sound.likelihood : undefined,
  });
  return silentMs >= waitMs(rules, likelihood, endpointingMs);
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
