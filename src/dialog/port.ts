import type { AudioFormat } from '../audio/format.ts';
import type { AnsweredBy } from '../config/answered-by.ts';
import type { AnswerContract, AnswerReading } from '../language/index.ts';

// The port where a bot's words come from: a hook gets one turn of a call and yields actions.

export interface CallFacts {
  readonly callId: string;
  /** The carrier's own id of the call; absent where a dialog is tried without one. */
  readonly carrierCallId?: string;
  readonly botName: string;
  readonly from: string;
  readonly to: string;
  readonly direction: 'inbound' | 'outbound';
  readonly language: string;
  /** Outbound calls: the current opinion of who answered. A dialog that greets a mailbox leaves a message. */
  readonly answeredBy?: AnsweredBy;
}

/** What the caller did that ended the turn. */
export type TurnInput =
  /** Opens the call. Of one that we placed, `heard` is what was said as it was answered, as far as it was recognised in time. */
  | { readonly kind: 'start'; readonly heard?: string }
  | {
      readonly kind: 'spoken';
      readonly text: string;
      readonly language: string | undefined;
      /** Keys that belong to the same answer, pressed after the words. */
      readonly keys?: string;
      /** The value in it, as the contract of the question reads it. */
      readonly answer?: AnswerReading;
      /** Outbound calls: a request to be called back at another time. */
      readonly callBack?: CallBackReading;
    }
  | { readonly kind: 'keyed'; readonly digits: string; readonly answer?: AnswerReading }
  | { readonly kind: 'no-input'; readonly attempt: number }
  /** The caller is silent, and the dialog has something for them that it promised before: see `due` of a hook. */
  | { readonly kind: 'tool-result'; readonly tool: string }
  /**
   * The result of a transfer. Every outcome but `answered` is a turn whose answer the caller waits for. `answered` is reported as caller and agent
   * are connected: words are not heard then, but `set`, `note` and `call-back` are carried out.
   */
  | {
      readonly kind: 'transfer';
      readonly outcome: TransferOutcome;
      readonly to: string;
      /** The carrier's own code or word for it, or ours. */
      readonly cause?: string | undefined;
    };

export const TRANSFER_OUTCOMES = ['answered', 'busy', 'no-answer', 'declined', 'voicemail', 'dropped', 'failed'] as const;

/**
 * `declined`: the agent refused or hung up. `voicemail`: a machine answered in their place. `dropped`: one side was lost before both were connected.
 * `failed`: refused by the carrier, or not allowed by the bot's file; the only outcome of a cold transfer.
 */
export type TransferOutcome = (typeof TRANSFER_OUTCOMES)[number];

/** A call-back request. Empty without a time. */
export interface CallBackReading {
  /** Wall time; a time of day alone means the next one within calling hours, in the person's time zone. */
  readonly atMs?: number;
  /** The time in the call's language, to be repeated: `tomorrow at five o'clock in the afternoon`. */
  readonly said?: string;
}

export interface HistoryEntry {
  readonly role: 'caller' | 'bot';
  /** The caller's words, or the part of the bot's words that the caller heard. */
  readonly text: string;
}

export interface DialogTurn {
  readonly call: CallFacts;
  /**
   * 0 for the greeting, then one more for each turn. A turn is asked again under the same index when the recogniser corrects
   * its words, or the caller goes on speaking, before any of the reply was heard. The hook then answers as if for the first time.
   */
  readonly index: number;
  readonly input: TurnInput;
  readonly history: readonly HistoryEntry[];
  readonly variables: Readonly<Record<string, string>>;
  /** The same for every attempt at this turn; an early turn has its own key. */
  readonly idempotencyKey: string;
  /**
   * The caller may not have finished. The answer is used if no more words come; otherwise it is dropped and the turn repeated. Only bots with
   * `askEarly` get early turns; a hook must do nothing irreversible in one.
   */
  readonly early?: boolean;
  /**
   * The answer to this turn failed or broke off, and is requested once more with the same `idempotencyKey`: effects of the first may have happened.
   * Sentences already said are not repeated.
   */
  readonly again?: boolean;
  /**
   * Whispers of operators since the bot's last turn, oldest first, and what an operator did in its place. For the bot only: not to be read to the
   * caller.
   */
  readonly advice?: readonly string[];
  /**
   * The process with this turn died before its answer was complete, `gapMs` ago. Whether the answer's effects happened is unknown; the
   * `idempotencyKey` is the same.
   */
  readonly resumed?: { readonly gapMs: number; readonly outcome: 'unknown' };
  /** An agent is being rung while the caller may go on talking to the bot; `queued`: the caller's place in the queue, from 1. */
  readonly transfer?: {
    readonly to: string;
    readonly state: 'queued' | 'dialling' | 'ringing' | 'briefing';
    readonly place?: number;
  };
  /** A message that was recorded in this turn. */
  readonly voicemail?: { readonly durationMs: number };
}

export type Interruptible = 'always' | 'keypad' | 'never';

export type DialogAction =
  | {
      readonly type: 'say';
      readonly text: string;
      /** The next `say` continues this text, as when a model streams; each sentence is spoken once it is complete. */
      readonly more?: boolean;
      readonly interruptible?: Interruptible;
      readonly language?: string;
      readonly voice?: string;
      /** Speech that the dialog has made itself; played in place of a synthesis of `text`, which is empty. */
      readonly speech?: MadeSpeech;
    }
  /** A sound between words. When it cannot be played, the log has the reason and the `text` is spoken. */
  | {
      readonly type: 'play';
      /** An audio file in the bot's folder, by its name there, or an https address of one. */
      readonly source: string;
      /** Its words for the history; `[audio NAME]` when absent. */
      readonly text?: string;
      /** How often it is played in a row; once when absent. */
      readonly loop?: number;
      /** The next `say` or `play` stops it; when false they wait for its end. */
      readonly preemptible?: boolean;
      readonly interruptible?: Interruptible;
    }
  /** What kind of answer is expected next. Without a `gather`, free speech is expected. */
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
      /** The kind of expected value: decides when the answer ends, and how it is read. */
      readonly contract?: AnswerContract;
      /**
       * A message of at most this length is left: a key ends it, and its words are the answer. `record`: it is recorded, from the end of this reply.
       * Not for bots' own servers.
       */
      readonly message?: { readonly maxMs: number; readonly record?: true };
      /** The caller waits for something: their silence does not end the call. Not for bots' own servers. */
      readonly waits?: true;
    }
  /** No answer is needed: the caller has the floor, and is not told to wait. Later words of the bot are still heard. Not for bots' own servers. */
  | { readonly type: 'listen' }
  | { readonly type: 'set'; readonly variables: Readonly<Record<string, string>> }
  | { readonly type: 'language'; readonly language: string; readonly voice?: string }
  /** Hands the call to another bot, which greets next; the rest of this answer is dropped. */
  | { readonly type: 'bot'; readonly name: string }
  /** A fallback for the caller of the bot `from`, whose server is down. `to`: the other bot, or the number. Not for bots' own servers. */
  | { readonly type: 'fail-over'; readonly from: string; readonly step: FailOverStep; readonly to?: string }
  | { readonly type: 'note'; readonly text: string }
  /**
   * The conversation's current step, named by the bot. `through`: the steps on the way, oldest first. Stored with the call and shown to observers;
   * flows report it by themselves.
   */
  | { readonly type: 'step'; readonly name: string; readonly through?: readonly string[] }
  /**
   * Requests a call-back to the person, beside other actions. `at`: an ISO date and time; without an offset, in the person's own time; absent without
   * an agreed time. The last one of a call counts.
   */
  | { readonly type: 'call-back'; readonly at?: string }
  /** Starts or stops the recording, by the caller's consent. */
  | { readonly type: 'recording'; readonly on: boolean }
  | { readonly type: 'hangup'; readonly reason: string }
  /**
   * Transfers the caller once the reply was heard. `to`: a number in E.164 form, or a `sip:` address; with `warm`, a number that the bot's
   * file allows (`transfers.allow`).
   */
  | { readonly type: 'transfer'; readonly to: string; readonly warm?: WarmTransfer }
  /**
   * What an answer used of a model, for the cost of the call; nothing is said or done. Units are counts by name, such as `input-text-tokens`
   * (docs/costs.md). Not for bots' own servers.
   */
  | {
      readonly type: 'usage';
      readonly vendor: string;
      readonly model: string;
      readonly units: Readonly<Record<string, number>>;
    }
  /** Stops ringing the agent. */
  | { readonly type: 'cancel-transfer' }
  /** Presses keys at the other end once the reply was heard: 0-9, * and #; `w` waits half a second. */
  | { readonly type: 'digits'; readonly digits: string };

/** Speech of a speech-to-speech model: its audio and its words, both as they arrive. */
export interface MadeSpeech {
  /** The words so far. */
  readonly text: string;
  /** Whether all of its audio has come; false where it broke off. */
  readonly isWhole: boolean;
  /** Its audio in a format, oldest first; ends where the speech ends or breaks off. To be read once. */
  audio(format: AudioFormat, signal: AbortSignal): AsyncIterable<Uint8Array>;
  /** The call is about to play it. @param heard tells, then and later, how much of it the caller heard */
  placed(heard: () => HeardPart): void;
}

/** How much of a speech the caller heard. `waiting`: nothing was sent; `playing`: more of it may follow. */
export interface HeardPart {
  readonly state: 'waiting' | 'playing' | 'cut' | 'played';
  /** By the playout clock, in ms of its audio. */
  readonly heardMs: number;
  /** The whole words in it, as estimated. */
  readonly heardText: string;
}

/** A dialog that hears the caller itself, beside the recogniser. */
export interface CallerListener {
  /** Whether it wants the caller's audio now; true where absent. */
  readonly listens?: boolean;
  /** The line is there. @param line rate of what `hear` gets, in Hz, and the format that speech is played in */
  open(line: { readonly rateHz: number; readonly speech: AudioFormat }): void;
  /**
   * Not called while a secret value is keyed, nor while an operator or a transfer has the line.
   * @param pcm 16-bit mono samples of the caller, valid until the call returns
   * @param mayBeTurn whether the caller speaks, may have begun to, or waits for an answer
   */
  hear(pcm: Int16Array, mayBeTurn: boolean): void;
  /** Sets what is called when the model finds that the caller's turn is over; absent where the gateway alone decides. */
  onTurnOver?(listener: () => void): void;
}

/** The caller stays with the bot while an agent is rung, who hears the brief and takes the call by a key; then both are connected. */
export interface WarmTransfer {
  /** What the agent hears first; not heard by the caller. */
  readonly brief: string;
  /** Language of the brief; the call's where absent. */
  readonly language?: string;
  readonly voice?: string;
  /** How long the agent's phone rings, in ms; the bot's `transfers.ringMs` where absent. */
  readonly ringMs?: number;
  /**
   * While the agent is busy or does not answer, the caller waits in their queue, hears their place, and the agent is rung again. `say`: said after
   * the place.
   */
  readonly queue?: { readonly maxWaitMs: number; readonly say?: string };
}

/** An action that the caller hears. */
export type AudibleAction = DialogAction & { readonly type: 'say' | 'play' };

export type FailOverStep = 'bot' | 'transfer' | 'message' | 'callback';

/** A dialog had no answer to a turn, or broke off in the middle of one. */
export interface DialogFailure {
  readonly error: unknown;
  /** The answer took so long that the caller is not kept waiting. */
  readonly isLate: boolean;
  /** The turn is not repeated: it already was, or it is the greeting. */
  readonly isLast: boolean;
}

/** One conversation's dialog. Created per call; `dispose` is called once when the call ends. */
export interface DialogHook {
  /** Whether it uses a turn's `advice`; false where absent. */
  readonly takesAdvice?: boolean;
  /**
   * What it has to tell without being asked, such as the name of a tool whose result came late. Read often; the next natural pause becomes a turn with
   * the input `tool-result`. Undefined once a turn has told it.
   */
  readonly due?: string | undefined;
  /** Set for a dialog that hears the caller itself. */
  readonly listener?: CallerListener | undefined;
  /** Answers one turn as a stream of actions, carried out as they arrive. Aborted when the answer is not needed. */
  respond(turn: DialogTurn, signal: AbortSignal): AsyncIterable<DialogAction>;
  /** Takes over after a failure. `again`: repeat the turn, which is answered in the dialog's place. `give-up`: no fallback is left. */
  failOver?(failure: DialogFailure): 'again' | 'give-up' | undefined;
  dispose?(): Promise<void>;
  /** State needed to continue in another process, as JSON. Called often; a hook without it starts anew there, with the call's history. */
  saved?(): unknown;
}

/**
 * When the greeting of an outbound call may be requested early: `ringing` if that has no effect, `always-same` if it also does not depend on the
 * person's words; `answered` if the call must be answered first.
 */
export type GreetsAhead = 'always-same' | 'ringing' | 'answered';

export interface DialogHookFactory {
  /** May record messages, also in calls that are not recorded otherwise. */
  readonly takesMessages?: boolean | undefined;
  /** Never, where absent. */
  readonly greetsAhead?: GreetsAhead | undefined;
  /** @param saved state of a resumed call; a hook that cannot use it starts anew */
  create(call: CallFacts, saved?: unknown): DialogHook;
}

/** The tone before a recorded message: 1,000 Hz, available in every call. */
export const BEEP = 'tone:beep';

/**
 * A sound's name for texts and logs: the last part of its file name or address, without the query of an address, which may
 * hold a key.
 */
export function soundName(source: string): string {
  const path = URL.canParse(source) ? new URL(source).pathname : source;
  const name = path.split('/').findLast((part) => part !== '') ?? 'sound';
  return name.replaceAll(/[[\]\p{Cc}]/gu, '').slice(0, 100);
}

const LABEL = /\[audio [^\]]*\]/gu;

/** The history entry of a sound without a text. */
export function soundLabel(source: string): string {
  return `[audio ${soundName(source)}]`;
}

/** A text of the history without the labels of sounds. */
export function withoutSounds(text: string): string {
  return text.replaceAll(LABEL, '').trim();
}
