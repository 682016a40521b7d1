import type { EndpointingSettings } from './endpointing.ts';
import type { Contest, Evidence, Interruptible, InterruptionSettings, VoiceFrame } from './interruption.ts';
import type { TurnWords } from './transcript.ts';
import type { ExpectedValue, ValueReader } from './value-reader.ts';

export interface TurnSettings {
  readonly endpointing: EndpointingSettings;
  readonly interruption: InterruptionSettings;
  /** Silence from the caller, after the bot fell silent, that counts as no input. */
  readonly noInputMs: number;
  /** Silences in a row that the dialog is told of; after one more the call is given up. */
  readonly noInputAttempts: number;
  /** Pause between keys that completes a keyed answer. */
  readonly interDigitMs: number;
  /** Waiting for words, or for the dialog, longer than this is covered by a filler. */
  readonly settlingFillerMs: number;
  readonly thinkingFillerMs: number;
  /** Quiet, with words that stand still, after which the dialog is asked before the turn is over; undefined for never. */
  readonly askEarlyMs: number | undefined;
  /** A dialog that has said nothing for this long has failed this turn. */
  readonly thinkingLimitMs: number;
  /** Understands the values that dialogs ask for. */
  readonly reader: ValueReader;
}

/** What the next answer is expected to be; set by the dialog's `gather`. */
export interface Expectation {
  readonly endpointingMs?: number;
  readonly noInputMs?: number;
  readonly maxDigits?: number;
  /** What kind of value the answer is, and what reading it depends on. */
  readonly value?: ExpectedValue;
  /** An answer is waited for, by the dialog or because the bot asks a question: a word of agreement is one. */
  readonly asked?: true;
}

export type TurnEvent =
  /** 20 ms of the line. */
  | { readonly type: 'frame'; readonly frame: VoiceFrame }
  /** Time alone, for when the carrier sends nothing. */
  | { readonly type: 'tick'; readonly atMs: number }
  | { readonly type: 'partial'; readonly atMs: number; readonly seg: number; readonly text: string }
  | {
      readonly type: 'final';
      readonly atMs: number;
      readonly seg: number;
      readonly text: string;
      readonly endOfUtterance: boolean | undefined;
    }
  | { readonly type: 'digit'; readonly atMs: number; readonly digit: string }
  /** The dialog says what the next answer is to be; undefined where it answered silence, and asked for nothing anew. */
  | { readonly type: 'expect'; readonly expectation: Expectation | undefined }
  /** The line is back after the carrier's socket had gone; waiting starts anew. */
  | { readonly type: 'reattached'; readonly atMs: number }
  /** The call opens: the bot has the floor first. */
  | { readonly type: 'call-started'; readonly atMs: number }
  /** The reply's first audio went out, or words that nobody asked for are about to. `asks`: what begins is a question. */
  | { readonly type: 'bot-started'; readonly atMs: number; readonly policy: Interruptible; readonly asks?: boolean }
  /** Somebody who looks after the call silences the bot, or gives it its voice back. */
  | { readonly type: 'muted'; readonly atMs: number; readonly on: boolean }
  /** A later sentence of the same reply begins, with its own policy. */
  | { readonly type: 'bot-policy'; readonly policy: Interruptible; readonly asks?: boolean }
  /** The reply is complete and all of it has been played. */
  | { readonly type: 'bot-finished'; readonly atMs: number };

export type TurnEffect =
  | { readonly type: 'commit'; readonly reason: string; readonly lastVoicedMs: number }
  /** These may be all the caller's words: have an answer made. */
  | { readonly type: 'ask-early'; readonly text: string }
  /** The caller's turn is complete: ask the dialog. `provisional`: the final was not in yet. */
  | { readonly type: 'ask'; readonly input: AskedInput; readonly provisional: boolean; readonly atMs: number }
  /** Better words for the turn just asked, of whose reply nothing was heard: ask again. */
  | { readonly type: 'ask-again'; readonly input: AskedInput; readonly atMs: number }
  /** Words of a turn whose reply is already being heard: keep them in the history. */
  | { readonly type: 'amend-history'; readonly text: string }
  | { readonly type: 'hold' }
  | { readonly type: 'resume' }
  | { readonly type: 'clear'; readonly by: 'voice' | 'words' | 'key'; readonly onsetMs: number; readonly atMs: number }
  /**
   * The caller goes on before anything of the reply was heard. `takesBack`: the turn that was asked was not over and will
   * be asked again with all its words.
   */
  | { readonly type: 'cancel-reply'; readonly takesBack: boolean; readonly atMs: number }
  /** The interruption was nothing: speak on from the word that was cut. */
  | { readonly type: 'restore' }
  | { readonly type: 'filler'; readonly waitingFor: 'words' | 'dialog' }
  /** The bot is muted: what it says now, or has still to say, is taken back. */
  | { readonly type: 'silence' }
  /** The caller's turn is complete while the bot is muted: it is kept, and the dialog is not asked. */
  | { readonly type: 'keep-turn'; readonly input: AskedInput; readonly atMs: number }
  | { readonly type: 'dialog-failed'; readonly reason: string }
  /** Nobody is there. */
  | { readonly type: 'give-up'; readonly reason: 'no-input' };

export type AskedInput =
  | { readonly kind: 'start' }
  /** `keys` were pressed after the words, for the same value. */
  | { readonly kind: 'spoken'; readonly text: string; readonly keys?: string }
  | { readonly kind: 'keyed'; readonly digits: string }
  | { readonly kind: 'no-input'; readonly attempt: number };

/** What is known of the caller's voice in the running turn. */
export interface Hearing {
  /** Voiced flags of the last four frames, newest in bit 0. */
  readonly recent: number;
  /** Evidence for speech in the running burst. */
  readonly burst: Evidence;
  readonly burstSinceMs: number | undefined;
  readonly lastVoicedMs: number | undefined;
  /** The last voiced frame that had a pitch. */
  readonly lastPitchedMs: number | undefined;
  /** Quiet before the running burst, until it has been judged; undefined before the first one. */
  readonly pauseMs: number | undefined;
}

export type Phase =
  /** Nobody speaks; the caller is expected to. */
  | { readonly name: 'listening'; readonly sinceMs: number }
  | {
      readonly name: 'caller-speaking';
      readonly sinceMs: number;
      readonly voicedMs: number;
      /** Evidence for speech since then. */
      readonly evidenceMs: number;
      readonly interrupted: boolean;
    }
  /** Committed; the final is outstanding. */
  | {
      readonly name: 'settling';
      /** Where in what the caller said. */
      readonly committedAtMs: number;
      /** When, from which on an answer is waited for: later, where the line was late. */
      readonly sentAtMs: number;
      readonly voicedMs: number;
      readonly interrupted: boolean;
      readonly fillerSaid: boolean;
    }
  | { readonly name: 'keying'; readonly digits: string; readonly lastMs: number }
  /** The dialog was asked; nothing of its reply has been sent. */
  | {
      readonly name: 'thinking';
      readonly sinceMs: number;
      readonly fillerSaid: boolean;
      /** The caller has spoken since the filler, and what that was has not been asked for yet. */
      readonly spokenInto?: boolean;
    }
  | { readonly name: 'bot-speaking'; readonly policy: Interruptible; readonly contest: Contest | undefined };

/** The turn that the dialog was asked, kept so that it can be taken back. */
export interface Asked {
  readonly input: AskedInput;
  readonly words: TurnWords;
  readonly atMs: number;
  readonly segBefore: number;
  /** What this turn was expected to be. */
  readonly expectation: Expectation;
}

export interface TurnState {
  readonly phase: Phase;
  readonly hearing: Hearing;
  readonly words: TurnWords;
  readonly wordsChangedMs: number | undefined;
  /** Words of this turn that an early answer was asked for, the last ones, and how often. */
  readonly early: { readonly text: string; readonly times: number } | undefined;
  /** The turn the dialog is answering. */
  readonly asked: Asked | undefined;
  /** Segments up to this one belong to turns already asked. */
  readonly askedSeg: number;
  /** Segments up to this one held nothing meant for the bot, and belong to no turn. */
  readonly droppedSeg: number;
  readonly noInputs: number;
  /** Commits whose last final has not come, on a platform that marks it. */
  readonly commitsOutstanding: number;
  readonly lastCommitMs: number | undefined;
  /** Whether this platform says which final is the last of a commit. */
  readonly marksEndOfUtterance: boolean;
  /** Keys pressed where they could not interrupt, kept for the next turn. */
  readonly pendingDigits: string;
  readonly expectation: Expectation;
  /** The bot neither speaks nor acts, and nobody is asked. */
  readonly muted: boolean;
  /** Pauses of this caller inside their turns, in ms, newest last, at most 20. */
  readonly pauses: readonly number[];
  /** Commit-to-final times of this session, newest last, at most 20. */
  readonly settlings: readonly number[];
}

export interface Step {
  readonly state: TurnState;
  readonly effects: readonly TurnEffect[];
}
