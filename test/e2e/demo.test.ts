import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { getPriority, setPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { activeLevelDb, peakLevel } from '../../src/audio/level.ts';
import { parseWav } from '../../src/audio/wav.ts';
import { until } from '../support/processes.ts';
import { lastJson, type RunningOffhook, type SharedPlatform, startOffhook, startSharedPlatform } from './run-offhook.ts';

const ms = z.number().nonnegative();
const report = z.strictObject({
  ok: z.boolean(),
  turns: z.array(
    z.strictObject({
      caller: z.string(),
      recognised: z.string(),
      bot: z.string(),
      botHeard: z.string(),
      latencyMs: z.looseObject({ dialog: ms.optional(), total: ms.optional() }),
    }),
  ),
  interruptions: z.array(z.strictObject({ turn: z.number(), atMs: ms, botSilentMs: ms.optional() })),
  digits: z.string(),
  recording: z.string().optional(),
  record: z.string(),
  analysis: z.string().optional(),
  problems: z.array(z.string()),
});

const START = ['demo', '--json'];
const folder = mkdtempSync(join(tmpdir(), 'offhook-demo-test-'));
let runs: RunningOffhook;
/** Its call has begun, from when on most of it is listening; or it has failed. */
let begun: Promise<unknown>;
beforeAll(() => {
  // Of bots of one's own, here none, and of ports that are taken the demo knows nothing.
  runs = startOffhook(START, { OFFHOOK_BOTS__FOLDER: folder, OFFHOOK_HTTP__PORT: '1' });
  begun = Promise.race([runs.finished, until('the call', () => runs.output().includes('calling http'), 200_000)]);
});

/** What those who change the caller share; the demo itself starts its own. */
let platform: Promise<SharedPlatform> | undefined;
afterAll(async () => {
  await (await platform)?.[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

const ended = async (running: RunningOffhook) => {
  const finished = await running.finished;
  return { code: finished.code, report: report.parse(lastJson(finished)) };
};

/** Started while the demo listens, and behind it where there is work to do: its call is the one that is measured. */
const tampered = async (how: string) => {
  await begun;
  const { env } = await (platform ??= startSharedPlatform(join(folder, 'platform')));
  const running = startOffhook([...START, '--tamper', how], env);
  setPriority(running.pid, Math.max(10, getPriority(running.pid)));
  return ended(running);
};

// Each holds a call in real time, most of which is listening: they share the wait.
describe.concurrent('the demo', { timeout: 220_000 }, () => {
  it('goes as scripted, and keeps a recording, a record and an analysis', async () => {
    const { code, report: told } = await ended(runs);
    expect(told.problems).toEqual([]);
    expect(code).toBe(0);
    expect(told.turns.length).toBeGreaterThanOrEqual(5);
    expect(told.turns.map(({ recognised }) => recognised)).toEqual(
      told.turns.map(({ caller }) => (caller === '' ? '' : expect.stringMatching(new RegExp(`^${caller}$`, 'iu')))),
    );
    expect(told.interruptions).toHaveLength(1);
    expect(told.interruptions[0]?.botSilentMs).toBeLessThan(300);

    const [caller, bot] = parseWav(readFileSync(told.recording!)).samples;
    for (const channel of [caller!, bot!]) {
      const level = activeLevelDb(channel, 8_000);
      expect(level).toBeGreaterThan(-30);
      expect(level).toBeLessThan(-12);
      expect(peakLevel(channel)).toBeLessThan(32_700);
    }
    const analysis = z.looseObject({
      version: z.literal(1),
      channels: z.array(z.looseObject({ role: z.string(), text: z.string() })),
      talkRatio: z.number(),
    });
    const { channels, talkRatio } = analysis.parse(JSON.parse(readFileSync(told.analysis!, 'utf8')));
    expect(channels.map(({ role }) => role)).toEqual(['caller', 'bot']);
    expect(channels[0]!.text.toLowerCase()).toContain('appointment');
    expect(channels[1]!.text).toContain('Lakeside Clinic');
    expect(talkRatio).toBeGreaterThan(0.02);
    expect(talkRatio).toBeLessThan(0.6);
    expect(JSON.parse(readFileSync(told.record, 'utf8'))).toMatchObject({ version: 1, digits: told.digits });
  });

  it('fails when the caller swaps two of its lines: nothing but sound reaches the recogniser', async () => {
    const { code, report: told } = await tampered('swap-lines');
    expect(code).toBe(1);
    expect(told.ok).toBe(false);
    expect(told.turns[1]).toMatchObject({
      caller: 'when are you open',
      recognised: expect.not.stringMatching(/when are you open/iu),
    });
    expect(told.problems.join('\n')).toContain('the caller\'s line is "when are you open"');
  });

  it('fails when the caller is silent', async () => {
    const { code, report: told } = await tampered('mute');
    expect(code).toBe(1);
    expect(told.ok).toBe(false);
    expect(told.turns[1]).toMatchObject({ caller: 'when are you open', recognised: '' });
  });
});
