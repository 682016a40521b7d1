import { type Contest, type Evidence, type Interruptible, NO_EVIDENCE, type VoiceFrame } from './evidence.ts';
import type { Farewell, TransferResult } from './farewell-state.ts';
import { NO_WORDS, type TurnWords } from './transcript.ts';
import type { ExpectedValue } from './value-reader.ts';

/** What the next answer is expected to be; set by the dialog's `gather`. */
export interface Expectation {
  readonly endpointingMs?: number;
  readonly noInputMs?: number;
  readonly maxDigits?: number;
  /** Kind of value, and what reading it depends on. */
  readonly value?: ExpectedValue;
  /** A message of at most this length is left, and recorded with `record`: only silence, a key or the limit ends it. */
  readonly message?: { readonly maxMs: number; readonly record?: true };
  /** An answer is awaited, by the dialog or after a question of the bot: a word of agreement is one. */
  readonly asked?: true;
  /** The caller waits for a result that comes by itself: their silence does not end the call. */
  readonly waits?: true;
}

export type TurnEvent =
  /** 20 ms of the line. */
  | { readonly type: 'frame'; readonly frame: VoiceFrame }
  /** Time alone, when the carrier sends nothing. */
  | { readonly type: 'tick'; readonly atMs: number }
  | { readonly type: 'partial'; readonly atMs: number; readonly seg: number; readonly text: string }
  | {
      readonly type: 'final';
      readonly atMs: number;
      readonly seg: number;
      readonly text: string;
      readonly endOfUtterance: boolean | undefined;
    }
  /** The model answered `ask-model`: how likely the turn is over, 0 to 1. */
  | { readonly type: 'model-answered'; readonly lastVoicedMs: number; readonly likelihood: number }
  /** A dialog that hears the caller finds their turn over. */
  | { readonly type: 'turn-over'; readonly atMs: number }
  | { readonly type: 'digit'; readonly atMs: number; readonly digit: string }
  /** The dialog sets the next expectation; undefined where it answered a silence without asking anew. */
  | { readonly type: 'expect'; readonly atMs: number; readonly expectation: Expectation | undefined }
  /** The dialog gave no answer and is asked the turn again. */
  | { readonly type: 'asked-again'; readonly atMs: number }
  /** The line is back after a lost socket; waiting starts anew. */
  | { readonly type: 'reattached'; readonly atMs: number }
  /** The call opens: the bot has the floor first. */
  | { readonly type: 'call-started'; readonly atMs: number }
  /** An outbound call was answered, by a party still unknown. */
  | { readonly type: 'dialled-answered'; readonly atMs: number }
  /**
   * A person answered, or came on: the dialog greets. `afterSeg`: words up to this segment were a machine's. `silences`: the bot is talking to a
   * machine.
   */
  | { readonly type: 'person-answered'; readonly atMs: number; readonly afterSeg: number; readonly silences: boolean }
  /** A machine answered after all: the bot falls silent, and what was heard opens no turn. */
  | { readonly type: 'machine-answered'; readonly atMs: number }
  /** The dialog is to provide the mailbox message. */
  | { readonly type: 'message-due'; readonly atMs: number }
  /** The bot begins to speak, in a reply or outside one. `asks`: it begins a question. */
  | { readonly type: 'bot-started'; readonly atMs: number; readonly policy: Interruptible; readonly asks?: boolean }
  /** A sentence of the reply begins to be heard, with its own policy. */
  | { readonly type: 'sentence-started'; readonly atMs: number; readonly policy: Interruptible; readonly asks?: boolean }
  /** The reply is complete and all of it has been played. */
  | { readonly type: 'reply-played'; readonly atMs: number }
  /** The bot has nothing more to say. */
  | { readonly type: 'bot-finished'; readonly atMs: number }
  /** The bot leaves once its current words were heard: hangs up, or transfers the caller to `transferTo`. `warm`: it stays while an agent is rung. */
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
  /** The call reached its longest duration. */
  | { readonly type: 'time-over' }
  /** What the caller hears of the bot now; sent on each tick of a reply. */
  | { readonly type: 'bot-sound'; readonly atMs: number; readonly sound: BotSound }
  /** What follows a played reply, mainly its keys, is done, and the bot is silent. */
  | { readonly type: 'heard-out'; readonly atMs: number }
  /** A requested timer is due. */
  | { readonly type: TimerName; readonly atMs: number }
  /** The socket was lost. `awayMs`: how long the carrier itself keeps it away, as for keys that it presses; 0 otherwise. */
  | {
      readonly type: 'line-lost';
      readonly reason: 'caller-hangup' | 'carrier-lost';
      readonly graceMs: number;
      readonly awayMs: number;
    }
  /** The carrier took the caller over. `graceMs`: how long its stop may take. */
  | { readonly type: 'transferred'; readonly graceMs: number }
  /** Result of a transfer that the dialog asked for; sent after a failure, once the floor is free. */
  | { readonly type: 'transfer-over'; readonly atMs: number; readonly result: TransferResult }
  /** A natural pause, and the dialog has something to tell that it promised before. */
  | { readonly type: 'dialog-due'; readonly atMs: number; readonly tool: string }
  /** The dialog withdraws the transfer while the agent is rung. */
  | { readonly type: 'consult-cancelled'; readonly atMs: number }
  /** The agent takes the call: both are about to be connected, and the bot is silent. */
  | { readonly type: 'agent-accepted' }
  /** A supervisor starts a transfer; off where the carrier refused. */
  | { readonly type: 'connecting'; readonly on: boolean }
  /** The asked turn needs no answer. */
  | { readonly type: 'answer-optional' }
  /** An operator mutes the bot, for a time, or unmutes it. */
  | { readonly type: 'muted'; readonly atMs: number; readonly on: boolean; readonly forMs?: number };

export type TurnEffect =
  | { readonly type: 'commit'; readonly reason: string; readonly lastVoicedMs: number }
  /** The caller, who began at `sinceMs`, is silent: asks the model whether the turn sounds over. `lastVoicedMs` names the pause. */
  | { readonly type: 'ask-model'; readonly lastVoicedMs: number; readonly sinceMs: number }
  /** The words may be complete: requests an early answer. */
  | { readonly type: 'ask-early'; readonly text: string }
  /** The caller's turn is complete: ask the dialog. `provisional`: the final was not in yet. */
  | { readonly type: 'ask'; readonly input: AskedInput; readonly provisional: boolean; readonly atMs: number }
  /** A better transcript of the asked turn, whose reply is still unheard: ask again. */
  | { readonly type: 'ask-again'; readonly input: AskedInput; readonly atMs: number }
  /** A better transcript of a turn whose reply is being heard: correct the history. */
  | { readonly type: 'amend-history'; readonly text: string }
  | { readonly type: 'hold' }
  | { readonly type: 'resume' }
  | { readonly type: 'clear'; readonly by: 'voice' | 'words' | 'key'; readonly onsetMs: number; readonly atMs: number }
  /** The caller goes on before the reply was heard. `takesBack`: the turn was not over and will be asked again with all its words. */
  | { readonly type: 'cancel-reply'; readonly takesBack: boolean; readonly atMs: number }
  /** The interruption was not speech: resume from the cut word. */
  | { readonly type: 'restore' }
  | { readonly type: 'filler'; readonly waitingFor: 'words' | 'dialog' }
  /** The bot is muted: take back what it says or still has to say. */
  | { readonly type: 'silence' }
  /** The turn of a muted bot's caller is complete: keep it without asking the dialog. */
  | { readonly type: 'keep-turn'; readonly input: AskedInput; readonly atMs: number }
  | { readonly type: 'dialog-failed'; readonly reason: string }
  /** The caller stays silent: end the call. */
  | { readonly type: 'give-up'; readonly reason: 'no-input' }
  /** The mute reached its limit: the bot is unmuted. */
  | { readonly type: 'unmuted' }
  /** A secret value is expected: silence the caller in the recording from this moment on. */
  | { readonly type: 'silence-caller'; readonly fromMs: number }
  /** The reply stalled, and the caller waits in silence. */
  | { readonly type: 'stalled'; readonly in: 'synthesis' | 'dialog' }
  | { readonly type: 'say-last'; readonly phrase: LastWords }
  /** The caller opts out: record it before anything else. */
  | ({ readonly type: 'opted-out' } & HeardOptOut)
  /** Replaces a timer of the same name. */
  | { readonly type: 'start-timer'; readonly timer: TimerName; readonly afterMs: number }
  | { readonly type: 'hang-up'; readonly reason: string }
  /** The line does not come back. `atCarrier`: the call may go on there, with the caller in silence. */
  | { readonly type: 'end-call'; readonly reason: string; readonly atCarrier: boolean }
  /** The carrier is to transfer the caller. */
  | { readonly type: 'transfer'; readonly to: string }
  /** Ring an agent while the caller stays with the bot. */
  | { readonly type: 'consult'; readonly to: string };

/** `synthesizing`: a sentence is being made. `awaited`: more is to come from the dialog, or from the line. */
export type BotSound = 'none' | 'audible' | 'synthesizing' | 'awaited';

/** Stock phrases that can end a call. */
export type LastWords = 'apology' | 'shutdown' | 'goodbye' | 'oneMoment' | 'downTransfer' | 'optedOut' | 'wrongNumber';

/** A caller who opts out, or who is not the person that was called. */
export interface HeardOptOut {
  readonly kind: 'opt-out' | 'wrong-number';
  readonly how: 'spoken' | 'keyed';
  readonly atMs: number;
}

export type TimerName = 'hang-up-due' | 'line-wait-over';

export type AskedInput =
  /** `heard`: the person's first words on an outbound call; may be empty, and still grow. */
  | { readonly kind: 'start'; readonly heard?: string }
  /** `keys`: pressed after the words, for the same value. */
  | { readonly kind: 'spoken'; readonly text: string; readonly keys?: string }
  | { readonly kind: 'keyed'; readonly digits: string }
  | { readonly kind: 'no-input'; readonly attempt: number }
  /** The dialog has something to tell without being asked. */
  | { readonly kind: 'tool-result'; readonly tool: string }
  | ({ readonly kind: 'transfer' } & TransferResult);

export type Phase =
  /** Silence; the caller is expected to speak. */
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
  /** The last pause that a model was asked about, and how likely the turn is over by its sound, once it has answered. */
  readonly sound: { readonly lastVoicedMs: number; readonly likelihood: number | undefined } | undefined;
}

/** What is known of the recogniser: which of its segments are used up, and what it still owes. */
export interface Recogniser {
  /** Segments up to this one belong to turns already asked. */
  readonly askedSeg: number;
  /** Segments up to this one held nothing meant for the bot, and belong to no turn. */
  readonly droppedSeg: number;
  /** Commits whose last final is outstanding, on a platform that marks it. */
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
  /** The bot neither speaks nor acts, and its dialog is not asked. */
  readonly muted: boolean;
  /** Length of the mute by the last order, and its end; infinite where no limit was given. */
  readonly mutedForMs: number;
  readonly mutedUntilMs: number;
  /** Since when the caller waits in silence for what the bot has begun; undefined where they do not. */
  readonly owesSinceMs: number | undefined;
}

/** What was said and pressed that may be an opt-out. */
export interface OptOutPart {
  /** Words of the running breath, in any phase. */
  readonly words: TurnWords;
  readonly changedMs: number;
  /** What these words say, and since when they have said so. */
  readonly reading: { readonly kind: HeardOptOut['kind']; readonly sinceMs: number; readonly isFinal: boolean } | undefined;
  /** The key was pressed into a question that expects digits; another key makes it one of them. */
  readonly key: { readonly sinceMs: number } | undefined;
  /** One was heard: nothing that follows is listened for. */
  readonly heard: boolean;
}

/** No opt-out so far. */
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
  /** Who answered an outbound call is unknown, or it was a machine: what is heard opens no turn. */
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
    caller: { words: NO_WORDS, wordsChangedMs: undefined, pendingDigits: '', noInputs: 0, pauses: [], sound: undefined },
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
