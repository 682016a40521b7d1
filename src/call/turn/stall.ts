import type { TurnSettings } from './turn-settings.ts';
import { type BotSound, quietly, type Step, type TurnEvent, type TurnState } from './turn-state.ts';
import { isLeaving, lastWordsBroke } from './farewell.ts';

/** Notices a caller who waits in silence for sound that was announced: nobody but us can end that. */
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
