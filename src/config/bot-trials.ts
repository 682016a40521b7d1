import { createHash } from 'node:crypto';
import type { Bot } from './bots.ts';

/** The version that a new call gets: the same for the same call, in any process and on any machine. */
export function versionForCall(bot: Bot, callId: string): Bot {
  const { trial } = bot;
  if (trial === undefined) return bot;
  const place = createHash('sha256').update(`${bot.name} ${callId}`).digest().readUInt32BE(0) / 2 ** 32;
  return place * 100 < trial.percent ? trial.bot : bot;
}

/** Every bot that a new call may get: the current versions, and those with a share of the calls. */
export function withTrials(bots: readonly Bot[]): Bot[] {
  return bots.flatMap((bot) => (bot.trial === undefined ? [bot] : [bot, bot.trial.bot]));
}

/** What is loaded for a version of a bot, or for its name. */
export function dialogOf<Dialog>(dialogs: ReadonlyMap<string, Dialog>, bot: Pick<Bot, 'name' | 'version'>): Dialog | undefined {
  return dialogs.get(versionKey(bot)) ?? dialogs.get(bot.name);
}

/** Names one version of a bot among dialogs that are loaded; the current one goes by the bot's name. */
export function versionKey({ name, version }: Pick<Bot, 'name' | 'version'>): string {
  return `${name}@${version ?? ''}`;
}
