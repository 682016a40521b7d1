import { setImmediate } from 'node:timers/promises';
import type { DialogAction, DialogHook, DialogHookFactory, DialogTurn } from '../../dialog/port.ts';
import type { SwitchableBot } from '../../dialog/switching-bots.ts';
import type { ChatEvent } from './chat-event.ts';

/** Observes the dialogs of a call: questions, answers, and work in progress. */
export class DialogWatch {
  readonly #tell: (event: ChatEvent) => void;
  #answering = 0;
  #working = 0;
  #waiting: (() => void)[] = [];

  constructor(tell: (event: ChatEvent) => void) {
    this.#tell = tell;
  }

  /** Answers in progress. */
  get answering(): number {
    return this.#answering;
  }

  /** Waits for something outside the call: a server, a model, a file. */
  get working(): number {
    return this.#working;
  }

  /** Resolves when one of these waits ends. */
  settled(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Counts a promise as work until it settles or is aborted. */
  async work<Value>(promise: Promise<Value>, signal?: AbortSignal): Promise<Value> {
    this.#working += 1;
    let counted = true;
    const finish = (): void => {
      if (!counted) return;
      counted = false;
      this.#working -= 1;
      for (const wake of this.#waiting.splice(0)) wake();
    };
    signal?.addEventListener('abort', finish, { once: true });
    try {
      return await promise;
    } finally {
      finish();
      signal?.removeEventListener('abort', finish);
    }
  }

  /** The same bot, observed. */
  over({ bot, hooks, whenDown }: SwitchableBot): SwitchableBot {
    const create: DialogHookFactory['create'] = (call) => this.#watched(bot.name, hooks.create(call));
    return { bot, hooks: { create }, whenDown };
  }

  #watched(bot: string, hook: DialogHook): DialogHook {
    return {
      takesAdvice: hook.takesAdvice ?? false,
      listener: hook.listener,
      respond: (turn, signal) => this.#respond(bot, hook, turn, signal),
      dispose: async () => hook.dispose?.(),
    };
  }

  async *#respond(bot: string, hook: DialogHook, turn: DialogTurn, signal: AbortSignal): AsyncIterable<DialogAction> {
    const { input } = turn;
    if ('answer' in input && input.answer !== undefined) this.#tell({ type: 'understood', answer: input.answer });
    this.#answering += 1;
    let counted = true;
    const finish = (): void => {
      if (counted) this.#answering -= 1;
      counted = false;
    };
    signal.addEventListener('abort', finish, { once: true });
    const answer = hook.respond(turn, signal)[Symbol.asyncIterator]();
    try {
      for (;;) {
        const next = await this.work(answer.next(), signal);
        if (next.done === true) return;
        const action = next.value;
        if (action.type !== 'say' && action.type !== 'play' && action.type !== 'usage') {
          // Earlier sentences are requested first.
          await this.work(setImmediate(), signal);
          if (!signal.aborted) this.#tell({ type: 'action', bot, action });
        }
        yield action;
      }
    } finally {
      finish();
      signal.removeEventListener('abort', finish);
      await answer.return?.();
    }
  }
}
