import { spokeSinceAsked } from './asking.ts';
import { dropBackchannel, onlyListens } from './endpointing.ts';
import { FRAME_MS, type VoiceFrame, mayInterrupt, openContest, stepContest } from './evidence.ts';
import { keyed, trails, withPending, withPendingDigits } from './keying.ts';
import { containsPhrase, isBackchannel } from './spoken-cues.ts';
import { provisionalText } from './transcript.ts';
import type { TurnSettings } from './turn-settings.ts';
import { type In, type Step, type TurnEvent, quietly } from './turn-state.ts';
import { callerSpeaks, voicedLately, withoutBurst } from './voice.ts';

/** A sound while the bot speaks: holds it, then clears or resumes it. */
export function voiceOverBot({ interruption }: TurnSettings, state: In<'bot-speaking'>, frame: VoiceFrame): Step {
  const { phase, voice } = state;
  if (!mayInterrupt(phase.policy, 'voice')) return quietly(state);
  if (phase.contest === undefined) {
    // Counts frames, not times, so that an early frame counts fully.
    if (!frame.voiced || FRAME_MS * voicedLately(voice) < interruption.holdAfterMs) return quietly(state);
    const contest = openContest(frame, voice.burst);
    return { state: { ...state, phase: { ...phase, contest } }, effects: [{ type: 'hold' }] };
  }
  const { contest, verdict } = stepContest(interruption, phase.contest, frame);
  switch (verdict) {
    case 'open':
      return quietly({ ...state, phase: { ...phase, contest } });
    case 'resume':
      return {
        state: { ...state, voice: withoutBurst(voice), phase: { ...phase, contest: undefined } },
        effects: [{ type: 'resume' }],
      };
    case 'clear': {
      const onsetMs = voice.burstSinceMs ?? contest.sinceMs;
      const next = callerSpeaks(state, frame.atMs, true);
      return { state: next.state, effects: [{ type: 'clear', by: 'voice', onsetMs, atMs: frame.atMs }] };
    }
  }
}

/** Words while the bot speaks; they count even where the voice detector missed them. */
export function wordsOverBot({ interruption }: TurnSettings, state: In<'bot-speaking'>, atMs: number): Step {
  const { phase, voice } = state;
  if (!mayInterrupt(phase.policy, 'voice')) return quietly(state);
  const text = provisionalText(state.caller.words);
  const lastVoicedMs = voice.lastVoicedMs ?? Number.NEGATIVE_INFINITY;
  // Words without a voice are echo; backchannels do not want the floor.
  const voiced = spokeSinceAsked(state) && atMs - lastVoicedMs <= interruption.reverseWithinMs;
  const wantsFloor = voiced && !isBackchannel(text, state.dialog.expectation.asked === true);
  if (!wantsFloor && !containsPhrase(text, interruption.stopPhrases)) return quietly(state);
  const onsetMs = voice.burstSinceMs ?? (voiced ? lastVoicedMs : atMs);
  const { evidenceMs } = voice.burst;
  const phaseNow = {
    name: 'caller-speaking',
    sinceMs: onsetMs,
    voicedMs: atMs - onsetMs,
    evidenceMs,
    interrupted: true,
  } as const;
  return { state: { ...state, phase: phaseNow }, effects: [{ type: 'clear', by: 'words', onsetMs, atMs }] };
}

/** A key while the bot speaks: interrupts it, or is kept for the next turn. */
export function keyOverBot(
  settings: TurnSettings,
  state: In<'bot-speaking'>,
  { atMs, digit }: TurnEvent & { readonly type: 'digit' },
): Step {
  if (trails(settings, state, digit, atMs)) return quietly(state);
  const [taken, digits] = withPending(state, digit);
  if (!mayInterrupt(state.phase.policy, 'key')) return quietly(withPendingDigits(state, digits));
  const next = keyed(settings, taken, digits, atMs);
  return { state: next.state, effects: [{ type: 'clear', by: 'key', onsetMs: atMs, atMs }, ...next.effects] };
}

/** The passing of time while the bot speaks: a backchannel ends, or a contest that no frame decides. */
export function whileBotSpeaks({ interruption }: TurnSettings, state: In<'bot-speaking'>, atMs: number): Step {
  const { contest } = state.phase;
  if (contest === undefined) return onlyListens(interruption, state, atMs) ? dropBackchannel(state, atMs, atMs) : quietly(state);
  if (atMs - contest.sinceMs < interruption.decideWithinMs + interruption.frameGraceMs) return quietly(state);
  return { state: { ...state, phase: { ...state.phase, contest: undefined } }, effects: [{ type: 'resume' }] };
}
