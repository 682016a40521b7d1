import type { Bot } from '../../../config/bots.ts';
import type { BotVersion, VersionIndex } from '../../../config/bot-versions.ts';
import type { Problem } from '../../../config/problem.ts';
import type { ChatStanding } from '../../../rehearsal/chat/bot-chats.ts';
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
  versions(bot: Bot): VersionIndex & { readonly current: BotVersion | undefined };
  /** Keeps a checked draft, so that a call can be had with it. @returns the version that the call is begun with */
  keepDraft(bot: Bot, draft: Pick<DraftPublication, 'text' | 'id'>): Promise<string>;
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
