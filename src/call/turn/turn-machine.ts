import type { Bot } from '../../config/bots.ts';
import { stepTurn } from './turn.ts';
import { turnSettingsOf } from './turn-settings.ts';
import type { Step, TurnEvent, TurnSettings, TurnState } from './turn-state.ts';

/** The rules of who has the floor, as a call uses them; others can be put in their place to see what they would change. */
export interface TurnMachine {
  settingsOf(bot: Bot): TurnSettings;
  step(settings: TurnSettings, state: TurnState, event: TurnEvent): Step;
}

export const TURN_MACHINE: TurnMachine = { settingsOf: turnSettingsOf, step: stepTurn };
