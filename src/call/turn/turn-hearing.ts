import { addEvidence, isPitched, mayInterrupt, NO_EVIDENCE, openContest, stepContest, type VoiceFrame } from './interruption.ts';
import { askedInWords, rollBackTurn } from './turn-rollback.ts';
import { afterTime, NO_EFFECTS } from './turn-steps.ts';
import type { Hearing, Phase, Step, TurnSettings, TurnState } from './turn-state.ts';

const FRAME_MS = 20;
/** Quiet that separates two bursts of voice. */
const BURST_GAP_MS = 200;
/** Voiced frames among the last four that make an onset. */
const ONSET_FRAMES = 3;
/** Evidence after which a burst is the caller going on after a pause, and no knock in it. */
const GOING_ON_MS = 60;
const MOST_PAUSES = 20;

/** Takes in 20 ms of the caller's line. */
export function onFrame(settings: TurnSettings, state: TurnState, frame: VoiceFrame): Step {
  const hearing = hear(settings, state.hearing, frame);
  const phase = spokenOn(state.phase, state.hearing, hearing, frame);
  const heard = moved(state, hearing, phase);
  switch (phase.name) {
    case 'listening':
      return isOnset(hearing) ? callerSpeaks(heard, frame, false) : afterTime(settings, heard, frame.atMs, frame.cameMs);
    case 'caller-speaking': {
      const goesOn = hearing.pauseMs !== undefined && hearing.burst.evidenceMs >= GOING_ON_MS;
      return afterTime(settings, goesOn ? learnPause(heard) : heard, frame.atMs, frame.cameMs);
    }
    case 'settling': {
      const goesOn = isOnset(hearing) && hearing.burstSinceMs !== undefined && hearing.burstSinceMs >= phase.committedAtMs;
      if (!goesOn) return afterTime(settings, heard, frame.atMs, frame.cameMs);
      const speaking: Phase = {
        name: 'caller-speaking',
        sinceMs: hearing.burstSinceMs,
        voicedMs: phase.voicedMs,
        evidenceMs: hearing.burst.evidenceMs,
        interrupted: phase.interrupted,
      };
      const next = { ...learnPause(heard), phase: speaking };
      return {
        state: next,
        effects: phase.fillerSaid ? [{ type: 'cancel-reply', takesBack: false, atMs: frame.atMs }] : NO_EFFECTS,
      };
    }
    case 'keying':
      return afterTime(settings, heard, frame.atMs, frame.cameMs);
    case 'thinking':
      return speakingWhileThinking(settings, heard, phase, frame);
    case 'bot-speaking':
      return speakingOverBot(settings, heard, phase, frame);
  }
}

/** A caller who has the floor has spoken for a frame more. */
function spokenOn(phase: Phase, before: Hearing, hearing: Hearing, frame: VoiceFrame): Phase {
  if (phase.name !== 'caller-speaking') return phase;
  const { name, sinceMs, interrupted } = phase;
  const voicedMs = phase.voicedMs + (frame.voiced ? FRAME_MS : 0);
  const evidenceMs = phase.evidenceMs + Math.max(0, hearing.burst.evidenceMs - before.burst.evidenceMs);
  const isSame = voicedMs === phase.voicedMs && evidenceMs === phase.evidenceMs;
  return isSame ? phase : { name, sinceMs, voicedMs, evidenceMs, interrupted };
}

/** The state with what was heard and whose turn it is. Written out, not spread: all of one hidden class, for each frame with a voice. */
function moved(state: TurnState, hearing: Hearing, phase: Phase): TurnState {
  if (hearing === state.hearing && phase === state.phase) return state;
  return {
    phase,
    hearing,
    words: state.words,
    wordsChangedMs: state.wordsChangedMs,
    early: state.early,
    asked: state.asked,
    askedSeg: state.askedSeg,
    droppedSeg: state.droppedSeg,
    noInputs: state.noInputs,
    commitsOutstanding: state.commitsOutstanding,
    lastCommitMs: state.lastCommitMs,
    marksEndOfUtterance: state.marksEndOfUtterance,
    pendingDigits: state.pendingDigits,
    expectation: state.expectation,
    muted: state.muted,
    pauses: state.pauses,
    settlings: state.settlings,
  };
}

function hear(settings: TurnSettings, hearing: Hearing, frame: VoiceFrame): Hearing {
  const recent = ((hearing.recent << 1) | (frame.voiced ? 1 : 0)) & 0b1111;
  if (frame.voiced) {
    return {
      recent,
      burst: addEvidence(settings.interruption, hearing.burst, frame),
      burstSinceMs: hearing.burstSinceMs ?? frame.atMs,
      lastVoicedMs: frame.atMs,
      lastPitchedMs: isPitched(frame) ? frame.atMs : hearing.lastPitchedMs,
      pauseMs: hearing.burstSinceMs === undefined ? pauseBefore(frame, hearing) : hearing.pauseMs,
    };
  }
  const over = hearing.lastVoicedMs !== undefined && frame.atMs - hearing.lastVoicedMs >= BURST_GAP_MS;
  const hasBurst = hearing.burst !== NO_EVIDENCE || hearing.burstSinceMs !== undefined;
  const ends = over && hasBurst;
  if (recent === hearing.recent && !ends) return hearing;
  return {
    recent,
    burst: ends ? NO_EVIDENCE : hearing.burst,
    burstSinceMs: ends ? undefined : hearing.burstSinceMs,
    lastVoicedMs: hearing.lastVoicedMs,
    lastPitchedMs: hearing.lastPitchedMs,
    pauseMs: hearing.pauseMs,
  };
}

/** Words tell that the caller spoke before a frame tells when: then there was no pause. */
function pauseBefore({ atMs }: VoiceFrame, { lastVoicedMs = atMs }: Hearing): number {
  return Math.max(0, atMs - lastVoicedMs);
}

function isOnset(hearing: Hearing): boolean {
  return voicedLately(hearing) >= ONSET_FRAMES;
}

/** Voiced frames among the last four. */
function voicedLately({ recent }: Hearing): number {
  let voiced = 0;
  for (let bits = recent; bits !== 0; bits >>= 1) voiced += bits & 1;
  return voiced;
}

/** The caller went on after a pause: what was quiet was no end, and the next one like it is none either. */
function learnPause(state: TurnState): TurnState {
  const { hearing } = state;
  const pauses = hearing.pauseMs === undefined ? state.pauses : [...state.pauses, hearing.pauseMs].slice(-MOST_PAUSES);
  return { ...state, pauses, hearing: { ...hearing, pauseMs: undefined } };
}

/** The caller takes the floor: the quiet before it was nobody's pause. */
function callerSpeaks(before: TurnState, frame: VoiceFrame, interrupted: boolean): Step {
  const state: TurnState = { ...before, hearing: { ...before.hearing, pauseMs: undefined } };
  const sinceMs = state.hearing.burstSinceMs ?? frame.atMs;
  const voicedMs = Math.max(FRAME_MS, frame.atMs - sinceMs);
  const { evidenceMs } = state.hearing.burst;
  const phase: Phase = { name: 'caller-speaking', sinceMs, voicedMs, evidenceMs, interrupted };
  return { state: { ...state, phase }, effects: NO_EFFECTS };
}

/**
 * The caller goes on before anything of the reply was heard: the turn was not over, so its words come back. What is said by one who
 * was asked to wait may be an "okay" or a "hello?", though: there the words decide.
 */
function speakingWhileThinking(
  settings: TurnSettings,
  state: TurnState,
  phase: Phase & { name: 'thinking' },
  frame: VoiceFrame,
): Step {
  const { hearing } = state;
  const asked = askedInWords(state);
  const meant = hearing.burst.evidenceMs >= settings.interruption.clearAfterMs;
  const isNew = asked !== undefined && (hearing.burstSinceMs ?? 0) > asked.atMs - BURST_GAP_MS;
  if (!meant || !isNew) return afterTime(settings, state, frame.atMs, frame.cameMs);
  if (phase.fillerSaid) {
    const waiting: TurnState = { ...state, phase: { ...phase, spokenInto: true } };
    return afterTime(settings, waiting, frame.atMs, frame.cameMs);
  }
  const next = callerSpeaks(rollBackTurn(learnPause(state), asked, frame.atMs), frame, false);
  return { state: next.state, effects: [{ type: 'cancel-reply', takesBack: true, atMs: frame.atMs }] };
}

function speakingOverBot(
  settings: TurnSettings,
  state: TurnState,
  phase: Phase & { name: 'bot-speaking' },
  frame: VoiceFrame,
): Step {
  if (!mayInterrupt(phase.policy, 'voice')) return { state, effects: NO_EFFECTS };
  const { interruption } = settings;
  if (phase.contest === undefined) {
    // Frames and not their times are counted: one that comes a little early is as long as any other.
    if (!frame.voiced || FRAME_MS * voicedLately(state.hearing) < interruption.holdAfterMs) return { state, effects: NO_EFFECTS };
    const contest = openContest(frame, state.hearing.burst);
    return { state: { ...state, phase: { ...phase, contest } }, effects: [{ type: 'hold' }] };
  }
  const { contest, verdict } = stepContest(interruption, phase.contest, frame);
  switch (verdict) {
    case 'open':
      return { state: { ...state, phase: { ...phase, contest } }, effects: NO_EFFECTS };
    case 'resume': {
      // What did not convince does not count again: a rattle that goes on must not add up to speech.
      const hearing = { ...state.hearing, burst: NO_EVIDENCE, burstSinceMs: undefined };
      return { state: { ...state, hearing, phase: { ...phase, contest: undefined } }, effects: [{ type: 'resume' }] };
    }
    case 'clear': {
      const onsetMs = state.hearing.burstSinceMs ?? contest.sinceMs;
      const next = callerSpeaks(state, frame, true);
      return { state: next.state, effects: [{ type: 'clear', by: 'voice', onsetMs, atMs: frame.atMs }] };
    }
  }
}
