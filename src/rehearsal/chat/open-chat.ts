import { momentOf } from '../../language/index.ts';
import { type Bot, botsOfTenant } from '../../config/bots.ts';
import { didYouMean } from '../../config/nearest.ts';
import type { Settings } from '../../config/schema.ts';
import { whenDownOf } from '../../dialog/fail-over.ts';
import { loadBotDialog } from '../../dialog/bot-dialog.ts';
import type { DialogHookFactory } from '../../dialog/port.ts';
import { type SwitchableBot, switchingBots } from '../../dialog/switching-bots.ts';
import { type Clock, systemClock } from '../../kernel/clock.ts';
import { VirtualTime } from '../replay/virtual-time.ts';
import type { ChatEvent } from './chat-event.ts';
import type { ScriptSettings } from './script.ts';
import { TextCall } from './text-call.ts';

/** The request is invalid: change the command line, the script or the bot's file. */
export class ChatUsageError extends Error {}

/** The part of a gateway's configuration that a chat needs. */
export interface ChatGateway {
  readonly settings: Pick<Settings, 'bots' | 'dialling'>;
  /** Bots the call may be handed to. */
  readonly bots: readonly Bot[];
}

/** What is around a rehearsed call, where it is not the outside world. */
export interface ChatWorld {
  /** Nothing outside is waited for: the waits of the dialog, too, pass on virtual time. */
  readonly closed: boolean;
  /** Longest wait of the caller for a turn, in ms of the call's time. */
  readonly patienceMs: number;
  /** The bot as it is rehearsed, such as with another address of its server. */
  readonly prepare: (bot: Bot) => Bot;
  /** Called with the call's virtual time, before the dialog is loaded. */
  readonly begins: (time: VirtualTime) => void;
}

const CALLER = '+15550100001';
const NUMBER = '+15550100002';
const LOCAL = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2})?)?$/u;
/** Time of a day given without one. */
const NOON = 'T12:00';

/**
 * Starts a text call with one of the bots.
 * @param settings which bot, and what it knows of the call
 * @param deadlineMs longest real time of one answer
 * @param world the outside world where absent
 * @throws ChatUsageError; errors of loading the bot's dialog
 */
export async function openChat(
  { settings: gateway, bots }: ChatGateway,
  settings: ScriptSettings,
  deadlineMs: number,
  onEvent: (event: ChatEvent) => void,
  world?: ChatWorld,
): Promise<TextCall> {
  const found = chatBot(bots, settings.bot, gateway.bots.folder);
  const spoken = settings.language === undefined ? found : { ...found, language: settings.language };
  const bot = world?.prepare(spoken) ?? spoken;
  const time = new VirtualTime(0, momentAt(settings.at, bot.timeZone));
  world?.begins(time);
  const isOutbound = settings.outbound === true || settings.parameter !== undefined;
  const [from, to] = isOutbound ? [NUMBER, CALLER] : [CALLER, NUMBER];
  const dialogs = await loadDialogs(
    botsOfTenant(bots, found.tenant).map((each) => (each === found ? bot : each)),
    bot,
    time,
    world?.closed === true ? time : systemClock,
  );
  const direction = isOutbound ? 'outbound' : 'inbound';
  const parties = { from: settings.from ?? from, to: settings.to ?? to };
  const outbound = isOutbound ? parametersOf(settings.parameter ?? []) : undefined;
  const { name, language } = bot;
  onEvent({
    type: 'call',
    bot: name,
    kind: bot.dialog.kind,
    direction,
    ...parties,
    language,
    at: new Date(time.wallMs()).toISOString(),
  });
  return new TextCall({
    bot,
    dialog: (watch) => {
      const hooks = switchingBots(
        dialogs.map((dialog) => watch.over(dialog)),
        { clock: time },
      ).get(bot.name);
      if (hooks === undefined) throw new RangeError(`the dialog of ${bot.name} was not loaded`);
      return hooks;
    },
    ...parties,
    outbound,
    dialling: gateway.dialling,
    time,
    deadlineMs,
    world,
    onEvent,
  });
}

/** The bot of this name; without one the only bot, or the default one. @throws ChatUsageError */
function chatBot(bots: readonly Bot[], name: string | undefined, folder: string): Bot {
  const known = bots.map((bot) => bot.name);
  if (name === undefined) {
    const bot = bots.length === 1 ? bots[0] : bots.find((each) => each.default);
    if (bot !== undefined) return bot;
    throw new ChatUsageError(known.length === 0 ? `there is no sound bot in ${folder}` : `name a bot: ${known.join(', ')}`);
  }
  const bot = bots.find((each) => each.name === name);
  if (bot !== undefined) return bot;
  const question = didYouMean(name, known);
  throw new ChatUsageError(`there is no sound bot "${name}"; the bots here are: ${known.join(', ') || 'none'}.${question}`);
}

/** Loads every bot's dialog of the tenant, since the bot may hand the call over; a broken one only matters then. */
async function loadDialogs(bots: readonly Bot[], mine: Bot, time: VirtualTime, clock: Clock): Promise<readonly SwitchableBot[]> {
  return Promise.all(
    bots.map(async (bot) => {
      try {
        return { bot, hooks: (await loadBotDialog(bot, clock, time)).hooks, whenDown: whenDownOf(bot, true) };
      } catch (error) {
        if (bot === mine) throw error;
        const broken: DialogHookFactory = {
          create: () => {
            throw error;
          },
        };
        return { bot, hooks: broken };
      }
    }),
  );
}

/** The wall time of a date and time, without an offset in this time zone; now where absent. @throws ChatUsageError */
export function momentAt(at: string | undefined, timeZone: string): number {
  if (at === undefined) return systemClock.wallMs();
  const atMs = LOCAL.test(at) ? momentOf(`${at}${NOON}`.slice(0, 16), timeZone) : Date.parse(at);
  if (!Number.isNaN(atMs)) return atMs;
  throw new ChatUsageError(
    `"${at}" is no date and time: 2026-03-05T10:30 (in the bot's time zone), 2026-03-05T10:30+05:30, 2026-03-05T05:00Z, or a day`,
  );
}

/** @throws ChatUsageError */
function parametersOf(pairs: readonly string[]): Record<string, string> {
  const entries = pairs.map((pair) => {
    const at = pair.indexOf('=');
    if (at < 1) throw new ChatUsageError(`"${pair}" is no name=value`);
    return [pair.slice(0, at).trim(), pair.slice(at + 1).trim()] as const;
  });
  return Object.fromEntries(entries);
}
