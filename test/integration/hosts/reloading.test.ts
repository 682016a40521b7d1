import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { loadBots } from '../../../src/config/bot-files.ts';
import { eventually } from '../../support/eventually.ts';
import { startGatewayBench } from './gateway-bench.ts';

const NEW_BOT = 'export async function* respond(turn) { yield turn.input.kind === "start" ? "The new bot." : "New."; }\n';

it('gives new calls the edited bot, live calls the old one, and keeps the old one after a bad edit', async () => {
  await using bench = await startGatewayBench();
  const folder = join(bench.dataDir, 'bots');
  const { bots } = loadBots(folder);
  const live = await bench.dial();
  const session = bench.sessionOf(live);
  await eventually('the bot to listen', () => session.standing.phase === 'listening');

  writeFileSync(join(folder, 'echo-bot.js'), 'export async function* respond( {');
  await expect(bench.gateway.useBots(bots)).rejects.toMatchObject({ code: 'OFFHOOK_DIALOG_MODULE' });
  const [firstGreeting] = (await endedCall()).turns;
  expect(firstGreeting?.botText).toContain('Hello there');

  writeFileSync(join(folder, 'echo-bot.js'), NEW_BOT);
  await bench.gateway.useBots(bots);
  const [secondGreeting] = (await endedCall()).turns;
  expect(secondGreeting?.botText).toBe('The new bot.');

  live.stream.press('7');
  await eventually('the old bot to answer', () => session.standing.turns > 1);
  await live.hangUp();
  expect((await session.ended).turns[1]?.botText).toBe('You pressed 7.');

  async function endedCall() {
    const call = await bench.dial();
    const begun = bench.sessionOf(call);
    await eventually('the bot to listen', () => begun.standing.phase === 'listening');
    await call.hangUp();
    return begun.ended;
  }
});
