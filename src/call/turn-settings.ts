import type { Bot } from '../config/bots.ts';
import { DEFAULT_TURN_SETTINGS } from './turn.ts';
import type { TurnSettings } from './turn-state.ts';

/** The turn machine's settings as a bot asks for them. */
export function turnSettingsOf(bot: Bot): TurnSettings {
  const { endpointing, interruption } = DEFAULT_TURN_SETTINGS;
  return {
    ...DEFAULT_TURN_SETTINGS,
    endpointing: { ...endpointing, endpointingMs: bot.endpointingMs },
    interruption: { ...interruption, clearAfterMs: bot.interruption.clearAfterMs },
    noInputMs: bot.noInputMs,
  };
}
