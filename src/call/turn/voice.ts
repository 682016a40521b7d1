import { isDecision } from './decision.ts';
import { FRAME_MS, NO_EVIDENCE, type VoiceFrame, addEvidence, isPitched } from './evidence.ts';
import type { LineSettings, TurnSettings, VoiceSettings } from './turn-settings.ts';
import { type Line, type Phase, type Step, type TurnEvent, type TurnState, type Voice, quietly } from './turn-state.ts';

/** Pauses of a caller that are remembered. */
const MOST_PAUSES = 20;

/**
 * The state with 20 ms of the line taken in. Written out, not spread: all of one hidden class, for every frame of every call.
 * @param dated the frame as it is to be understood
 * @param came the frame as it came
 */
export function withFrame(settings: TurnSettings, state: TurnState, dated: VoiceFrame, came: VoiceFrame): TurnState {
  const voice = listen(settings, state.voice, dated);
  const { answering, consulting, caller, recogniser, dialog, bot, farewell, optOut } = state;
  const phase = spokenOn(state.phase, state.voice, voice, dated);
  const { decidedMs, lost } = state.line;
  const line = { frame: came, decidedMs, lost };
  return { answering, consulting, phase, voice, caller, recogniser, dialog, bot, line, farewell, optOut };
}

/** The speaking caller's voice after one more frame. */
function spokenOn(phase: Phase, before: Voice, voice: Voice, frame: VoiceFrame): Phase {
  if (phase.name !== 'caller-speaking') return phase;
  const { name, sinceMs, interrupted } = phase;
  const voicedMs = phase.voicedMs + (frame.voiced ? FRAME_MS : 0);
  const evidenceMs = phase.evidenceMs + Math.max(0, voice.burst.evidenceMs - before.burst.evidenceMs);
  const isSame = voicedMs === phase.voicedMs && evidenceMs === phase.evidenceMs;
  return isSame ? phase : { name, sinceMs, voicedMs, evidenceMs, interrupted };
}

function listen(settings: TurnSettings, voice: Voice, frame: VoiceFrame): Voice {
  const recent = ((voice.recent << 1) | (frame.voiced ? 1 : 0)) & 0b1111;
  if (frame.voiced) {
    return {
      recent,
      burst: addEvidence(settings.interruption, voice.burst, frame),
      burstSinceMs: voice.burstSinceMs ?? frame.atMs,
      lastVoicedMs: frame.atMs,
      lastPitchedMs: isPitched(frame) ? frame.atMs : voice.lastPitchedMs,
      pauseMs: voice.burstSinceMs === undefined ? pauseBefore(frame, voice) : voice.pauseMs,
    };
  }
  const over = voice.lastVoicedMs !== undefined && frame.atMs - voice.lastVoicedMs >= settings.voice.burstGapMs;
  const hasBurst = voice.burst !== NO_EVIDENCE || voice.burstSinceMs !== undefined;
  const ends = over && hasBurst;
  if (recent === voice.recent && !ends) return voice;
  return {
    recent,
    burst: ends ? NO_EVIDENCE : voice.burst,
    burstSinceMs: ends ? undefined : voice.burstSinceMs,
    lastVoicedMs: voice.lastVoicedMs,
    lastPitchedMs: voice.lastPitchedMs,
    pauseMs: voice.pauseMs,
  };
}

/** Words tell that the caller spoke before a frame tells when: then there was no pause. */
function pauseBefore({ atMs }: VoiceFrame, { lastVoicedMs = atMs }: Voice): number {
  return Math.max(0, atMs - lastVoicedMs);
}

export function isOnset(settings: VoiceSettings, voice: Voice): boolean {
  return voicedLately(voice) >= settings.onsetFrames;
}

/** Voiced frames among the last four. */
export function voicedLately({ recent }: Voice): number {
  let voiced = 0;
  for (let bits = recent; bits !== 0; bits >>= 1) voiced += bits & 1;
  return voiced;
}

/** How long it has been quiet; for ever where nothing was heard yet. */
export function quietMs({ lastVoicedMs }: Voice, atMs: number): number {
  return atMs - (lastVoicedMs ?? Number.NEGATIVE_INFINITY);
}

/** What did not convince does not count again: a rattle that goes on must not add up to speech. */
export function withoutBurst(voice: Voice): Voice {
  return { ...voice, burst: NO_EVIDENCE, burstSinceMs: undefined };
}

/** The caller went on after a pause: records it, so that the next similar quiet does not end the turn. */
export function withPauseLearned<State extends TurnState>(state: State): State {
  const { voice, caller } = state;
  const pauses = voice.pauseMs === undefined ? caller.pauses : [...caller.pauses, voice.pauseMs].slice(-MOST_PAUSES);
  return { ...state, caller: { ...caller, pauses }, voice: { ...voice, pauseMs: undefined } };
}

/** The caller takes the floor by voice: the quiet before it is not a pause of theirs. */
export function callerSpeaks(before: TurnState, atMs: number, interrupted: boolean): Step {
  const state: TurnState = { ...before, voice: { ...before.voice, pauseMs: undefined } };
  const sinceMs = state.voice.burstSinceMs ?? atMs;
  const voicedMs = Math.max(FRAME_MS, atMs - sinceMs);
  const { evidenceMs } = state.voice.burst;
  return quietly({ ...state, phase: { name: 'caller-speaking', sinceMs, voicedMs, evidenceMs, interrupted } });
}

/**
 * Whether the line is late. Ticks are then ignored: after a stall of the network or the process, a tick arrives before the waiting frames, and would
 * read unheard speech as silence.
 */
export function isLate(settings: LineSettings, { frame }: Line, nowMs: number): boolean {
  if (frame === undefined) return false;
  const { atMs, cameMs = atMs } = frame;
  return nowMs - atMs > settings.lateAfterMs && nowMs - cameMs < settings.lateUntilMs;
}

/** Frames that come late are dated back, to when they were said, but never to before something that was decided meanwhile. */
export function dated(line: Line, event: TurnEvent): TurnEvent {
  if (event.type !== 'frame' || event.frame.atMs >= line.decidedMs) return event;
  return { type: 'frame', frame: { ...event.frame, atMs: line.decidedMs } };
}

/** When an event was; undefined for one that has no time. */
export function timeOf(event: TurnEvent): number | undefined {
  if (event.type === 'frame') return event.frame.atMs;
  return 'atMs' in event ? event.atMs : undefined;
}

/** A step that decided something has the frames to come dated behind it. */
export function withDecision(step: Step, event: TurnEvent): Step {
  const { state, effects } = step;
  if (effects.length === 0 || !effects.some(isDecision)) return step;
  const atMs = timeOf(event);
  if (atMs === undefined || atMs <= state.line.decidedMs) return step;
  return { state: { ...state, line: { ...state.line, decidedMs: atMs } }, effects };
}
