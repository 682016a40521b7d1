import { withQuestion } from './asking.ts';
import { dropBackchannel } from './endpointing.ts';
import { goodbyeHeard, lastWordsBroke, stayed } from './farewell.ts';
import { keyed, withPendingDigits } from './keying.ts';
import { waitingWords } from './spoken-cues.ts';
import { hasWords, provisionalText } from './transcript.ts';
import type { TurnSettings } from './turn-settings.ts';
import { isLeaving, type BotSound, type In, type Step, type TurnEvent, type TurnState, quietly } from './turn-state.ts';

type BotStarted = TurnEvent & { readonly type: 'bot-started' };
type SentenceStarted = TurnEvent & { readonly type: 'sentence-started' };

/** The bot's words begin to be heard. */
export function botSpeaks(_settings: TurnSettings, before: TurnState, { policy, asks }: BotStarted | SentenceStarted): Step {
  return quietly({ ...withQuestion(before, asks), phase: { name: 'bot-speaking', policy, contest: undefined } });
}

/** The reply begins to be heard. */
export function replyStarts(settings: TurnSettings, before: In<'thinking'>, event: BotStarted | SentenceStarted): Step {
  const { state: speaking } = botSpeaks(settings, before, event);
  const { words } = before.caller;
  if (!before.phase.fillerSaid || waitingWords(provisionalText(words)) === undefined) return quietly(speaking);
  // The reply answers a "hello?" during the wait. What follows in its partial belongs to the asked turn.
  const { state, effects } = dropBackchannel(speaking, event.atMs, event.atMs);
  if (words.partial === undefined) return { state, effects };
  return { state: { ...state, recogniser: { ...state.recogniser, droppedSeg: before.recogniser.droppedSeg } }, effects };
}

/** A later sentence may have another interruption policy. */
export function sentenceStarts(_settings: TurnSettings, state: In<'bot-speaking'>, { policy, asks }: SentenceStarted): Step {
  return quietly({ ...withQuestion(state, asks), phase: { ...state.phase, policy } });
}

type WithReply = In<'bot-speaking'> | In<'thinking'>;

/** The whole reply was heard: a leaving bot leaves, any other expects the caller to speak. */
export function replyPlayed(settings: TurnSettings, state: WithReply, { atMs }: { readonly atMs: number }): Step {
  const { farewell } = state;
  if (farewell.stage === 'none') return callerIsExpected(settings, state, atMs);
  if (farewell.stage !== 'after-reply' || farewell.transferTo === undefined || farewell.warm !== true)
    return goodbyeHeard(settings, state);
  // After the announcement of a warm transfer the agent is rung, and the caller stays with the bot.
  const { state: listening, effects } = callerIsExpected(settings, { ...state, farewell: { stage: 'none' } }, atMs);
  return { state: { ...listening, consulting: true }, effects: [...effects, { type: 'consult', to: farewell.transferTo }] };
}

export function botFinished(settings: TurnSettings, state: WithReply, { atMs }: { readonly atMs: number }): Step {
  return callerIsExpected(settings, state, atMs);
}

/** The caller is expected to speak, or already does. */
function callerIsExpected(settings: TurnSettings, state: WithReply, atMs: number): Step {
  const { phase, caller, voice } = state;
  if (caller.pendingDigits !== '') return keyed(settings, withPendingDigits(state, ''), caller.pendingDigits, atMs);
  const contest = phase.name === 'bot-speaking' ? phase.contest : undefined;
  // Where no answer was needed, the caller has had the floor meanwhile.
  const listenedFromMs = phase.name === 'thinking' && phase.optional === true ? phase.sinceMs : atMs;
  if (contest === undefined && !hasWords(caller.words))
    return quietly({ ...state, phase: { name: 'listening', sinceMs: listenedFromMs } });
  const { evidenceMs = 0, sinceMs = atMs } = contest ?? {};
  const lastVoicedMs = voice.lastVoicedMs ?? atMs;
  return quietly({
    ...state,
    voice: { ...voice, lastVoicedMs },
    phase: { name: 'caller-speaking', sinceMs, voicedMs: evidenceMs, evidenceMs, interrupted: false },
  });
}

/** Mutes or unmutes the bot at once. A speaking caller goes on. */
export function muted(settings: TurnSettings, state: TurnState, event: TurnEvent & { readonly type: 'muted' }): Step {
  const { on, atMs, forMs } = event;
  if (!on) return quietly(unmuted(state, atMs));
  const bot = forMs === undefined ? state.bot : { ...state.bot, mutedForMs: forMs, mutedUntilMs: atMs + forMs };
  if (state.bot.muted) return quietly({ ...state, bot });
  // Drops what the bot meant to do after this reply.
  const silenced = silence(settings, { ...state, bot: { ...bot, muted: true }, farewell: stayed(state.farewell) }, atMs);
  return { state: silenced.state, effects: [{ type: 'silence' }, ...silenced.effects] };
}

/** A mute ends after its limit, as the operator may have left. */
export function muteMayBeOver(step: Step, atMs: number): Step {
  const { bot, farewell } = step.state;
  if (!bot.muted || atMs < bot.mutedUntilMs || farewell.stage === 'connecting') return step;
  return { state: unmuted(step.state, atMs), effects: [...step.effects, { type: 'unmuted' }] };
}

function silence(settings: TurnSettings, state: TurnState, atMs: number): Step {
  const { phase } = state;
  switch (phase.name) {
    case 'caller-speaking':
    case 'settling':
      return quietly({ ...state, phase: { ...phase, interrupted: false } });
    case 'thinking':
      return callerIsExpected(settings, { ...state, phase }, atMs);
    case 'bot-speaking':
      return callerIsExpected(settings, { ...state, phase }, atMs);
    case 'listening':
    case 'keying':
      return quietly(state);
  }
}

/** The bot listens again: the no-input time starts anew, as after a reply. */
function unmuted(state: TurnState, atMs: number): TurnState {
  const { phase, caller } = state;
  const waiting = phase.name === 'listening' ? { ...phase, sinceMs: atMs } : phase;
  const bot = { ...state.bot, muted: false, mutedForMs: Number.POSITIVE_INFINITY, mutedUntilMs: Number.POSITIVE_INFINITY };
  return { ...state, bot, caller: { ...caller, noInputs: 0 }, phase: waiting };
}

/** Detects a caller waiting in silence for announced sound, which only the gateway can end. */
export function botSounds(
  settings: TurnSettings,
  state: TurnState,
  { sound, atMs }: TurnEvent & { readonly type: 'bot-sound' },
): Step {
  const { bot } = state;
  if (!owesSound(state, sound)) return quietly(bot.owesSinceMs === undefined ? state : withOwed(state, undefined));
  const isMade = isLeaving(state) || sound === 'synthesizing';
  const sinceMs = bot.owesSinceMs ?? atMs;
  if (atMs - sinceMs < (isMade ? settings.stalledMs : settings.thinkingLimitMs))
    return quietly(bot.owesSinceMs === undefined ? withOwed(state, sinceMs) : state);
  const stalled = withOwed(state, undefined);
  if (sound === 'synthesizing') return { state: stalled, effects: [{ type: 'stalled', in: 'synthesis' }] };
  return isLeaving(state) ? lastWordsBroke(stalled) : { state: stalled, effects: [{ type: 'stalled', in: 'dialog' }] };
}

function owesSound({ phase, farewell }: TurnState, sound: BotSound): boolean {
  if (sound === 'audible' || sound === 'none') return false;
  if (farewell.stage === 'last-words') return true;
  if (phase.name === 'thinking') return sound === 'synthesizing';
  return phase.name === 'bot-speaking' && phase.contest === undefined;
}

function withOwed(state: TurnState, owesSinceMs: number | undefined): TurnState {
  return { ...state, bot: { ...state.bot, owesSinceMs } };
}
