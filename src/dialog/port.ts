import type { AnswerContract, AnswerReading } from '../language/index.ts';

/** The seam where users plug in what the bot says. */

export interface CallFacts {
  readonly callId: string;
  /** The carrier's own id of the call; absent where a dialog is tried without one. */
  readonly carrierCallId?: string;
  readonly botName: string;
  readonly from: string;
  readonly to: string;
  readonly direction: 'inbound' | 'outbound';
  readonly language: string;
}

/** What the caller did that ended the turn. `start` opens the call and has no text. */
export type TurnInput =
  | { readonly kind: 'start' }
  | {
      readonly kind: 'spoken';
      readonly text: string;
      readonly language: string | undefined;
      /** Keys that belong to the same answer, pressed after the words. */
      readonly keys?: string;
      /** What it says as the contract that was asked for reads it. */
      readonly answer?: AnswerReading;
    }
  | { readonly kind: 'keyed'; readonly digits: string; readonly answer?: AnswerReading }
  | { readonly kind: 'no-input'; readonly attempt: number };

export interface HistoryEntry {
  readonly role: 'caller' | 'bot';
  /** For the bot: what was heard, not what was sent. */
  readonly text: string;
}

export interface DialogTurn {
  readonly call: CallFacts;
  /**
   * 0 for the greeting, then one for each turn. A turn is asked again under the same index when better words for it
   * came, or the caller went on speaking, before anything of the reply was heard: the hook then answers as if the earlier
   * attempt had not been.
   */
  readonly index: number;
  readonly input: TurnInput;
  readonly history: readonly HistoryEntry[];
  readonly variables: Readonly<Record<string, string>>;
  /** The same for every attempt at this turn; one that is asked early has a key of its own. */
  readonly idempotencyKey: string;
  /**
   * The caller may not have finished: the answer is used if these were all their words, and else thrown away and the turn
   * asked again. Only bots with `askEarly` get such turns; nothing may be done for one that cannot be undone.
   */
  readonly early?: boolean;
}

export type Interruptible = 'always' | 'keypad' | 'never';

export type DialogAction =
  | {
      readonly type: 'say';
      readonly text: string;
      /** The text goes on with the next `say`, as when a model streams it: sentences are spoken as they get complete. */
      readonly more?: boolean;
      readonly interruptible?: Interruptible;
      readonly language?: string;
      readonly voice?: string;
    }
  /** A sound in the order of what is said. Where it cannot be played, the log says why and the `text` is said. */
  | {
      readonly type: 'play';
      /** An audio file in the bot's folder, by its name there, or an https address of one. */
      readonly source: string;
      /** What is heard in it, for the history; `[audio NAME]` when absent. */
      readonly text?: string;
      /** How often it is played in a row; once when absent. */
      readonly loop?: number;
      /** What is said or played next ends it; else that waits for its end. */
      readonly preemptible?: boolean;
      readonly interruptible?: Interruptible;
    }
  /** What the next answer is expected to be. Without one, free speech is expected. */
  | {
      readonly type: 'gather';
      /** Biases recognition; at most ten terms are used. */
      readonly hints?: readonly string[];
      /** Silence that ends the caller's turn, in ms; the bot's own setting when absent. */
      readonly endpointingMs?: number;
      /** Silence from the caller before `no-input`, in ms. */
      readonly noInputMs?: number;
      /** Keyed digits that complete the answer. */
      readonly maxDigits?: number;
      /** What kind of value the answer has to be; it decides when the answer ends, and how it is read. */
      readonly contract?: AnswerContract;
    }
  | { readonly type: 'set'; readonly variables: Readonly<Record<string, string>> }
  | { readonly type: 'language'; readonly language: string; readonly voice?: string }
  /** The call goes on as another bot's, whose greeting follows; what stood behind this in the answer is left out. */
  | { readonly type: 'bot'; readonly name: string }
  | { readonly type: 'note'; readonly text: string }
  /** The caller agrees that the sound of this call is kept from now on, or does not any more. */
  | { readonly type: 'recording'; readonly on: boolean }
  | { readonly type: 'hangup'; readonly reason: string }
  /** Connects the caller to somebody else once the reply was heard. `to`: a number in E.164 form, or a `sip:` address. */
  | { readonly type: 'transfer'; readonly to: string }
  /** Presses keys at the other end once the reply was heard: 0-9, * and #; `w` waits half a second. */
  | { readonly type: 'digits'; readonly digits: string };

/** What a caller hears of a bot. */
export type AudibleAction = DialogAction & { readonly type: 'say' | 'play' };

/** One conversation's dialog. Created per call; `dispose` is called once when the call ends. */
export interface DialogHook {
  /** Answers one turn as a stream of actions, spoken as they arrive. Aborted when the answer is no longer wanted. */
  respond(turn: DialogTurn, signal: AbortSignal): AsyncIterable<DialogAction>;
  dispose?(): Promise<void>;
}

export interface DialogHookFactory {
  create(call: CallFacts): DialogHook;
}
