import type { AudibleAction, DialogAction, DialogHook, DialogTurn } from '../../dialog/port.ts';
import { answerContext, contractHints, mostKeys } from '../../language/index.ts';
import type { CallLog } from '../log/call-log.ts';
import type { Reply } from '../outbound/reply.ts';
import { type DiallingIdentity, lockedOpening } from './duties.ts';
import { disposeDialog, runDialog, tellDialog } from './run-dialog.ts';
import { EarlyAnswer } from './early-answer.ts';
import type { Media } from '../media.ts';
import type { Clock } from '../../kernel/clock.ts';
import { sleep } from '../../kernel/waiting.ts';
import type { Logger } from '../../observability/logger.ts';
import { sameWords } from '../turn/transcript.ts';
import type { CallerInput, CallIdentity, CallRecord, ResumedCall } from '../log/call-record.ts';
import type { Expectation } from '../turn/turn-state.ts';
import type { ExpectedValue } from '../turn/value-reader.ts';
import { DialogTurns } from './dialog-turns.ts';

/** A dialog that failed this often in a row at a caller's silence is given up, with an apology. */
const MOST_FAILURES = 3;
/** A turn whose answer failed is asked once more after this, while the caller is told to wait. */
const ASK_AGAIN_MS = 1_000;
/** Callers are told that so little time is left. */
const LAST_MINUTE_MS = 60_000;

export interface DialogServices {
  /** Who outbound calls are made for. */
  readonly dialling: DiallingIdentity;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Keeps the record of a call so far, so that a process that dies loses no turn. Never rejects. */
  readonly journal: (record: CallRecord) => void;
}

/** What a dialog may do to its call beyond speaking. */
export interface DialogActs {
  /** @param expectation undefined where silence was answered, and nothing asked for anew */
  expect(expectation: Expectation | undefined): void;
  /** The turn that was asked may stay without an answer. */
  needNotAnswer(): void;
  changeLanguage(language: string, voice: string | undefined): void;
  /** The caller agrees that this call's sound is kept, or does not any more. */
  keepRecording(on: boolean): void;
  hangUpAfterThis(reason: string): void;
  transferAfterThis(transfer: DialogAction & { readonly type: 'transfer' }): void;
  cancelTransfer(): void;
  pressAfterThis(digits: string): void;
  /** The dialog's answer is complete. @param hints what the caller is expected to say */
  listenFor(hints: readonly string[]): void;
  /** The dialog is asked the same turn once more: the caller is told to wait. */
  askToWait(): void;
  /** The dialog had no answer to the caller's silence: they are asked whether they are there. */
  askWhetherThere(): void;
  /** The dialog has failed twice at the same turn, or before it had said anything. */
  giveUp(): void;
  /** A transfer failed, and the dialog has nothing to say to it. */
  transferFailed(): void;
  /** The agent who is being rung for this caller. */
  transfer(): DialogTurn['transfer'];
}

interface Answer {
  readonly kind: CallerInput['kind'];
  /** Something of it can be heard. */
  spoken: boolean;
  /** It has said what the next turn is to be, and what the caller may say then. */
  gathered: boolean;
  hints: readonly string[];
  /** It failed before: the turn was asked twice. */
  isSecond: boolean;
  readonly end: () => void;
  /** Asks for another answer, in place of this one. */
  readonly askAnew: () => void;
  /** Asks for it once more: it goes on behind what has been said of it. */
  readonly askAgain: () => void;
}

/** What another process needs of the dialog to go on with the call. */
export interface DialogStanding {
  /** Rises with each question and each answer. */
  readonly changes: number;
  /** The dialog was asked, and its answer is not complete. */
  readonly pending: boolean;
  readonly gather: Gather | undefined;
  readonly saved: () => unknown;
}

type Gather = DialogAction & { readonly type: 'gather' };

const nothing = (): void => undefined;
/** Where nothing was asked that could be asked again. */
const NO_ANSWER: Answer = {
  kind: 'spoken',
  spoken: false,
  gathered: false,
  hints: [],
  isSecond: true,
  end: nothing,
  askAnew: nothing,
  askAgain: nothing,
};

/** Asks the bot's dialog and carries its answers out. */
export class DialogDriver {
  readonly #identity: CallIdentity;
  readonly #services: DialogServices;
  readonly #callLog: CallLog;
  readonly #call: DialogActs;
  readonly #hook: DialogHook;
  #failures = 0;
  /** The answer that the dialog was asked for last. */
  #answer: Answer | undefined;
  #warning: 'none' | 'due' | 'given' = 'none';
  #early: EarlyAnswer | undefined;
  #earlyAnswers = 0;
  readonly #turns: DialogTurns;
  #changes = 0;
  #pending = false;
  #gathered: Gather | undefined;
  /** Of a call that goes on here, until the running turn is. */
  #resumed: { readonly gapMs: number; readonly heard: readonly string[] } | undefined;
  /** Resolves when the dialog has taken in what it was told last, or took too long. */
  told: Promise<void> = Promise.resolve();

  constructor(identity: CallIdentity, services: DialogServices, callLog: CallLog, call: DialogActs) {
    this.#identity = identity;
    this.#services = services;
    this.#callLog = callLog;
    this.#call = call;
    const { resumed, bot } = identity;
    this.#turns = new DialogTurns(identity, services.clock, callLog, () => call.transfer());
    this.#hook = identity.dialog.create(this.#turns.facts(resumed?.state.language ?? bot.language), resumed?.state.dialog);
  }

  get standing(): DialogStanding {
    return { changes: this.#changes, pending: this.#pending, gather: this.#gathered, saved: () => this.#hook.saved?.() };
  }

  /** Goes on where a process that died had left the caller, who hears first that they were lost. */
  goOn({ next, gapMs, state }: ResumedCall, media: Media): void {
    const { conversation } = this.#callLog;
    this.#resumed = { gapMs, heard: next.do === 'ask' ? next.heard : [] };
    if (next.do === 'ask') {
      const turn = next.isNew ? conversation.open(next.input, this.#services.clock.wallMs()) : conversation.current;
      return this.ask(next.input, turn, undefined, media);
    }
    const reply = media.voice.start(conversation.current);
    this.#sayLost(reply, media);
    for (const action of next.sentences) {
      if (action.type === 'say') media.voice.say(reply, action);
      else media.voice.play(reply, action);
    }
    media.voice.flush();
    reply.close();
    const answer: Answer = { ...NO_ANSWER, spoken: true };
    if (state.gather !== undefined) this.#gather(state.gather, answer, media.voice.language);
    this.#call.listenFor(answer.hints);
  }

  #sayLost(reply: Reply, { voice }: Media): void {
    if (this.#resumed === undefined) return;
    voice.preface(reply, 'lostYou', 'never');
    reply.heardBefore = new Set(this.#resumed.heard);
    this.#resumed = undefined;
  }

  /** Has an answer made to words that the caller may not have finished; nothing of it is heard, or done, until `ask`. */
  askEarly(text: string, turn: number, expected: ExpectedValue | undefined, media: Media): void {
    this.#early?.discard();
    this.#earlyAnswers += 1;
    const asked = this.#turns.of({ kind: 'spoken', text }, turn, expected, media);
    const early = { ...asked, idempotencyKey: `${asked.idempotencyKey}.early-${this.#earlyAnswers}`, early: true };
    this.#early = new EarlyAnswer(turn, text, (signal) => this.#hook.respond(early, signal));
    this.#callLog.askedEarly(turn);
  }

  /** What the law has a call that we placed say first: no dialog can leave it out, and nothing interrupts it. */
  #sayOpening(reply: Reply, { voice }: Media): void {
    const { bot, outbound } = this.#identity;
    if (outbound === undefined) return;
    // No mailbox says "stop".
    const isMailbox = this.#callLog.outbound?.answeredBy === 'mailbox';
    const duties = outbound.duties.filter(({ duty }) => !isMailbox || duty !== 'opt-out-in-call');
    const opening = lockedOpening(bot, this.#services.dialling, duties, voice.language);
    for (const text of opening) voice.say(reply, { type: 'say', text, interruptible: 'never' });
    if (opening[0] !== undefined) this.#callLog.outbound?.identifiesBy(opening[0], reply.turnIndex);
  }

  /** When the call nears its longest duration, the next reply begins with saying so, once. */
  timeLeft(leftMs: number): void {
    const isShort = leftMs <= LAST_MINUTE_MS && this.#identity.bot.maxDurationMs > 2 * LAST_MINUTE_MS;
    if (isShort && this.#warning === 'none') this.#warning = 'due';
  }

  /** Has the dialog told something with its next turn. @returns false where it takes no advice */
  advise(text: string): boolean {
    if (this.#hook.takesAdvice !== true) return false;
    this.#turns.advice.add(text);
    // It was made without this.
    this.#early?.discard();
    this.#early = undefined;
    return true;
  }

  /** Gives up the running reply and asks for another. @param expected the value that this turn was asked for */
  ask(input: CallerInput, turn: number, expected: ExpectedValue | undefined, media: Media): void {
    const { voice } = media;
    this.#journal(media);
    const reply = voice.start(turn);
    const resumed = this.#resumed;
    this.#sayLost(reply, media);
    this.#callLog.asked(turn, input);
    this.#changes += 1;
    this.#pending = true;
    if (input.kind !== 'no-input') this.#gathered = undefined;
    if (input.kind === 'start') this.#sayOpening(reply, media);
    if (this.#warning === 'due') {
      this.#warning = 'given';
      voice.preface(reply, 'timeIsShort');
    }
    const whole = this.#turns.of(input, turn, expected, media);
    const unknown = resumed && { resumed: { gapMs: resumed.gapMs, outcome: 'unknown' as const } };
    const dialogTurn: DialogTurn = { ...whole, ...unknown };
    const early = this.#earlyFor(input, turn);
    const end = (): void => {
      voice.flush();
      reply.close();
    };
    const askAnew = (): void => this.ask(input, turn, expected, media);
    const askAgain = (): void => {
      first.abort(new Error('the turn is asked again'));
      answer.isSecond = true;
      this.#pending = true;
      voice.dropOpen();
      reply.passOverSaid();
      run((signal) => this.#later({ ...dialogTurn, again: true }, signal), reply.signal);
    };
    const first = new AbortController();
    const answer: Answer = { ...NO_ANSWER, isSecond: false, kind: input.kind, end, askAnew, askAgain };
    this.#answer = answer;
    let collected = false;
    const run = (respond: (signal: AbortSignal) => AsyncIterable<DialogAction>, signal: AbortSignal): void =>
      void runDialog(respond, reply, signal, {
        say: (action) => {
          this.#failures = 0;
          answer.spoken = true;
          if (action.type === 'say') voice.say(reply, action);
          else voice.play(reply, action);
        },
        act: (action) => {
          this.#act(action, answer, voice.language);
          collected ||= action.type === 'set';
          // A flow notes what it is about to ask of a server: that is known even where this process dies meanwhile.
          if (action.type === 'note') {
            this.#changes += 1;
            this.#journal(media);
          }
        },
        answered: () => this.#callLog.answered(turn),
        complete: (isEmpty) => {
          this.#changes += 1;
          this.#pending = false;
          // A key needs no answer: most are one of several.
          if (isEmpty && input.kind !== 'keyed') this.#callLog.dialogEmpty(turn);
          // Whoever waits for an agent is not left in silence by a dialog that does not know of outcomes.
          if (isEmpty && input.kind === 'transfer') this.#call.transferFailed();
          voice.flush();
          if (collected) this.#journal(media);
          // Silence was answered, and nothing asked for anew.
          if (input.kind === 'no-input' && !answer.gathered) this.#call.expect(undefined);
          this.#call.listenFor(answer.hints);
        },
        failed: (error) => this.failed(error),
      });
    run((signal) => early?.take(signal) ?? this.#hook.respond(dialogTurn, signal), AbortSignal.any([reply.signal, first.signal]));
  }

  /** The first answer to this turn failed: a server that was away for a moment may be back. */
  async *#later(turn: DialogTurn, signal: AbortSignal): AsyncIterable<DialogAction> {
    await sleep(this.#services.clock, ASK_AGAIN_MS, signal);
    yield* this.#hook.respond(turn, signal);
  }

  /**
   * The dialog had no answer, or broke off in its middle. Where something else is done for its callers, that answers the turn. Else the caller is
   * told to wait, and the same turn is asked once more; at the second failure the call is given up. A caller who was silent is asked whether they
   * are there. One who was not greeted has said nothing: the call is given up at once, or goes on from as much of the greeting as there is.
   * @param isLate the caller has waited for too long
   */
  failed(error: unknown, isLate = false): void {
    this.#callLog.dialogFailed(error);
    this.#failures += 1;
    this.#changes += 1;
    this.#pending = false;
    const { kind, spoken, isSecond, end, askAnew, askAgain } = this.#answer ?? NO_ANSWER;
    const greets = kind === 'start';
    const isSilence = kind === 'no-input';
    const isLast = isSecond || (isSilence && this.#failures >= MOST_FAILURES) || (greets && !spoken);
    const instead = this.#hook.failOver?.({ error, isLate, isLast });
    if (instead === 'again') {
      this.#failures = 0;
      askAnew();
    } else if (isLast || instead === 'give-up') {
      if (kind === 'transfer' && !spoken) this.#call.transferFailed();
      else this.#call.giveUp();
    } else if (greets) end();
    else if (isSilence) this.#call.askWhetherThere();
    else {
      this.#call.askToWait();
      askAgain();
    }
  }

  /** Tells the dialog something that nobody hears its words to: what it keeps and notes of it is kept. */
  tell(input: CallerInput, media: Media): void {
    const turn = this.#callLog.conversation.open(input, this.#services.clock.wallMs());
    this.#callLog.asked(turn, input);
    this.told = tellDialog(this.#hook, this.#turns.of(input, turn, undefined, media), this.#services.clock, {
      set: (variables) => this.#callLog.set(variables),
      note: (text) => this.#callLog.memory.note(text),
      callBack: (at) => this.#callBack(at),
      failed: (error) => this.#callLog.dialogFailed(error),
    });
  }

  /** Lets the dialog clean up. Never rejects. */
  async dispose(): Promise<void> {
    this.#early?.discard();
    await disposeDialog(this.#hook, this.#identity.callId, this.#services);
  }

  /** Keeps the call as it stands, for whoever ends it when this process cannot. */
  #journal({ voice, outbound, recording }: Media): void {
    this.#services.journal(this.#callLog.record('in-progress', voice.language, outbound, recording));
  }

  #act(action: Exclude<DialogAction, AudibleAction>, answer: Answer, language: string): void {
    switch (action.type) {
      case 'gather':
        return this.#gather(action, answer, language);
      case 'listen':
        return this.#call.needNotAnswer();
      case 'set':
        return this.#callLog.set(action.variables);
      case 'language':
        return this.#call.changeLanguage(action.language, action.voice);
      case 'note':
        return this.#callLog.memory.note(action.text);
      case 'step':
        return this.#callLog.stepped([...(action.through ?? []), action.name]);
      case 'bot':
        // Where there are several bots, their dialogs take it: see `switchingBots`.
        throw new RangeError('the call cannot go on as another bot');
      case 'fail-over':
        return this.#callLog.transfers.failedOver(action);
      case 'call-back':
        return this.#callBack(action.at);
      case 'recording':
        return this.#call.keepRecording(action.on);
      case 'hangup':
        return this.#call.hangUpAfterThis(action.reason);
      case 'transfer':
        return this.#call.transferAfterThis(action);
      case 'cancel-transfer':
        return this.#call.cancelTransfer();
      case 'digits':
        return this.#call.pressAfterThis(action.digits);
    }
  }

  #callBack(at: string | undefined): void {
    this.#callLog.callBackAtWallMs = at === undefined ? undefined : this.#turns.momentOf(at);
  }

  #gather(gather: Gather, answer: Answer, language: string): void {
    const { contract, hints, ...rest } = gather;
    this.#changes += 1;
    this.#gathered = gather;
    const context = answerContext(language, this.#services.clock.wallMs(), this.#identity.bot.timeZone);
    const expected = contract === undefined ? undefined : { contract, context };
    answer.gathered = true;
    answer.hints = hints ?? (contract === undefined ? [] : contractHints(contract, context.language));
    const most = contract === undefined ? undefined : mostKeys(contract);
    this.#call.expect({
      ...rest,
      ...(most === undefined || rest.maxDigits !== undefined ? {} : { maxDigits: most }),
      ...(expected === undefined ? {} : { value: expected }),
    });
  }

  /** The answer that was made early, where these were the words. */
  #earlyFor(input: CallerInput, turn: number): EarlyAnswer | undefined {
    const early = this.#early;
    this.#early = undefined;
    if (early === undefined) return undefined;
    const hit = early.turn === turn && input.kind === 'spoken' && input.keys === undefined && sameWords(early.text, input.text);
    this.#callLog.earlyAnswer(turn, hit);
    if (!hit) early.discard();
    return hit ? early : undefined;
  }
}
