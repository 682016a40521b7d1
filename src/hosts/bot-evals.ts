import type { BotDraft } from '../config/bot-files.ts';
import type { Bot } from '../config/bots.ts';
import type { PriceList } from '../config/prices.ts';
import { type BotEvalOrders, type BotEvalStanding, EvalBusyError } from '../http/api/bots/bot-editing.ts';
import type { Clock, Timer } from '../kernel/clock.ts';
import { startWorker } from '../kernel/entry-file.ts';
import { errorText } from '../kernel/errors.ts';
import type { ChatGateway } from '../rehearsal/chat/open-chat.ts';

/** Most calls of a run, those with the published version included. */
export const MOST_EVAL_CALLS = 400;
/** Runs of this gateway at once: each takes a thread. */
const MOST_RUNS = 2;
const LONGEST_MS = 10 * 60_000;
/** Time for a stopped run to end its call and keep its results. */
const STOP_MS = 40_000;
const MEMORY = { maxOldGenerationSizeMb: 512 };

/** What the thread of a run is asked; all of it can be cloned. */
export interface BotEvalTask {
  readonly bot: string;
  /** Of the bots' files. */
  readonly folder: string;
  /** In place of the bot's file; its published version is called alone where absent. */
  readonly draft: BotDraft | undefined;
  /** Calls of each scenario; the suite's own number where absent. */
  readonly runs: number | undefined;
  readonly settings: ChatGateway['settings'];
  readonly prices: PriceList;
  readonly dataDir: string;
}

/** What the thread tells. */
export type BotEvalNews =
  | { readonly type: 'calls'; readonly calls: number; readonly of: number }
  | { readonly type: 'done'; readonly run: string; readonly stopped: boolean }
  | { readonly type: 'failed'; readonly problem: string };

interface Run {
  standing: BotEvalStanding;
  /** Ends it after its call. */
  readonly stop: () => void;
  /** Ends it at once. */
  readonly end: () => Promise<unknown>;
}

export interface BotEvalsParts extends Pick<BotEvalTask, 'settings' | 'prices' | 'dataDir'> {
  readonly clock: Clock;
}

/** Runs of bots' suites in text, begun over the API: one at a time for each bot, each in a thread of low priority. */
export class BotEvals implements BotEvalOrders, AsyncDisposable {
  readonly #parts: BotEvalsParts;
  /** The latest run of each bot. */
  readonly #runs = new Map<string, Run>();

  constructor(parts: BotEvalsParts) {
    this.#parts = parts;
  }

  begin(bot: Bot, draft: string | undefined, runs: number | undefined): BotEvalStanding {
    const running = [...this.#runs].filter(([, { standing }]) => standing.state === 'running');
    if (running.some(([key]) => key === keyOf(bot)))
      throw new EvalBusyError('a run of this bot goes on: wait for it, or stop it');
    if (running.length >= MOST_RUNS) throw new EvalBusyError('runs of other bots go on: try again when one has ended');
    const { clock, ...given } = this.#parts;
    const { name, folder, file } = bot;
    const task: BotEvalTask = {
      ...given,
      bot: name,
      folder,
      draft: draft === undefined || file === undefined ? undefined : { path: file, text: draft },
      runs,
    };
    const run = this.#start(task, clock);
    this.#runs.set(keyOf(bot), run);
    return run.standing;
  }

  standing(bot: Bot): BotEvalStanding | undefined {
    return this.#runs.get(keyOf(bot))?.standing;
  }

  stop(bot: Bot): boolean {
    const run = this.#runs.get(keyOf(bot));
    if (run?.standing.state !== 'running') return false;
    run.stop();
    return true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const runs = [...this.#runs.values()];
    this.#runs.clear();
    await Promise.all(runs.map(({ end }) => end()));
  }

  #start(task: BotEvalTask, clock: Clock): Run {
    const worker = startWorker(import.meta.url, 'bot-eval-worker', task, MEMORY);
    let timer: Timer | undefined;
    const stop = (): void => {
      timer?.cancel();
      worker.postMessage('stop', []);
      timer = clock.after(STOP_MS, () => void worker.terminate());
    };
    timer = clock.after(LONGEST_MS, stop);
    const take = (change: Partial<BotEvalStanding>): void => {
      if (run.standing.state === 'running') run.standing = { ...run.standing, ...change };
    };
    worker.on('message', (news: BotEvalNews) => {
      if (news.type === 'calls') return take({ calls: news.calls, of: news.of });
      if (news.type === 'failed') take({ state: 'failed', problem: news.problem });
      else take({ state: news.stopped ? 'stopped' : 'done', run: news.run });
      // What the bots were connected to would keep the thread.
      void worker.terminate();
    });
    worker.on('error', (error) => take({ state: 'failed', problem: errorText(error) }));
    worker.once('exit', () => {
      timer?.cancel();
      take({ state: 'failed', problem: 'The run was ended before it had a result.' });
    });
    const isDraft = task.draft !== undefined;
    const run: Run = {
      standing: { state: 'running', isDraft, startedAtMs: clock.wallMs(), calls: 0, of: 0, run: undefined, problem: undefined },
      stop,
      end: () => worker.terminate(),
    };
    return run;
  }
}

function keyOf({ tenant, name }: Bot): string {
  return `${tenant} ${name}`;
}
