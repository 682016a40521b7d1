import type { Clock, Timer } from '../../kernel/clock.ts';
import { OffhookError } from '../../kernel/errors.ts';
import { newId } from '../../kernel/ids.ts';
import type { CallerAct } from './caller-act.ts';
import type { ChatEvent } from './chat-event.ts';
import { Conversation } from './conversation.ts';
import { type ChatGateway, openChat } from './open-chat.ts';
import type { ScriptSettings } from './script.ts';
import type { TextCall } from './text-call.ts';

/** A chat cannot begin or continue now. */
export class ChatRefusedError extends OffhookError {
  readonly code = 'OFFHOOK_CHAT_REFUSED';
  readonly retryable = true;
}

/** Events of a chat since the last request, and its state. */
export interface ChatStanding {
  readonly id: string;
  readonly bot: string;
  readonly events: readonly ChatEvent[];
  /** The dialog's current step, if it reports steps. */
  readonly step: string | undefined;
  readonly slots: Readonly<Record<string, string>>;
  /** A secret value is expected, which is keyed. */
  readonly expectsSecret: boolean;
  /** Why the chat ended; undefined while it goes on. */
  readonly endReason: string | undefined;
}

export interface BotChatsOptions {
  readonly gateway: () => ChatGateway;
  readonly clock: Clock;
}

/** Most chats: each takes some megabytes, and processor time at each turn. */
const MOST_CHATS = 20;
/** Most chats of one person; opening another ends the oldest. */
const MOST_OF_ONE = 3;
const IDLE_MS = 10 * 60_000;
/** Longest real time of one answer. */
const ANSWER_MS = 30_000;

interface OpenChat {
  readonly id: string;
  readonly owner: string;
  readonly bot: string;
  readonly conversation: Conversation;
  readonly call: TextCall;
  events: ChatEvent[];
  step: string | undefined;
  isBusy: boolean;
  idle: Timer;
}

/** Text chats of console users with bots; limited in number, each accessible to its owner only. */
export class BotChats implements AsyncDisposable {
  readonly #options: BotChatsOptions;
  readonly #chats = new Map<string, OpenChat>();
  #opening = 0;

  constructor(options: BotChatsOptions) {
    this.#options = options;
  }

  /**
   * Begins a chat; the bot greets.
   * @param gateway has a draft in place of a bot; that of all chats when absent
   * @throws ChatRefusedError, ChatUsageError, errors of loading the bot's dialog
   */
  async open(
    owner: string,
    settings: ScriptSettings & { readonly bot: string },
    gateway: ChatGateway = this.#options.gateway(),
  ): Promise<ChatStanding> {
    const mine = [...this.#chats.values()].filter((chat) => chat.owner === owner && !chat.isBusy);
    const [oldest] = mine;
    if (mine.length >= MOST_OF_ONE && oldest !== undefined) await this.#end(oldest);
    if (this.#chats.size + this.#opening >= MOST_CHATS)
      throw new ChatRefusedError(`${MOST_CHATS} chats go on already: end one, or come back in some minutes`);
    this.#opening += 1;
    try {
      const events: ChatEvent[] = [];
      const conversation = new Conversation((event) => this.#take(chat ?? first, event));
      const first = { events, step: undefined as string | undefined };
      let chat: OpenChat | undefined;
      const call = await openChat(gateway, settings, ANSWER_MS, conversation.take);
      const id = newId('chat');
      chat = { id, owner, bot: settings.bot, conversation, call, ...first, isBusy: true, idle: this.#idle(id) };
      this.#chats.set(id, chat);
      return await this.#run(chat, () => conversation.open(call));
    } finally {
      this.#opening -= 1;
    }
  }

  /** Performs an act of the caller. @returns undefined where this person has no such chat @throws ChatRefusedError while an answer is being made */
  async act(owner: string, id: string, act: CallerAct): Promise<ChatStanding | undefined> {
    const chat = this.#chats.get(id);
    if (chat?.owner !== owner) return undefined;
    if (chat.isBusy) throw new ChatRefusedError('the bot still answers: wait for it');
    chat.isBusy = true;
    return this.#run(chat, () => chat.conversation.act(act));
  }

  /** Ends a chat. @returns whether this person had it */
  async end(owner: string, id: string): Promise<boolean> {
    const chat = this.#chats.get(id);
    if (chat?.owner !== owner) return false;
    await this.#end(chat);
    return true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#chats.values()].map((chat) => this.#end(chat)));
  }

  /** @param run work begun with `isBusy` set */
  async #run(chat: OpenChat, run: () => Promise<void>): Promise<ChatStanding> {
    chat.idle.cancel();
    try {
      await run();
    } catch (error) {
      await this.#end(chat);
      throw error;
    } finally {
      chat.isBusy = false;
    }
    const { id, bot, conversation, events, step } = chat;
    chat.events = [];
    const { slots, expectsSecret, isOver, endReason } = conversation;
    if (isOver) await this.#end(chat);
    else if (this.#chats.has(id)) chat.idle = this.#idle(id);
    return { id, bot, events, step, slots, expectsSecret, endReason: isOver ? endReason : undefined };
  }

  #take(chat: Pick<OpenChat, 'events' | 'step'>, event: ChatEvent): void {
    chat.events.push(event);
    if (event.type === 'action' && event.action.type === 'step') chat.step = event.action.name;
  }

  #idle(id: string): Timer {
    return this.#options.clock.after(IDLE_MS, () => {
      const chat = this.#chats.get(id);
      if (chat !== undefined) void this.#end(chat);
    });
  }

  async #end({ id, call, idle }: OpenChat): Promise<void> {
    idle.cancel();
    if (this.#chats.delete(id)) await call[Symbol.asyncDispose]();
  }
}
