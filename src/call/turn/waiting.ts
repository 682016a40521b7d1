import { askedInWords, rollBackTurn, spokeSinceAsked, withCommit } from './asking.ts';
import { dropBackchannel } from './endpointing.ts';
import type { VoiceFrame } from './evidence.ts';
import { keyed, trails, withPending, withPendingDigits } from './keying.ts';
import { waitingWords } from './spoken-cues.ts';
import { hasWords, plainWords, provisionalText } from './transcript.ts';
import type { TurnSettings } from './turn-settings.ts';
import { type In, type Step, type TurnEvent, quietly } from './turn-state.ts';
import { callerSpeaks, quietMs, withPauseLearned } from './voice.ts';

/** While the dialog thinks. */

/**
 * The caller goes on before the reply was heard: the turn was not over, so its words come back. From a caller asked to wait it may be an "okay" or a
 * "hello?": there the words decide.
 */
export function voiceWhileThinking(settings: TurnSettings, state: In<'thinking'>, frame: VoiceFrame): Step {
  const { voice, phase } = state;
  const asked = askedInWords(state);
  const meant = voice.burst.evidenceMs >= settings.interruption.clearAfterMs;
  if (meant && phase.optional === true) {
    const speaking = callerSpeaks(withPauseLearned(state), frame.atMs, false);
    return { state: speaking.state, effects: [{ type: 'cancel-reply', takesBack: false, atMs: frame.atMs }] };
  }
  const isNew = asked !== undefined && (voice.burstSinceMs ?? 0) > asked.atMs - settings.voice.burstGapMs;
  if (!meant || !isNew) return whileThinking(settings, state, frame.atMs, frame.cameMs);
  if (phase.fillerSaid) {
    const waiting = { ...state, phase: { ...phase, spokenInto: true } };
    return whileThinking(settings, waiting, frame.atMs, frame.cameMs);
  }
  const next = callerSpeaks(rollBackTurn(withPauseLearned(state), asked, frame.atMs), frame.atMs, false);
  return { state: next.state, effects: [{ type: 'cancel-reply', takesBack: true, atMs: frame.atMs }] };
}

/** What time changes while the dialog thinks: words into the wait are weighed, and a long wait is covered, or fails. */
export function whileThinking(settings: TurnSettings, state: In<'thinking'>, atMs: number, nowMs = atMs): Step {
  const { phase, voice, caller } = state;
  if (phase.optional === true) return quietly(state);
  const { thinkingLimitMs, thinkingFillerMs, waiting, interruption, endpointing } = settings;
  const waitedMs = atMs - phase.sinceMs;
  const silentMs = quietMs(voice, atMs);
  if (phase.fillerSaid && hasWords(caller.words) && spokeSinceAsked(state)) {
    const said = waitingWords(provisionalText(caller.words));
    const isStill = caller.words.partial === undefined || atMs - (caller.wordsChangedMs ?? atMs) >= waiting.stillMs;
    if (said !== undefined && isStill && silentMs >= interruption.backchannelOverMs) return waitOn(state, said, atMs, nowMs);
    if (said === undefined && isMeant(settings, state, atMs)) return takeBackByWords(state, atMs);
  }
  if (phase.spokenInto === true && silentMs >= endpointing.endpointingMs) {
    return {
      state: { ...state, recogniser: withCommit(state.recogniser, nowMs), phase: { ...phase, spokenInto: false } },
      effects: [{ type: 'commit', reason: 'waiting', lastVoicedMs: voice.lastVoicedMs ?? atMs }],
    };
  }
  if (waitedMs >= thinkingLimitMs) {
    return {
      state: { ...state, phase: { ...phase, sinceMs: atMs } },
      effects: [{ type: 'dialog-failed', reason: `the dialog said nothing for ${thinkingLimitMs} ms` }],
    };
  }
  if (phase.fillerSaid || waitedMs < thinkingFillerMs) return quietly(state);
  return { state: { ...state, phase: { ...phase, fillerSaid: true } }, effects: [{ type: 'filler', waitingFor: 'dialog' }] };
}

/** What was asked needs no answer. */
export function answerOptional(_settings: TurnSettings, state: In<'thinking'>): Step {
  return quietly({ ...state, phase: { ...state.phase, optional: true } });
}

/** The dialog is asked again after giving no answer: the caller is told to wait, and the wait starts anew. */
export function askedAgain(
  _settings: TurnSettings,
  state: In<'thinking'> | In<'bot-speaking'>,
  { atMs }: TurnEvent & { readonly type: 'asked-again' },
): Step {
  const { phase } = state;
  const waits = phase.name === 'thinking' ? { ...state, phase: { ...phase, sinceMs: atMs, fillerSaid: true } } : state;
  return { state: waits, effects: [{ type: 'filler', waitingFor: 'dialog' }] };
}

/** A key in place of the answer to what was said before. One into the wait for the greeting is kept for the first turn. */
export function keyWhileThinking(
  settings: TurnSettings,
  state: In<'thinking'>,
  { atMs, digit }: TurnEvent & { readonly type: 'digit' },
): Step {
  if (trails(settings, state, digit, atMs)) return quietly(state);
  const [taken, digits] = withPending(state, digit);
  if (state.dialog.asked?.input.kind === 'start') return quietly(withPendingDigits(state, digits));
  const next = keyed(settings, taken, digits, atMs);
  return { state: next.state, effects: [{ type: 'cancel-reply', takesBack: false, atMs }, ...next.effects] };
}

/** A partial of one or two words may yet become a "hello"; more than that do not once they stand still. */
function isMeant({ waiting }: TurnSettings, { caller: { words, wordsChangedMs } }: In<'thinking'>, atMs: number): boolean {
  if (words.partial === undefined) return true;
  const isLong = plainWords(provisionalText(words)).split(' ').length >= waiting.meantWords;
  return isLong && atMs - (wordsChangedMs ?? atMs) >= waiting.meantStillMs;
}

/** A waiting caller says more: the words join the turn, which was not over. */
function takeBackByWords(state: In<'thinking'>, atMs: number): Step {
  const asked = askedInWords(state);
  if (asked === undefined) return quietly(state);
  const { voice } = state;
  const sinceMs = voice.burstSinceMs ?? voice.lastVoicedMs ?? atMs;
  const { evidenceMs } = voice.burst;
  const phase = { name: 'caller-speaking', sinceMs, voicedMs: atMs - sinceMs, evidenceMs, interrupted: false } as const;
  return {
    state: { ...rollBackTurn(state, asked, atMs), voice: { ...voice, pauseMs: undefined }, phase },
    effects: [{ type: 'cancel-reply', takesBack: true, atMs }],
  };
}

/** Waiting words open no turn; a caller who asks whether the line is alive is told again to wait. */
function waitOn(state: In<'thinking'>, said: 'patient' | 'asking', atMs: number, nowMs: number): Step {
  const dropped = dropBackchannel({ ...state, phase: { ...state.phase, spokenInto: false } }, atMs, nowMs);
  if (said === 'patient') return dropped;
  return { state: dropped.state, effects: [...dropped.effects, { type: 'filler', waitingFor: 'dialog' }] };
}
