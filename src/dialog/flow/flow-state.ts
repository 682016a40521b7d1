import type { CalendarDay, Language } from '../../language/index.ts';
import type { AudibleAction, DialogAction, TurnInput } from '../port.ts';

/** State of a conversation, as plain data: can be stored, compared and restored. */
export interface FlowState {
  readonly language: Language;
  /**
   * `which`: the open question is which part of a confirmation is wrong. `requesting`: waiting for the state's request. `message`: the caller
   * leaves one.
   */
  readonly stage: 'new' | 'question' | 'which' | 'requesting' | 'message' | 'ended';
  /** State of the open question; empty before the start. */
  readonly at: string;
  /** States entered in the last step, oldest first, up to the current one; absent where it stayed. */
  readonly entered?: readonly string[] | undefined;
  /** Values by slot; a day is `YYYY-MM-DD`, a time `HH:MM`, a choice its option's name. */
  readonly slots: Readonly<Record<string, string>>;
  /** Misunderstood answers to the open question; consecutive silences. */
  readonly misses: number;
  readonly noInputs: number;
  /** How often a confirmation was answered with no. */
  readonly corrections: number;
  /** Words that the command `repeat` repeats. */
  readonly said: readonly AudibleAction[];
  /** The last answer, if it had a part of the expected value. */
  readonly partial?: PartialAnswer | undefined;
  /** The actions that ended the conversation; empty before. */
  readonly ending: readonly DialogAction[];
}

/** Inputs of a step besides the state. */
export interface FlowContext {
  readonly today: CalendarDay;
  /** The bot's words heard so far. */
  readonly heard?: string;
  /** An agent is being rung for the caller. */
  readonly isConsulting?: boolean;
  /** Wall time for the business hours, which are ignored where absent. */
  readonly wallMs?: number;
  /** Whether audio was recorded in this turn, with or without recognised words. */
  readonly hasMessage?: boolean;
}

export interface FlowStep {
  readonly state: FlowState;
  readonly actions: readonly DialogAction[];
}

export type FlowInput = TurnInput;

/** An answer in words or keys. */
export type GivenAnswer = Extract<FlowInput, { kind: 'spoken' | 'keyed' }>;

/** An answer with a part of the expected value, and the bot's reply to it. */
export interface PartialAnswer {
  readonly input: GivenAnswer;
  readonly reply: string;
}

/** @param slots known before the call, for example from a campaign */
export function newFlowState(language: Language, slots: Readonly<Record<string, string>> = {}): FlowState {
  return { language, stage: 'new', at: '', slots, misses: 0, noInputs: 0, corrections: 0, said: [], ending: [] };
}
