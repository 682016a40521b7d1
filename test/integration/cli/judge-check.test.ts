import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { lastJson, runCommand } from '../../support/command.ts';
import { EvalFolder } from '../../unit/rehearsal/evals/eval-folder.ts';
import { BotServer } from '../dialog/bot-server.ts';

// A judge that finds everything true, and quotes the first line for it.
const server = new BotServer((response, { body }) => {
  const { messages } = JSON.parse(body) as { messages: { content: string }[] };
  const content = messages.at(-1)?.content ?? '';
  const sentences = content.slice(content.indexOf('The sentences:')).match(/^\d+\. /gmu) ?? [];
  const verdicts = sentences.map((_, index) => ({ number: index + 1, yes: true, line: 1, quote: 'Hello' }));
  const answer = content.includes('garbage') ? 'no JSON' : JSON.stringify({ verdicts });
  const choices = [{ index: 0, message: { role: 'assistant', content: answer }, finish_reason: 'stop' }];
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ choices }));
});
const folder = new EvalFolder({});
let url = '';
beforeAll(async () => {
  url = await server.listen();
});
afterAll(async () => {
  folder[Symbol.dispose]();
  await server[Symbol.asyncDispose]();
});

const labels = (calls: string): string =>
  folder.write('labels.yaml', `model: { baseUrl: "${url}/v1", model: judge-1 }\ncalls:\n${calls}`);
const check = (...args: string[]) =>
  runCommand(['eval', 'judge-check', ...args], { OFFHOOK_DATA_DIR: join(folder.path, 'data') });

const CALLS = `  - name: polite
    lines: ["bot: Hello, how can I help you?", "caller: a visit", "bot: Which day?"]
    sentences: { The bot greets.: true, The bot is rude.: false }
`;

it("says how often the judge and people agree, Cohen's kappa, and where they do not", async () => {
  const path = labels(CALLS);
  const { code, stdout } = await check(path);
  expect([code, stdout]).toEqual([
    0,
    `2 sentences: 50 % equal, Cohen's kappa 0.00, 0 without a verdict
  polite: "The bot is rude.": people say no, the judge says yes
    Hello
`,
  ]);
  const strict = await check(path, '--least', '0.6', '--as-json');
  expect(strict.code).toBe(1);
  expect(lastJson(strict)).toMatchObject({
    ok: false,
    agreement: 0.5,
    kappa: 0,
    disagreements: [{ call: 'polite', judged: true }],
  });
});

it('counts a judge without a usable answer as one who disagrees, and goes on', async () => {
  const { stdout } = await check(
    labels(`${CALLS}  - { name: broken, lines: ["bot: garbage"], sentences: { It works.: true } }\n`),
  );
  expect(stdout).toContain('3 sentences: 33.3 % equal');
  expect(stdout).toContain('broken: "It works.": people say yes, the judge says no verdict\n    the model answered garbage');
});

it('names mistakes of the file with their lines, and asks no model', async () => {
  const { code, stderr } = await check(labels('  - { name: one, lines: ["agent: hi"], sentences: {} }\n'));
  expect(code).toBe(2);
  expect(stderr).toContain('calls.0.lines.0 (');
  expect(stderr).toContain('labels.yaml:3)');
  expect(stderr).toContain('a line begins with "bot: " or "caller: "');
});
