import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { lastJson } from '../support/command.ts';
import { type SharedPlatform, startOffhook, startSharedPlatform } from '../e2e/run-offhook.ts';

const report = z.looseObject({
  ok: z.literal(false),
  turns: z.array(z.looseObject({ caller: z.string(), recognised: z.string() })),
  problems: z.array(z.string()),
});

const folder = mkdtempSync(join(tmpdir(), 'offhook-demo-test-'));
let platform: SharedPlatform;
beforeAll(async () => void (platform = await startSharedPlatform(join(folder, 'platform'))), 300_000);
afterAll(async () => {
  await platform[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

const tampered = async (how: string) => {
  const finished = await startOffhook(['demo', '--json', '--tamper', how], platform.env).finished;
  expect(finished.code).toBe(1);
  return report.parse(lastJson(finished));
};

it('fails when the caller swaps two of its lines: nothing but sound reaches the recogniser', async () => {
  const { turns, problems } = await tampered('swap-lines');
  const recognised = expect.not.stringMatching(/when are you open/iu) as unknown;
  expect(turns[1]).toMatchObject({ caller: 'when are you open', recognised });
  expect(problems.join('\n')).toContain('the caller\'s line is "when are you open"');
});

it('fails when the caller is silent', async () => {
  const { turns } = await tampered('mute');
  expect(turns[1]).toMatchObject({ caller: 'when are you open', recognised: '' });
});
