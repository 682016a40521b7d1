import type { CallerInput } from '../log/call-record.ts';

/** The dialog's answer to a turn, as it goes on. */
export interface RunningAnswer {
  readonly kind: CallerInput['kind'];
  /** Part of it can be heard. */
  spoken: boolean;
  /** It has set what the next turn expects. */
  gathered: boolean;
  hints: readonly string[];
  /** The turn is being asked a second time. */
  isSecond: boolean;
  readonly end: () => void;
  /** Asks for another answer in place of this one. */
  readonly askAnew: () => void;
  /** Asks for the same answer again; it continues after what was already said. */
  readonly askAgain: () => void;
}

const nothing = (): void => undefined;
/** Stands in where no question can be asked again. */
export const NO_ANSWER: RunningAnswer = {
  kind: 'spoken',
  spoken: false,
  gathered: false,
  hints: [],
  isSecond: true,
  end: nothing,
  askAnew: nothing,
  askAgain: nothing,
};
