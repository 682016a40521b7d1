import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { loadBots } from '../../../src/config/bot-files.ts';
import type { Environment } from '../../../src/config/env.ts';
import { problemText } from '../../../src/config/problem.ts';

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'offhook-bots-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function load(dialog: string, env: Environment = {}, more = '') {
  const model = `kind: llm, baseUrl: 'http://model.test/v1', model: m, instructions: Help.`;
  writeFileSync(join(folder, 'desk.yaml'), `name: desk\nvoice: Nisha\n${more}dialog: { ${model}, ${dialog} }\n`);
  const { bots, problems } = loadBots(folder, env);
  return { bot: bots[0], problems: problems.map(problemText) };
}

const PROGRAM = 'mcp: { files: { command: npx, args: [-y, some-server], tools: [read] } }';

it('starts no program for a bot that the environment does not allow, word for word', () => {
  const { bot, problems } = load(PROGRAM);
  expect(bot).toBeUndefined();
  expect(problems[0]).toContain('OFFHOOK_MCP_COMMANDS does not have: add "npx -y some-server"');
  expect(load(PROGRAM, { OFFHOOK_MCP_COMMANDS: 'npx -y another; npx' }).bot).toBeUndefined();
  expect(load(PROGRAM, { OFFHOOK_MCP_COMMANDS: 'other; npx -y some-server ' }).bot?.name).toBe('desk');
});

it('reads the secrets that servers and the thinker name, and names those that are missing', () => {
  const dialog = `mcp: { shop: { url: 'https://shop.example/mcp', headers: { Authorization: SHOP_KEY }, tools: [price] } }, thinker: { model: big, secretEnv: BIG_KEY }`;
  const { bot, problems } = load(dialog, { SHOP_KEY: 'Bearer abc' });
  expect(bot?.toolSecrets?.['SHOP_KEY']?.reveal()).toBe('Bearer abc');
  expect(problems).toEqual([expect.stringContaining('neither BIG_KEY nor BIG_KEY_FILE is set')]);
  expect(JSON.stringify(bot)).not.toContain('Bearer abc');
});

it.each([
  { dialog: 'mcp: { shop: { tools: [price] } }', told: 'needs either url or command, and not both' },
  { dialog: `mcp: { shop: { url: 'https://shop.example/mcp' } }`, told: 'dialog.mcp.shop.tools' },
  { dialog: `mcp: { Shop-1: { url: 'https://shop.example/mcp', tools: [a] } }`, told: 'dialog.mcp.Shop-1' },
  { dialog: 'guard: { refuse: [/a(?=b)/] }', told: 'it looks ahead' },
  { dialog: 'guard: { onlyFrom: [prices] }', told: 'dialog.guard.onlyFrom' },
  { dialog: `tools: [{ name: a, description: b, url: 'http://x.test/', slow: { onHangup: wait } }]`, told: 'onHangup' },
])('names what cannot be used: $dialog', ({ dialog, told }) => {
  const { bot, problems } = load(dialog);
  expect(bot).toBeUndefined();
  expect(problems.join('\n')).toContain(told);
});

it('asks no bot early whose model has tools of others', () => {
  const { problems } = load(`mcp: { shop: { url: 'https://shop.example/mcp', tools: [price] } }`, {}, 'askEarly: true\n');
  expect(problems.join('\n')).toContain('cannot be asked early');
});
