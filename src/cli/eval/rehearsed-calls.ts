import type { CallNews } from '../../call/log/call-news.ts';
import type { Bot } from '../../config/bots.ts';
import type { BotDialog } from '../../dialog/bot-dialog.ts';
import { type CallFacts, type DialogAction, type DialogHook, type DialogHookFactory, soundName } from '../../dialog/port.ts';
import { errorTextWithCause } from '../../kernel/errors.ts';
import { type Logger, silentLogger } from '../../observability/logger.ts';
import { DialogWatch } from '../../rehearsal/chat/dialog-watch.ts';
import type { CallObserver } from '../../rehearsal/evals/call-observer.ts';
import type { MockedWorld } from '../../rehearsal/evals/mocked-world.ts';

/** A call with sound, as its gateway knows it: who watches it, and the servers around it. */
export class RehearsedCall {
  readonly observer: CallObserver;
  readonly world: MockedWorld;
  /** Sees the questions to the bot. */
  readonly dialog: DialogWatch;
  /** Slots and variables now. */
  slots: Readonly<Record<string, string>>;
  /** Whether the caller's voice is being sent. */
  callerSpeaks: () => boolean = () => false;

  constructor(observer: CallObserver, world: MockedWorld, slots: Readonly<Record<string, string>>) {
    this.observer = observer;
    this.world = world;
    this.slots = slots;
    this.dialog = new DialogWatch(observer.take);
  }

  /** What the bot began to say, and where its dialog stands. */
  readonly take = (news: CallNews): void => {
    const { language } = this.observer;
    if (news.type === 'saying') this.observer.take({ type: 'says', text: news.text, language, voice: '' });
    if (news.type === 'state') this.slots = news.slots;
    // The first sound of an answer, over a caller who has not finished.
    if (news.type === 'reply' && this.callerSpeaks()) this.observer.cutOffs += 1;
  };

  /** A bot's dialog for this call: watched, and asking the scenario's servers. */
  hook(bot: Bot, hooks: DialogHookFactory, call: CallFacts): DialogHook {
    const around: DialogHookFactory = { create: () => this.#seen(this.world.around(hooks.create(call))) };
    return this.dialog.over({ bot, hooks: around, whenDown: undefined }).hooks.create(call);
  }

  #seen(hook: DialogHook): DialogHook {
    const { observer } = this;
    async function* seen(answer: AsyncIterable<DialogAction>): AsyncIterable<DialogAction> {
      for await (const action of answer) {
        if (action.type === 'play') observer.take({ type: 'plays', source: soundName(action.source) });
        yield action;
      }
    }
    return { ...hook, respond: (turn, signal) => seen(hook.respond(turn, signal)) };
  }
}

/** The rehearsed calls of a gateway, by its own ids of them. */
export class RehearsedCalls {
  readonly #calls = new Map<string, RehearsedCall>();
  /** The call that is being placed: what the gateway opens meanwhile is its. */
  placing: RehearsedCall | undefined;

  /** Hears the gateway's news. */
  readonly news = (news: CallNews): void => this.#calls.get(news.callId)?.take(news);

  /** Stands in for the dialogs of the gateway. No sentence is prepared: time stands still while one is spoken. */
  readonly aroundDialogs = ({ hooks }: BotDialog, bot: Bot): BotDialog => ({
    hooks: {
      takesMessages: hooks.takesMessages,
      greetsAhead: hooks.greetsAhead,
      create: (call, saved) => {
        const rehearsed = this.#calls.get(call.callId) ?? this.placing;
        if (rehearsed === undefined) return hooks.create(call, saved);
        this.#calls.set(call.callId, rehearsed);
        return rehearsed.hook(bot, hooks, call);
      },
    },
    fixedPrompts: () => [],
  });

  /** A logger that tells a call's failures and warnings to its observer. */
  get logger(): Logger {
    const warn: Logger['warn'] = ({ callId, error }, message) => {
      const observer = typeof callId === 'string' ? this.#calls.get(callId)?.observer : undefined;
      if (observer === undefined) return;
      const cause = error === undefined ? '' : errorTextWithCause(error);
      if (message === 'dialog failed') observer.take({ type: 'failure', message: cause });
      else observer.take({ type: 'warning', message: cause === '' ? message : `${message}: ${cause}` });
    };
    const logger: Logger = { ...silentLogger, warn, error: warn, child: () => logger };
    return logger;
  }

  forget(call: RehearsedCall): void {
    for (const [id, each] of this.#calls) if (each === call) this.#calls.delete(id);
  }
}
