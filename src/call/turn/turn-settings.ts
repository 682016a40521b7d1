import type { Bot } from '../../config/bots.ts';
import { plainWords } from './transcript.ts';
import { DEFAULT_TURN_SETTINGS } from './turn.ts';
import type { TurnSettings } from './turn-state.ts';

/** Quiet after which most callers have said what they wanted to say. */
const ASK_EARLY_MS = 240;

/** The turn machine's settings as a bot asks for them. */
export function turnSettingsOf(bot: Bot): TurnSettings {
  const { endpointing, interruption } = DEFAULT_TURN_SETTINGS;
  const { clearAfterMs, reverseWithinMs, stopPhrases } = bot.interruption;
  return {
    ...DEFAULT_TURN_SETTINGS,
    endpointing: { ...endpointing, endpointingMs: bot.endpointingMs },
    interruption: { ...interruption, clearAfterMs, reverseWithinMs, stopPhrases: stopPhrases.map(plainWords) },
    noInputMs: bot.noInputMs,
    askEarlyMs: bot.askEarly ? ASK_EARLY_MS : undefined,
    noInputAttempts: bot.noInputAttempts,
  };
}
