import { type Contest, type Evidence, type Interruptible, NO_EVIDENCE, type VoiceFrame } from './evidence.ts';
import type { Farewell, TransferResult } from './farewell-state.ts';
import { NO_WORDS, type TurnWords } from './transcript.ts';
import type { ExpectedValue } from './value-reader.ts';

/** What the next answer is expected to be; set by the dialog's `gather`. */
export interface Expectation {
  readonly endpointingMs?: number;
  readonly noInputMs?: number;
  readonly maxDigits?: number;
  /** What kind of value the answer is, and what reading it depends on. */
  readonly value?: ExpectedValue;
  /** A message is left, and recorded where that is said, for so long at most: only silence, a key or that time ends it. */
  readonly message?: { readonly maxMs: number; readonly record?: true };
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
  | { readonly type: 'expect'; readonly atMs: number; readonly expectation: Expectation | undefined }
  /** The dialog had no answer to the turn, and is asked it once more. */
  | { readonly type: 'asked-again'; readonly atMs: number }
  /** The line is back after the carrier's socket had gone; waiting starts anew. */
  | { readonly type: 'reattached'; readonly atMs: number }
  /** The call opens: the bot has the floor first. */
  | { readonly type: 'call-started'; readonly atMs: number }
  /** A call that we placed was answered, and nobody knows by whom. */
  | { readonly type: 'dialled-answered'; readonly atMs: number }
  /**
   * A person answered, or has come on: the dialog greets. `afterSeg`: what was said up to this segment was a machine's. `silences`: the bot
   * is saying something to a machine.
   */
  | { readonly type: 'person-answered'; readonly atMs: number; readonly afterSeg: number; readonly silences: boolean }
  /** It was a machine after all: the bot falls silent, and what was heard is nobody's turn. */
  | { readonly type: 'machine-answered'; readonly atMs: number }
  /** The dialog is to say what is left on a mailbox. */
  | { readonly type: 'message-due'; readonly atMs: number }
  /** The bot begins to speak, by a reply or by words that nobody asked for. `asks`: what begins is a question. */
  | { readonly type: 'bot-started'; readonly atMs: number; readonly policy: Interruptible; readonly asks?: boolean }
  /** A sentence of the reply begins to be heard, with its own policy. */
  | { readonly type: 'sentence-started'; readonly atMs: number; readonly policy: Interruptible; readonly asks?: boolean }
  /** The reply is complete and all of it has been played. */
  | { readonly type: 'reply-played'; readonly atMs: number }
  /** The bot has nothing more to say. */
  | { readonly type: 'bot-finished'; readonly atMs: number }
  /**
   * The bot leaves once what it is saying was heard: hangs up, or has the caller connected to `transferTo`. `warm`: it stays with the
   * caller while an agent is rung.
   */
  | {
      readonly type: 'leave-after-reply';
      readonly reason: string;
      readonly transferTo?: string | undefined;
      readonly warm?: true | undefined;
    }
  /** The bot has one last sentence to say. */
  | {
      readonly type: 'last-words';
      readonly phrase: LastWords;
      readonly reason: string;
      readonly transferTo: string | undefined;
    }
  /** The call cannot go on. */
  | { readonly type: 'apologise'; readonly phrase: LastWords; readonly reason: string; readonly transferTo?: string | undefined }
  /** The call has lasted for as long as it may. */
  | { readonly type: 'time-over' }
  /** What the caller hears of the bot now; told once a tick while it has something to say. */
  | { readonly type: 'bot-sound'; readonly atMs: number; readonly sound: BotSound }
  /** What follows a reply that was played, its keys above all, is done, and nothing else is being said. */
  | { readonly type: 'heard-out'; readonly atMs: number }
  /** A timer that was asked for is due. */
  | { readonly type: TimerName; readonly atMs: number }
  /** The carrier's socket is gone. `awayMs`: how long the carrier itself keeps it away, as for keys that it presses; 0 where it does not. */
  | {
      readonly type: 'line-lost';
      readonly reason: 'caller-hangup' | 'carrier-lost';
      readonly graceMs: number;
      readonly awayMs: number;
    }
  /** The carrier has connected the caller to somebody else. `graceMs`: how long its stop may take. */
  | { readonly type: 'transferred'; readonly graceMs: number }
  /** What came of a transfer that the dialog asked for; fed where it failed, and while nobody else has the floor. */
  | { readonly type: 'transfer-over'; readonly atMs: number; readonly result: TransferResult }
  /** The dialog does not want the agent any more, who is being rung. */
  | { readonly type: 'consult-cancelled'; readonly atMs: number }
  /** The agent takes the call: the caller and the agent are about to be connected, and the bot is silent. */
  | { readonly type: 'agent-accepted' }
  /** A supervisor has the carrier connect the caller to somebody else; off where the carrier would not. */
  | { readonly type: 'connecting'; readonly on: boolean }
  /** What was asked needs no answer. */
  | { readonly type: 'answer-optional' }
  /** Somebody who looks after the call silences the bot, for so long, or gives it its voice back. */
  | { readonly type: 'muted'; readonly atMs: number; readonly on: boolean; readonly forMs?: number };

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
  | { readonly type: 'give-up'; readonly reason: 'no-input' }
  /** A mute has lasted for as long as it may: the bot has its voice back. */
  | { readonly type: 'unmuted' }
  /** A value is expected that nothing may keep: the caller's sound is silence in the recording, from this moment on. */
  | { readonly type: 'silence-caller'; readonly fromMs: number }
  /** The reply stopped in its middle, and the caller waits in silence. */
  | { readonly type: 'stalled'; readonly in: 'synthesis' | 'dialog' }
  | { readonly type: 'say-last'; readonly phrase: LastWords }
  /** The caller refuses further calls: to be written down before anything else. */
  | ({ readonly type: 'opted-out' } & HeardOptOut)
  /** In place of a timer of the same name. */
  | { readonly type: 'start-timer'; readonly timer: TimerName; readonly afterMs: number }
  | { readonly type: 'hang-up'; readonly reason: string }
  /** The line does not come back. `atCarrier`: the call may go on there, with a caller in silence. */
  | { readonly type: 'end-call'; readonly reason: string; readonly atCarrier: boolean }
  /** The carrier is to connect the caller to somebody else. */
  | { readonly type: 'transfer'; readonly to: string }
  /** An agent is to be rung while the caller stays with the bot. */
  | { readonly type: 'consult'; readonly to: string };

/** `synthesizing`: a sentence is being made. `awaited`: there is more to come from the dialog, or from the line. */
export type BotSound = 'none' | 'audible' | 'synthesizing' | 'awaited';

/** Ready-made sentences that a bot can end a call with. */
export type LastWords = 'apology' | 'shutdown' | 'goodbye' | 'oneMoment' | 'downTransfer' | 'optedOut' | 'wrongNumber';

/** A caller who wants no more calls, or who is not the person that was called. */
export interface HeardOptOut {
  readonly kind: 'opt-out' | 'wrong-number';
  readonly how: 'spoken' | 'keyed';
  readonly atMs: number;
}

export type TimerName = 'hang-up-due' | 'line-wait-over';

export type AskedInput =
  /** `heard`: what was said as a call that we placed was answered; may be empty, and still grow. */
  | { readonly kind: 'start'; readonly heard?: string }
  /** `keys` were pressed after the words, for the same value. */
  | { readonly kind: 'spoken'; readonly text: string; readonly keys?: string }
  | { readonly kind: 'keyed'; readonly digits: string }
  | { readonly kind: 'no-input'; readonly attempt: number }
  | ({ readonly kind: 'transfer' } & TransferResult);

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
      /** No answer need come: the wait is not covered, and does not fail. */
      readonly optional?: boolean;
      /** The caller has spoken since the filler, and what that was has not been asked for yet. */
      readonly spokenInto?: boolean;
    }
  | { readonly name: 'bot-speaking'; readonly policy: Interruptible; readonly contest: Contest | undefined };

export type PhaseName = Phase['name'];

/** What was heard of the caller's voice lately. */
export interface Voice {
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

/** What the caller has said and pressed in the turn that is not asked yet, and what they are like. */
export interface Caller {
  readonly words: TurnWords;
  readonly wordsChangedMs: number | undefined;
  /** Keys pressed where they could not interrupt, kept for the next turn. */
  readonly pendingDigits: string;
  /** Silences in a row. */
  readonly noInputs: number;
  /** Pauses inside their turns, in ms, newest last, at most 20. */
  readonly pauses: readonly number[];
}

/** What is known of the recogniser: which of its segments are used up, and what it still owes. */
export interface Recogniser {
  /** Segments up to this one belong to turns already asked. */
  readonly askedSeg: number;
  /** Segments up to this one held nothing meant for the bot, and belong to no turn. */
  readonly droppedSeg: number;
  /** Commits whose last final has not come, on a platform that marks it. */
  readonly commitsOutstanding: number;
  readonly lastCommitMs: number | undefined;
  /** Whether this platform says which final is the last of a commit. */
  readonly marksEndOfUtterance: boolean;
  /** Commit-to-final times of this session, newest last, at most 20. */
  readonly settlings: readonly number[];
}

/** The turn that the dialog was asked, kept so that it can be taken back. */
export interface Asked {
  readonly input: AskedInput;
  readonly words: TurnWords;
  readonly atMs: number;
  readonly segBefore: number;
  /** What this turn was expected to be. */
  readonly expectation: Expectation;
}

/** What the dialog waits for, and what it was asked. */
export interface DialogPart {
  readonly expectation: Expectation;
  /** The turn the dialog is answering. */
  readonly asked: Asked | undefined;
  /** Words of this turn that an early answer was asked for, the last ones, and how often. */
  readonly early: { readonly text: string; readonly times: number } | undefined;
  /** Until when the caller's sound is silence, for a value that nothing may keep: for ever while one is expected. */
  readonly secretUntilMs: number;
}

export interface BotPart {
  /** The bot neither speaks nor acts, and nobody is asked. */
  readonly muted: boolean;
  /** For how long, by whoever said so last, and until when; for ever where nobody said. */
  readonly mutedForMs: number;
  readonly mutedUntilMs: number;
  /** Since when the caller waits in silence for what the bot has begun; undefined where they do not. */
  readonly owesSinceMs: number | undefined;
}

/** What was said and pressed that may be an opt-out. */
export interface OptOutPart {
  /** Of the running breath, whoever had the floor. */
  readonly words: TurnWords;
  readonly changedMs: number;
  /** What these words say, and since when they have said so. */
  readonly reading: { readonly kind: HeardOptOut['kind']; readonly sinceMs: number; readonly isFinal: boolean } | undefined;
  /** The key was pressed into a question that expects digits; another key makes it one of them. */
  readonly key: { readonly sinceMs: number } | undefined;
  /** One was heard: nothing that follows is listened for. */
  readonly heard: boolean;
}

/** Nobody said or keyed anything of the kind. */
export const NO_OPT_OUT: OptOutPart = {
  words: NO_WORDS,
  changedMs: Number.NEGATIVE_INFINITY,
  reading: undefined,
  key: undefined,
  heard: false,
};

/** How late the caller's line is, and whether it is there. */
export interface Line {
  /** The last frame: when it was said, and when it came. */
  readonly frame: VoiceFrame | undefined;
  /** When something was decided last: no frame is dated before that. */
  readonly decidedMs: number;
  /** Why the call ends, and where, if the line does not come back in time; undefined while it is there. */
  readonly lost: { readonly reason: string; readonly atCarrier: boolean } | undefined;
}

/** All that turn-taking knows of a call. */
export interface TurnState {
  /** Who answered a call that we placed is not known yet, or it was a machine: what is heard is nobody's turn. */
  readonly answering: boolean;
  /** An agent is being rung: the caller waits for them, and is not expected to speak. */
  readonly consulting: boolean;
  readonly phase: Phase;
  readonly voice: Voice;
  readonly caller: Caller;
  readonly recogniser: Recogniser;
  readonly dialog: DialogPart;
  readonly bot: BotPart;
  readonly line: Line;
  readonly farewell: Farewell;
  readonly optOut: OptOutPart;
}

/** The state in one phase. */
export type In<Name extends PhaseName> = TurnState & { readonly phase: Phase & { readonly name: Name } };

export interface Step {
  readonly state: TurnState;
  readonly effects: readonly TurnEffect[];
}

export const NO_EFFECTS: readonly TurnEffect[] = [];

/** The event changes the state at most. */
export function quietly(state: TurnState): Step {
  return { state, effects: NO_EFFECTS };
}

/** Whether nothing counts that comes from the caller: last words are said, or what follows them is being done. */
export function isLeaving({ farewell: { stage } }: TurnState): boolean {
  return stage === 'last-words' || stage === 'transferring';
}

/** Before the call has started: nothing heard, nothing asked. */
export function initialTurn(): TurnState {
  return {
    answering: false,
    consulting: false,
    phase: { name: 'listening', sinceMs: Number.POSITIVE_INFINITY },
    voice: {
      recent: 0,
      burst: NO_EVIDENCE,
      burstSinceMs: undefined,
      lastVoicedMs: undefined,
      lastPitchedMs: undefined,
      pauseMs: undefined,
    },
    caller: { words: NO_WORDS, wordsChangedMs: undefined, pendingDigits: '', noInputs: 0, pauses: [] },
    recogniser: {
      askedSeg: -1,
      droppedSeg: -1,
      commitsOutstanding: 0,
      lastCommitMs: undefined,
      marksEndOfUtterance: false,
      settlings: [],
    },
    dialog: { expectation: {}, asked: undefined, early: undefined, secretUntilMs: Number.NEGATIVE_INFINITY },
    bot: { muted: false, mutedForMs: Number.POSITIVE_INFINITY, mutedUntilMs: Number.POSITIVE_INFINITY, owesSinceMs: undefined },
    line: { frame: undefined, decidedMs: Number.NEGATIVE_INFINITY, lost: undefined },
    farewell: { stage: 'none' },
    optOut: NO_OPT_OUT,
  };
}
