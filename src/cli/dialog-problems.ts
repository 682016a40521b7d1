import { access } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Bot } from '../config/bots.ts';
import type { Problem } from '../config/problem.ts';
import { loadBotDialog } from '../dialog/bot-dialog.ts';
import { FlowInvalidError } from '../dialog/flow/load.ts';
import { systemClock } from '../kernel/clock.ts';
import { errorText } from '../kernel/errors.ts';

/**
 * What a gateway would refuse of bots whose files are sound by themselves: a flow that is none, a module that is not there.
 * A module is not run: it may do anything when it is loaded.
 */
export async function dialogProblems(bots: readonly Bot[]): Promise<Problem[]> {
  const found = await Promise.all(bots.map(problemsOf));
  return found.flat();
}

async function problemsOf(bot: Bot): Promise<Problem[]> {
  const { dialog } = bot;
  try {
    if (dialog.kind === 'flow') await loadBotDialog(bot, systemClock);
    if (dialog.kind === 'module') await access(resolve(bot.folder, dialog.file));
    return [];
  } catch (error) {
    if (error instanceof FlowInvalidError) return [...error.problems];
    return [{ key: 'dialog.file', where: `bot ${bot.name}`, message: `cannot be read: ${errorText(error)}` }];
  }
}
