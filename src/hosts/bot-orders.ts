import { BotChats } from '../rehearsal/chat/bot-chats.ts';
import type { ChatGateway } from '../rehearsal/chat/open-chat.ts';
import type { Bot } from '../config/bots.ts';
import type { Problem } from '../config/problem.ts';
import { type BotOutline, botOutline } from '../dialog/bot-dialog.ts';
import type { BotOrders } from '../http/api/api-app.ts';
import type { Clock } from '../kernel/clock.ts';

/** What the bots' files say now. */
export interface BotFilesRead {
  /** Those whose files are sound. */
  readonly bots: readonly Bot[];
  readonly problems: readonly Problem[];
}

/** Reading and checking all files takes some hundred milliseconds where there are many. */
const READ_AGAIN_AFTER_MS = 3_000;

/** The files of a gateway's bots, which may have changed since it read them, and what the last reload made of them. */
export class BotFolder {
  readonly #read: () => Promise<BotFilesRead>;
  readonly #clock: Clock;
  #last: { readonly atMs: number; readonly read: Promise<BotFilesRead> } | undefined;
  #reload: BotOrders['lastReload'];

  /** @param read reads and checks the files as a reload would */
  constructor(read: () => Promise<BotFilesRead>, clock: Clock) {
    this.#read = read;
    this.#clock = clock;
  }

  /** The files as they are, or were some seconds ago. */
  files(): Promise<BotFilesRead> {
    const nowMs = this.#clock.nowMs();
    if (this.#last === undefined || nowMs - this.#last.atMs > READ_AGAIN_AFTER_MS) {
      const read = this.#read();
      this.#last = { atMs: nowMs, read };
      read.catch(() => (this.#last = undefined));
    }
    return this.#last.read;
  }

  /** @param problems of the new bots; empty when they are in use */
  reloaded(problems: readonly string[]): void {
    this.#reload = { atMs: this.#clock.wallMs(), problems };
    this.#last = undefined;
  }

  get lastReload(): BotOrders['lastReload'] {
    return this.#reload;
  }
}

/** Disposing of it ends its chats. */
type OpenBotOrders = BotOrders & AsyncDisposable & { readonly learn: () => void };

export interface BotOrdersOptions {
  /** Those that new calls get. */
  readonly bots: () => readonly Bot[];
  /** Where the files can be read again. */
  readonly folder: BotFolder | undefined;
  readonly settings: ChatGateway['settings'];
  readonly clock: Clock;
}

/** What the API shows of bots, the dialogs as they were when new calls began to get them, and chats with them. */
export function botOrders({ bots, folder, settings, clock }: BotOrdersOptions): OpenBotOrders {
  const outlines = new WeakMap<Bot, Promise<BotOutline>>();
  const outlineOf = (bot: Bot): Promise<BotOutline> => {
    const outline = outlines.get(bot) ?? botOutline(bot);
    outlines.set(bot, outline);
    return outline;
  };
  const chats = new BotChats({ gateway: () => ({ settings, bots: bots() }), clock });
  return {
    bots,
    outlineOf,
    chats,
    files: () => folder?.files() ?? Promise.resolve({ bots: bots(), problems: [] }),
    get lastReload() {
      return folder?.lastReload;
    },
    learn() {
      for (const bot of bots()) void outlineOf(bot);
    },
    [Symbol.asyncDispose]: () => chats[Symbol.asyncDispose](),
  };
}
