import { failOverText } from '../../../dialog/fail-over.ts';
import { z } from 'zod';
import type { CallerAct } from '../../../rehearsal/chat/caller-act.ts';
import { type ChatStanding, ChatRefusedError } from '../../../rehearsal/chat/bot-chats.ts';
import type { ChatEvent } from '../../../rehearsal/chat/chat-event.ts';
import { ChatUsageError } from '../../../rehearsal/chat/open-chat.ts';
import { RequestRefused } from '../../problem.ts';
import { about, type ApiApp, type ApiDeps } from '../api-app.ts';
import { botOfTenant } from './bot-routes.ts';

const named = z.strictObject({ name: z.string().min(1).max(63) });
const chatId = z.strictObject({ chatId: z.string().min(1).max(100) });

const begin = z.strictObject({
  /** The call's first language; the bot's own where absent. */
  language: z.string().min(2).max(35).optional(),
  /** An outbound call: the person says hello first. */
  outbound: z.boolean().default(false),
  /** Variables that such a call begins with. */
  variables: z.record(z.string().min(1).max(63), z.string().max(500)).default({}),
});

const turn = z.union([
  z.strictObject({ text: z.string().trim().min(1).max(1_000) }),
  z.strictObject({ digits: z.string().regex(/^[\d*#]{1,64}$/u, 'keys: 0-9, * and #') }),
  z.strictObject({ silence: z.literal(true) }),
]);

/** Events in order. `text`: what was said or keyed, or an explanation. */
const chatEventView = z.object({
  type: z.enum([
    'says',
    'plays',
    'caller',
    'keys',
    'silence',
    'unheard',
    'understood',
    'step',
    'slot',
    'note',
    'asks',
    'transfer',
    'presses',
    'bot',
    'call-back',
    'failure',
    'warning',
  ]),
  text: z.string(),
});

export const botChatView = z.object({
  id: z.string(),
  bot: z.string(),
  /** Since the previous turn. */
  events: z.array(chatEventView),
  /** The dialog's step; null where it reports none. */
  step: z.string().nullable(),
  /** Slots and variables so far. */
  slots: z.record(z.string(), z.string()),
  /** A card number or code is expected, which is keyed and never shown. */
  keysOnly: z.boolean(),
  /** Why the chat ended; null while it goes on. */
  endReason: z.string().nullable(),
});
export type BotChatView = z.output<typeof botChatView>;
export type BotChatEventView = z.output<typeof chatEventView>;

/** Text chats with bots. The dialog is real, and calls its tools and servers, so that read access is not enough. */
export function botChatRoutes(app: ApiApp, { bots: orders, audit }: ApiDeps): void {
  const chats = orders?.chats;
  if (orders === undefined || chats === undefined) return;
  const config = { scope: 'calls:talk', stored: storedView } as const;
  app.post(
    '/bots/:name/chats',
    {
      config,
      schema: {
        summary: 'Begin a chat in text with a bot, which greets',
        params: named,
        body: begin,
        response: { 201: botChatView },
      },
    },
    async ({ principal, params: { name }, body }) => {
      botOfTenant(orders, principal, name);
      const { language, outbound, variables } = body;
      const parameter = Object.entries(variables).map(([key, value]) => `${key}=${value}`);
      const settings = {
        bot: name,
        ...(language === undefined ? {} : { language }),
        ...(outbound || parameter.length > 0 ? { outbound: true, parameter } : {}),
      };
      const chat = await refusing(() => chats.open(principal.id, settings));
      const { id: by, tenantId } = principal;
      await audit?.add({ by, tenantId, action: 'bot-chat.begin', subject: chat.id, outcome: 'done' });
      return viewOf(chat);
    },
  );
  app.post(
    '/bot-chats/:chatId/turns',
    {
      config,
      schema: {
        summary: 'Say something in a chat, press keys, or stay silent; the answer is what the bot says and does',
        params: chatId,
        body: turn,
        response: { 200: botChatView },
      },
    },
    async ({ principal, params, body }) => {
      const standing = await refusing(() => chats.act(principal.id, params.chatId, actOf(body)));
      if (standing === undefined) throw new RequestRefused(404, 'There is no such chat: it is over, or was idle for too long.');
      return viewOf(standing);
    },
  );
  app.delete(
    '/bot-chats/:chatId',
    about('calls:talk', 'End a chat', { params: chatId, response: { 200: z.object({ ended: z.boolean() }) } }),
    async ({ principal, params }) => ({ ended: await chats.end(principal.id, params.chatId) }),
  );
}

/** Words are not stored for a repeat. */
function storedView(answer: unknown): unknown {
  return { ...botChatView.parse(answer), events: [], slots: {} };
}

async function refusing<Done>(run: () => Promise<Done>): Promise<Done> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof ChatRefusedError) throw new RequestRefused(409, `${error.message}.`);
    if (error instanceof ChatUsageError) throw new RequestRefused(400, `${error.message}.`);
    throw error;
  }
}

function actOf(body: z.output<typeof turn>): CallerAct {
  if ('text' in body) return { kind: 'say', text: body.text };
  return 'digits' in body ? { kind: 'press', keys: body.digits } : { kind: 'silence' };
}

function viewOf({ id, bot, events, step, slots, expectsSecret, endReason }: ChatStanding): BotChatView {
  return {
    id,
    bot,
    events: events.flatMap(eventViews),
    step: step ?? null,
    slots: { ...slots },
    keysOnly: expectsSecret,
    endReason: endReason ?? null,
  };
}

function eventViews(event: ChatEvent): BotChatEventView[] {
  switch (event.type) {
    case 'says':
    case 'warning':
    case 'failure':
      return [{ type: event.type, text: event.type === 'says' ? event.text : event.message }];
    case 'plays':
      return [{ type: 'plays', text: event.source }];
    case 'caller':
      return [{ type: event.kind === 'spoken' ? 'caller' : event.kind === 'keyed' ? 'keys' : 'silence', text: event.text }];
    case 'unheard':
      return [{ type: 'unheard', text: event.because }];
    case 'understood':
      return event.answer.status === 'complete' ? [{ type: 'understood', text: event.answer.value }] : [];
    case 'opted-out':
      return [{ type: 'note', text: event.kind }];
    case 'action':
      return actionViews(event.action);
    case 'call':
    case 'cut':
    case 'answered-by':
    case 'end':
      return [];
  }
}

function actionViews(action: (ChatEvent & { type: 'action' })['action']): BotChatEventView[] {
  switch (action.type) {
    case 'step':
      return [...(action.through ?? []), action.name].map((text) => ({ type: 'step', text }));
    case 'set':
      return Object.entries(action.variables).map(([name, value]) => ({ type: 'slot', text: `${name} = ${value}` }));
    case 'note':
      return [{ type: 'note', text: action.text }];
    case 'gather':
      return action.contract === undefined ? [] : [{ type: 'asks', text: action.contract.kind }];
    case 'transfer':
      return [{ type: 'transfer', text: action.to }];
    case 'digits':
      return [{ type: 'presses', text: action.digits }];
    case 'bot':
      return [{ type: 'bot', text: action.name }];
    case 'call-back':
      return [{ type: 'call-back', text: action.at ?? '' }];
    case 'fail-over':
      return [{ type: 'note', text: failOverText(action) }];
    case 'language':
    case 'listen':
    case 'recording':
    case 'hangup':
    case 'cancel-transfer':
    case 'usage':
      return [];
  }
}
