import { BotChats } from '../rehearsal/chat/bot-chats.ts';
import type { ChatGateway } from '../rehearsal/chat/open-chat.ts';
import type { BotDraft } from '../config/bot-files.ts';
import type { Bot } from '../config/bots.ts';
import { NO_PRICES, type PriceList } from '../config/prices.ts';
import { errorsOf, type Problem, problemText } from '../config/problem.ts';
import type { Settings } from '../config/schema.ts';
import { type BotOutline, botOutline } from '../dialog/bot-dialog.ts';
import type { BotOrders } from '../http/api/api-app.ts';
import type { Clock } from '../kernel/clock.ts';
import { errorTextWithCause } from '../kernel/errors.ts';
import { BotEditing } from './bot-editing.ts';
import { BotEvals } from './bot-evals.ts';

/** What the bots' files say now. */
export interface BotFilesRead {
  /** Those whose files are sound. */
  readonly bots: readonly Bot[];
  readonly problems: readonly Problem[];
}

/** @param problems of the files; empty where new calls get these bots */
type ReloadListener = (problems: readonly string[], bots: readonly Bot[]) => Promise<void> | void;

/** Reading and checking all files takes some hundred milliseconds where there are many. */
const READ_AGAIN_AFTER_MS = 3_000;

/** The files of a gateway's bots, which may have changed since it read them, and what the last reload made of them. */
export class BotFolder {
  readonly #read: (draft?: BotDraft) => Promise<BotFilesRead>;
  readonly #clock: Clock;
  #last: { readonly atMs: number; readonly read: Promise<BotFilesRead> } | undefined;
  #reload: BotOrders['lastReload'];
  #use: ((bots: readonly Bot[]) => Promise<void>) | undefined;
  #reloading: Promise<unknown> = Promise.resolve();
  #onReload: ReloadListener = () => undefined;

  /** @param read reads and checks the files as a reload would, with a draft in place of one of them */
  constructor(read: (draft?: BotDraft) => Promise<BotFilesRead>, clock: Clock) {
    this.#read = read;
    this.#clock = clock;
  }

  /** @param use has new calls get these bots */
  serve(use: (bots: readonly Bot[]) => Promise<void>): void {
    this.#use = use;
  }

  /** Called after each reload. */
  onReload(listener: ReloadListener): void {
    this.#onReload = listener;
  }

  /** What a reload would make of a draft in place of a bot's file. */
  check(draft: BotDraft): Promise<BotFilesRead> {
    return this.#read(draft);
  }

  /** Has new calls get the bots of the files, one reload after the other. @returns their problems; with any, nothing changes */
  reload(): Promise<readonly string[]> {
    const reloading = this.#reloading.then(async () => {
      const { problems, bots } = await this.#reloadNow();
      this.reloaded(problems);
      await this.#onReload(problems, bots);
      return problems;
    });
    this.#reloading = reloading.catch(() => undefined);
    return reloading;
  }

  async #reloadNow(): Promise<{ readonly problems: readonly string[]; readonly bots: readonly Bot[] }> {
    try {
      const { bots, problems } = await this.#read();
      const errors = errorsOf(problems);
      if (errors.length > 0) return { problems: errors.map(problemText), bots: [] };
      await this.#use?.(bots);
      return { problems: [], bots };
    } catch (error) {
      return { problems: [errorTextWithCause(error)], bots: [] };
    }
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
  readonly settings: ChatGateway['settings'] & Pick<Settings, 'dataDir'>;
  /** Of what rehearsed calls use; their costs are unknown when absent. */
  readonly prices?: PriceList | undefined;
  readonly clock: Clock;
}

/** What the API shows of bots, the dialogs as they were when new calls began to get them, and chats with them. */
export function botOrders({ bots, folder, settings, prices = NO_PRICES, clock }: BotOrdersOptions): OpenBotOrders {
  const outlines = new WeakMap<Bot, Promise<BotOutline>>();
  const outlineOf = (bot: Bot): Promise<BotOutline> => {
    const outline = outlines.get(bot) ?? botOutline(bot);
    outlines.set(bot, outline);
    return outline;
  };
  const chats = new BotChats({ gateway: () => ({ settings, bots: bots() }), clock });
  const { bots: files, dialling, dataDir } = settings;
  const evals = new BotEvals({ settings: { bots: files, dialling }, prices, dataDir, clock });
  return {
    bots,
    outlineOf,
    chats,
    evals,
    editing: folder && new BotEditing({ folder, bots, chats, settings, clock }),
    files: () => folder?.files() ?? Promise.resolve({ bots: bots(), problems: [] }),
    get lastReload() {
      return folder?.lastReload;
    },
    learn() {
      for (const bot of bots()) void outlineOf(bot);
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([chats[Symbol.asyncDispose](), evals[Symbol.asyncDispose]()]);
    },
  };
}
