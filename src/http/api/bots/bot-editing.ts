import type { Bot } from '../../../config/bots.ts';
import type { BotVersion, VersionIndex } from '../../../config/bot-versions.ts';
import type { Problem } from '../../../config/problem.ts';
import type { ChatStanding } from '../../../rehearsal/chat/bot-chats.ts';
import { OffhookError } from '../../../kernel/errors.ts';
import type { ScriptSettings } from '../../../rehearsal/chat/script.ts';

/** What a draft would be as a bot. */
export interface DraftCheck {
  /** The draft as a bot; undefined where its file alone has errors. */
  readonly bot: Bot | undefined;
  /** Of the draft's own file. */
  readonly problems: readonly Problem[];
  /** Errors of other files: with them, no reload is possible. */
  readonly others: readonly Problem[];
}

/** Bots whose files are edited over the API. Methods throw BotVersionsError. */
export interface BotEditing {
  /** Why a bot is not edited here; undefined where it is. */
  readOnly(bot: Bot): Promise<string | undefined>;
  /** The text of the bot's file. @throws BotVersionsError where it cannot be read */
  source(bot: Bot): string;
  /** @param isQuick checks the file by itself: without voices, sounds and other bots */
  check(bot: Bot, text: string, isQuick?: boolean): Promise<DraftCheck>;
  /** Begins a text chat with a checked draft in place of its bot. */
  chat(owner: string, draft: Bot, settings: ScriptSettings & { readonly bot: string }): Promise<ChatStanding>;
  /** Keeps a checked draft, so that a call can be had with it. @returns the version that the call is begun with */
  keepDraft(bot: Bot, draft: Pick<DraftPublication, 'text' | 'id'>): Promise<string>;
  versions(bot: Bot): VersionIndex & { readonly current: BotVersion | undefined };
  versionText(bot: Bot, number: number): string | undefined;
  /** @returns the version's number, and the problems of the reload after it */
  publish(bot: Bot, draft: DraftPublication): Promise<{ readonly number: number; readonly problems: readonly string[] }>;
  /** @returns the problems of the reload */
  restore(bot: Bot, number: number, author: string): Promise<readonly string[]>;
  /** @returns the problems of the reload */
  share(bot: Bot, number: number, percent: number): Promise<readonly string[]>;
}

export interface DraftPublication {
  readonly text: string;
  /** `Bot.version` of the draft. */
  readonly id: string;
  readonly base: string;
  readonly note: string;
  readonly author: string;
  readonly percent: number | undefined;
}

/** No run of evals begins now: the bot has one, or other bots have all that there may be. */
export class EvalBusyError extends OffhookError {
  readonly code = 'OFFHOOK_EVAL_BUSY';
  readonly retryable = true;
}

/** The latest run of a bot's suites that was begun here. */
export interface BotEvalStanding {
  readonly state: 'running' | 'done' | 'stopped' | 'failed';
  /** Whether it compares a draft with the published version. */
  readonly isDraft: boolean;
  readonly startedAtMs: number;
  /** Calls that were made, and how many there will be; 0 until the suites are read. */
  readonly calls: number;
  readonly of: number;
  /** Id of the kept run. */
  readonly run: string | undefined;
  /** Why it failed. */
  readonly problem: string | undefined;
}

/** Runs of bots' suites in text. */
export interface BotEvalOrders {
  /**
   * @param draft sound text in place of the bot's file; the published version alone where absent
   * @param runs calls of each scenario; the suite's own number where absent
   * @throws EvalBusyError
   */
  begin(bot: Bot, draft: string | undefined, runs: number | undefined): BotEvalStanding;
  /** Undefined where none was begun since the gateway's start. */
  standing(bot: Bot): BotEvalStanding | undefined;
  /** Ends a run after its call; what it has is kept. @returns false where none runs */
  stop(bot: Bot): boolean;
}
