import { stepTurn } from './turn.ts';
import { type BotTurnTaking, turnSettingsOf } from './turn-settings.ts';
import type { Step, TurnEvent, TurnSettings, TurnState } from './turn-state.ts';
import type { ValueReader } from './value-reader.ts';

/** The rules of who has the floor, as a call uses them; others can be put in their place to see what they would change. */
export interface TurnMachine {
  settingsOf(bot: BotTurnTaking): TurnSettings;
  step(settings: TurnSettings, state: TurnState, event: TurnEvent): Step;
}

/** @param reader understands the values that the calls' dialogs ask for */
export function turnMachine(reader: ValueReader): TurnMachine {
  return { settingsOf: (bot) => turnSettingsOf(bot, reader), step: stepTurn };
}
