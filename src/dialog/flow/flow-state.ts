import type { CalendarDay, Language } from '../../language/index.ts';
import type { AudibleAction, DialogAction, TurnInput } from '../port.ts';
import type { Unfinished } from './unfinished.ts';

/** Where a conversation stands. Plain data: it can be kept, compared and restored. */
export interface FlowState {
  readonly language: Language;
  /** `which`: the open question is what part of a confirmation is wrong. `requesting`: the state's request is to be answered. */
  readonly stage: 'new' | 'question' | 'which' | 'requesting' | 'ended';
  /** The state whose question is open; empty before the start. */
  readonly at: string;
  /** Details by slot; a day is `YYYY-MM-DD`, a time `HH:MM`, a choice its option's name. */
  readonly slots: Readonly<Record<string, string>>;
  /** Answers to the open question that were not understood, and silences, one after the other. */
  readonly misses: number;
  readonly noInputs: number;
  /** How often a confirmation was answered with no. */
  readonly corrections: number;
  /** What `repeat` says again. */
  readonly said: readonly AudibleAction[];
  /** A part of the value that is asked for, said in the last answer. */
  readonly unfinished?: Unfinished | undefined;
  /** What the conversation ends with, once it has ended. */
  readonly ending: readonly DialogAction[];
}

/** What a step may know besides the state. */
export interface FlowContext {
  readonly today: CalendarDay;
  /** All that the bot has said so far, as it was heard. */
  readonly heard?: string;
}

export interface FlowStep {
  readonly state: FlowState;
  readonly actions: readonly DialogAction[];
}

export type FlowInput = TurnInput;

/** @param slots details known before the call, for example from a campaign */
export function newFlowState(language: Language, slots: Readonly<Record<string, string>> = {}): FlowState {
  return { language, stage: 'new', at: '', slots, misses: 0, noInputs: 0, corrections: 0, said: [], ending: [] };
}
