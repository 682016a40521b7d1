import type { TurnSettings } from './turn-settings.ts';
import { type Expectation, quietly, type Step, type TurnEvent, type TurnState } from './turn-state.ts';

type EventOf<Type extends TurnEvent['type']> = TurnEvent & { readonly type: Type };

/** The dialog has asked for something, or for nothing: a question that the bot is asking in its own words is open all the same. */
export function expect(_settings: TurnSettings, state: TurnState, { expectation }: EventOf<'expect'>): Step {
  return quietly({ ...state, dialog: { ...state.dialog, expectation: expected(state, expectation) } });
}

function expected({ phase, dialog }: TurnState, given: Expectation | undefined): Expectation {
  if (given !== undefined) return { ...given, asked: true };
  return phase.name === 'bot-speaking' && dialog.expectation.asked === true ? { asked: true } : {};
}

/** Something else of the bot's begins: a question is open all the same. */
export function questionIsOpen(
  _settings: TurnSettings,
  state: TurnState,
  { asks }: EventOf<'bot-started' | 'sentence-started'>,
): Step {
  return quietly(withQuestion(state, asks));
}

/** A question of the bot's stays open until it is answered, whatever is said behind it. */
export function withQuestion<State extends TurnState>(state: State, asks: boolean | undefined): State {
  const { dialog } = state;
  if (asks !== true || dialog.expectation.asked === true) return state;
  return { ...state, dialog: { ...dialog, expectation: { ...dialog.expectation, asked: true } } };
}

/**
 * While a value is expected that nothing may keep, and for a moment after it, the caller's sound is silence to everything behind
 * the line. What was pressed just before the dialog asked goes with it.
 */
export function withSecrecy({ secret, reader }: TurnSettings, before: TurnState, step: Step, event: TurnEvent): Step {
  const { dialog } = step.state;
  if (dialog.expectation === before.dialog.expectation) return step;
  const { value } = dialog.expectation;
  const isSecret = value !== undefined && reader.isSecret(value);
  const nowMs = cameMs(event);
  if (isSecret === keysSecret(step.state) || nowMs === undefined) return step;
  const secretUntilMs = isSecret ? Number.POSITIVE_INFINITY : nowMs + secret.tailMs;
  const state = { ...step.state, dialog: { ...dialog, secretUntilMs } };
  if (!isSecret || event.type !== 'expect') return { state, effects: step.effects };
  return { state, effects: [...step.effects, { type: 'silence-caller', fromMs: nowMs - secret.earlierMs }] };
}

/** Whether the caller is keying a value that nothing may keep. */
export function keysSecret({ dialog }: TurnState): boolean {
  return dialog.secretUntilMs === Number.POSITIVE_INFINITY;
}

/** When an event came: later than it was, where the line was late. */
function cameMs(event: TurnEvent): number | undefined {
  if (event.type === 'frame') return event.frame.cameMs ?? event.frame.atMs;
  return 'atMs' in event ? event.atMs : undefined;
}
