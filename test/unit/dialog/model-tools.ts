import { botSettings } from '../../../src/config/bots.ts';
import type { ModelToolSettings } from '../../../src/config/bot-tools.ts';

/** The tools of a model as a bot's file has them. @throws ZodError */
export function modelToolsOf(written: object): ModelToolSettings {
  const dialog = { kind: 'llm', baseUrl: 'http://model.test/v1', model: 'm', instructions: 'Help.', ...written };
  const bot = botSettings.parse({ name: 'desk', voice: 'Nisha', dialog });
  if (bot.dialog.kind !== 'llm') throw new Error('not an llm bot');
  return bot.dialog;
}
