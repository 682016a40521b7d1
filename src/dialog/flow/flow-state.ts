import type { CalendarDay, Language } from '../../language/index.ts';
import type { AudibleAction, DialogAction, TurnInput } from '../port.ts';

/** The state of a conversation. Plain data: it can be stored, compared and restored. */
export interface FlowState {
  readonly language: Language;
  /**
   * `which`: the open question is which part of a confirmation is wrong. `requesting`: waiting for the state's request. `message`: the caller
   * leaves one.
   */
  readonly stage: 'new' | 'question' | 'which' | 'requesting' | 'message' | 'ended';
  /** State of the open question; empty before the start. */
  readonly at: string;
  /** The states that the last step went through, oldest first, with the one it stopped at; absent where it stayed. */
  readonly entered?: readonly string[] | undefined;
  /** Values by slot; a day is `YYYY-MM-DD`, a time `HH:MM`, a choice its option's name. */
  readonly slots: Readonly<Record<string, string>>;
  /** Answers to the open question that were not understood; silences in a row. */
  readonly misses: number;
  readonly noInputs: number;
  /** How often a confirmation was answered with no. */
  readonly corrections: number;
  /** What the command `repeat` repeats. */
  readonly said: readonly AudibleAction[];
  /** The last answer, where it said a part of the value that is asked for. */
  readonly partial?: PartialAnswer | undefined;
  /** The actions that ended the conversation; empty before. */
  readonly ending: readonly DialogAction[];
}

/** What a step knows besides the state. */
export interface FlowContext {
  readonly today: CalendarDay;
  /** All that the caller has heard of the bot so far. */
  readonly heard?: string;
  /** An agent is being rung for the caller. */
  readonly isConsulting?: boolean;
  /** Wall time, for the business hours; they are not looked at where absent. */
  readonly wallMs?: number;
  /** Something was recorded in this turn, whether or not its words were understood. */
  readonly hasMessage?: boolean;
}

export interface FlowStep {
  readonly state: FlowState;
  readonly actions: readonly DialogAction[];
}

export type FlowInput = TurnInput;

/** An answer in words or keys. */
export type GivenAnswer = Extract<FlowInput, { kind: 'spoken' | 'keyed' }>;

/** An answer that says a part of the value that was asked for, and what the bot said to it. */
export interface PartialAnswer {
  readonly input: GivenAnswer;
  readonly reply: string;
}

/** @param slots known before the call, for example from a campaign */
export function newFlowState(language: Language, slots: Readonly<Record<string, string>> = {}): FlowState {
  return { language, stage: 'new', at: '', slots, misses: 0, noInputs: 0, corrections: 0, said: [], ending: [] };
}
