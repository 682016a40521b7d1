import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { activeLevelDb, peakLevel } from '../../src/audio/level.ts';
import { parseWav } from '../../src/audio/wav.ts';
import { lastJson } from '../support/command.ts';
import { startOffhook } from './run-offhook.ts';

const ms = z.number().nonnegative();
const report = z.strictObject({
  ok: z.boolean(),
  carrier: z.strictObject({ name: z.string(), clear: z.enum(['native', 'none']), heard: z.enum(['proven', 'estimated']) }),
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

const folder = mkdtempSync(join(tmpdir(), 'offhook-demo-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let code: number | null;
let told: z.infer<typeof report>;
beforeAll(async () => {
  // The demo ignores bots of one's own, here none, and ports that are taken.
  const finished = await startOffhook(['demo', '--json'], { OFFHOOK_BOTS__FOLDER: folder, OFFHOOK_HTTP__PORT: '1' }).finished;
  code = finished.code;
  told = report.parse(lastJson(finished));
});

it('recognises every line of the script, and finds nothing wrong', () => {
  expect([code, told.problems]).toEqual([0, []]);
  expect(told.carrier).toEqual({ name: 'twilio', clear: 'native', heard: 'proven' });
  expect(told.turns.length).toBeGreaterThanOrEqual(5);
  expect(told.turns.map(({ recognised }) => recognised)).toEqual(
    told.turns.map(({ caller }) => (caller === '' ? '' : expect.stringMatching(new RegExp(`^${caller}$`, 'iu')))),
  );
});

it('is silent within 300 ms of the interruption', () => {
  expect(told.interruptions).toHaveLength(1);
  expect(told.interruptions[0]?.botSilentMs).toBeLessThan(300);
});

it('records caller and bot at the level of speech', () => {
  const channels = parseWav(readFileSync(told.recording ?? '')).samples;
  expect(channels).toHaveLength(2);
  for (const channel of channels) {
    const level = activeLevelDb(channel, 8_000);
    expect(level).toBeGreaterThan(-30);
    expect(level).toBeLessThan(-12);
    expect(peakLevel(channel)).toBeLessThan(32_700);
  }
});

it('analyses what both said', () => {
  const analysis = z.looseObject({
    version: z.literal(1),
    channels: z.array(z.looseObject({ role: z.string(), text: z.string() })),
    talkRatio: z.number(),
  });
  const { channels, talkRatio } = analysis.parse(JSON.parse(readFileSync(told.analysis ?? '', 'utf8')));
  expect(channels).toMatchObject([
    { role: 'caller', text: expect.stringMatching(/appointment/iu) as unknown },
    { role: 'bot', text: expect.stringContaining('Lakeside Clinic') as unknown },
  ]);
  expect(talkRatio).toBeGreaterThan(0.02);
  expect(talkRatio).toBeLessThan(0.6);
});

it('keeps a record of the call with the pressed keys', () => {
  expect(JSON.parse(readFileSync(told.record, 'utf8'))).toMatchObject({ version: 1, digits: told.digits });
});
