import { plainWords } from './transcript.ts';
import { DEFAULT_TURN_SETTINGS } from './turn.ts';
import type { TurnSettings } from './turn-state.ts';
import type { ValueReader } from './value-reader.ts';

/** What a bot's file says of turn-taking. */
export interface BotTurnTaking {
  readonly endpointingMs: number;
  readonly noInputMs: number;
  readonly noInputAttempts: number;
  readonly askEarly: boolean;
  readonly interruption: {
    readonly clearAfterMs: number;
    readonly reverseWithinMs: number;
    readonly stopPhrases: readonly string[];
  };
}

/** A line of which nothing has come for so long after it was due is late, and no longer only uneven, … */
export const LATE_AFTER_MS = 60;
/** … and no longer late after this, but away: some carriers send nothing of silence. */
export const LATE_UNTIL_MS = 500;
/** Quiet after which most callers have said what they wanted to say. */
const ASK_EARLY_MS = 240;

/** The turn machine's settings as a bot asks for them. */
export function turnSettingsOf(bot: BotTurnTaking, reader: ValueReader): TurnSettings {
  const { endpointing, interruption } = DEFAULT_TURN_SETTINGS;
  const { clearAfterMs, reverseWithinMs, stopPhrases } = bot.interruption;
  return {
    ...DEFAULT_TURN_SETTINGS,
    endpointing: { ...endpointing, endpointingMs: bot.endpointingMs },
    interruption: { ...interruption, clearAfterMs, reverseWithinMs, stopPhrases: stopPhrases.map(plainWords) },
    noInputMs: bot.noInputMs,
    askEarlyMs: bot.askEarly ? ASK_EARLY_MS : undefined,
    noInputAttempts: bot.noInputAttempts,
    reader,
  };
}
