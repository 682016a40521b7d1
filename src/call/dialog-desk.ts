import type { CallFacts, DialogAction, DialogHook } from '../dialog/port.ts';
import type { CallBook } from './call-book.ts';
import { disposeDialog, runDialog } from './dialog-runner.ts';
import type { Media } from './media.ts';
import type { CallIdentity, CallServices } from './services.ts';
import type { AskedInput } from './turn-state.ts';

/** A dialog that failed this often in a row is given up, with an apology. */
const MOST_FAILURES = 3;

/** What a dialog may do to its call beyond speaking. */
export interface DialogFloor {
  expect(gather: DialogAction & { type: 'gather' }): void;
  changeLanguage(language: string, voice: string | undefined): void;
  hangUpAfterThis(reason: string): void;
  transferAfterThis(to: string): void;
  pressAfterThis(digits: string): void;
  /** The dialog's answer is complete. @param hints what the caller is expected to say */
  listenFor(hints: readonly string[]): void;
  /** The dialog had no answer, and the caller is asked to say it again. */
  sayAgain(): void;
  /** The dialog has failed too often. */
  giveUp(): void;
}

/** Asks the bot's dialog and carries its answers out. */
export class DialogDesk {
  readonly #identity: CallIdentity;
  readonly #services: CallServices;
  readonly #book: CallBook;
  readonly #floor: DialogFloor;
  readonly #hook: DialogHook;
  #failures = 0;

  constructor(identity: CallIdentity, services: CallServices, book: CallBook, floor: DialogFloor) {
    this.#identity = identity;
    this.#services = services;
    this.#book = book;
    this.#floor = floor;
    this.#hook = identity.dialog.create(this.#facts(identity.bot.language));
  }

  /** Gives up the running reply and asks for another. */
  ask(input: AskedInput, turn: number, { voice, line }: Media): void {
    const reply = voice.start(turn);
    this.#book.asked(turn, input);
    const dialogTurn = {
      call: this.#facts(voice.language),
      index: turn,
      input: input.kind === 'spoken' ? { ...input, language: voice.language } : input,
      history: this.#book.conversation.history(line.ledger),
      variables: this.#book.variables,
      idempotencyKey: `${this.#identity.callId}.${turn}`,
    };
    void runDialog(this.#hook, dialogTurn, reply, {
      say: (action) => {
        this.#failures = 0;
        voice.say(reply, action);
      },
      act: (action) => this.#act(action),
      answered: () => this.#book.answered(turn),
      complete: (hints) => {
        voice.flush();
        this.#floor.listenFor(hints);
      },
      failed: (error) => this.failed(error),
    });
  }

  /** The dialog had no answer: the caller is asked to say it again; after some tries the call is given up. */
  failed(error: unknown): void {
    this.#book.dialogFailed(error);
    this.#failures += 1;
    if (this.#failures >= MOST_FAILURES) this.#floor.giveUp();
    else this.#floor.sayAgain();
  }

  /** Lets the dialog clean up. Never rejects. */
  async dispose(): Promise<void> {
    await disposeDialog(this.#hook, this.#identity.callId, this.#services);
  }

  #act(action: Exclude<DialogAction, { type: 'say' }>): void {
    switch (action.type) {
      case 'gather':
        return this.#floor.expect(action);
      case 'set':
        this.#book.variables = { ...this.#book.variables, ...action.variables };
        return;
      case 'language':
        return this.#floor.changeLanguage(action.language, action.voice);
      case 'note':
        this.#book.notes.push(action.text);
        return;
      case 'hangup':
        return this.#floor.hangUpAfterThis(action.reason);
      case 'transfer':
        return this.#floor.transferAfterThis(action.to);
      case 'digits':
        return this.#floor.pressAfterThis(action.digits);
    }
  }

  #facts(language: string): CallFacts {
    const { callId, bot, inbound } = this.#identity;
    const { from, to, direction } = inbound;
    return { callId, botName: bot.name, from, to, direction, language };
  }
}
