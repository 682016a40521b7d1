import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parseWav } from '../../../src/audio/wav.ts';
import { rmsLevelDb } from '../../../src/audio/level.ts';
import { type Bot, botSettings } from '../../../src/config/bots.ts';
import { Secret } from '../../../src/config/secrets.ts';
import { startPatientClock } from '../../../src/kernel/patient-clock.ts';
import { type CallerStep, ScriptedCaller } from '../../../src/sim/caller/caller.ts';
import { cough } from '../../../src/sim/caller/cough.ts';
import { SimulatedOpenAi } from '../../../src/sim/realtime/openai.ts';
import { serveRealtime } from '../../../src/sim/realtime/serve.ts';
import type { SimulatedReply } from '../../../src/sim/realtime/simulated-model.ts';
import { BotServer } from '../dialog/bot-server.ts';
import { sayTones, type ToneWord } from '../platform/tone-engines.ts';
import { type GatewayBench, startGatewayBench } from './gateway-bench.ts';

const KEY = 'sk-of-the-test';
const HOURS = 'We are open from eight in the morning to six in the evening, and on Saturdays until noon.';
const speech = (...words: ToneWord[]): Int16Array => sayTones(words, 8_000).subarray(1_600);
const say = (...words: ToneWord[]): CallerStep => ({ kind: 'say', text: words.join(' '), pcm: speech(...words) });

function botOf(name: string, url: string, more: object = {}, settings: object = {}): Bot {
  const dialog = {
    kind: 'realtime',
    url,
    secretEnv: 'MODEL_KEY',
    greeting: 'Hello, please say a word.',
    instructions: 'Answer for a shop.',
    ...more,
  };
  const parsed = botSettings.parse({ name, voice: 'Nisha', endpointingMs: 500, dialog, ...settings });
  return { ...parsed, folder: '.', dialogSecret: new Secret(KEY) };
}

const REPLIES: readonly SimulatedReply[] = [
  { say: HOURS },
  { calls: [{ name: 'free_times', args: { day: 'Tuesday' } }] },
  { say: 'Half past ten is free.' },
  {},
  { say: 'Noted. And now?' },
  { say: 'Goodbye then.', calls: [{ name: 'hang_up', args: { reason: 'said-charlie' } }] },
];

const patient = startPatientClock();
const { clock } = patient;
const vendor = new SimulatedOpenAi({
  clock,
  apiKey: KEY,
  script: ({ index }) => REPLIES[index] ?? {},
  fault: (index) => (index === 3 ? { kind: 'drop', afterMs: 0 } : undefined),
});
const tool = new BotServer((response) => void response.end('half past ten'));
let bench: GatewayBench;
const closing: AsyncDisposable[] = [];

beforeAll(async () => {
  const server = await serveRealtime(vendor);
  const away = await serveRealtime(new SimulatedOpenAi({ clock, script: () => ({}), refuse: () => 503 }));
  const flow = { start: 'bye', slots: {}, states: { bye: { say: 'This is the spare bot.', hangup: 'spare' } } };
  const spare = { ...botSettings.parse({ name: 'spare', voice: 'Nisha', dialog: { kind: 'flow', flow } }), folder: '.' };
  const tools = [{ name: 'free_times', description: 'Free times', url: `${await tool.listen()}/free` }];
  const bots = [botOf('desk', server.url, { tools }), botOf('away', away.url, {}, { whenDown: [{ bot: 'spare' }] }), spare];
  bench = await startGatewayBench({ clock, bots });
  closing.push(bench, server, away, tool);
});

afterAll(async () => {
  for (const each of closing) await each[Symbol.asyncDispose]();
  patient[Symbol.dispose]();
});

it('holds a conversation with a vendor over sockets: a cough, an interruption, a tool, a key, and a lost session', async () => {
  const call = await bench.dial(undefined, { bot: 'desk' });
  const session = bench.sessionOf(call);
  await new ScriptedCaller(call.stream, 25_000).run([
    say('alpha'),
    { kind: 'cough', pcm: cough(300, 3), afterMs: 600 },
    { kind: 'interrupt', text: 'bravo', pcm: speech('bravo', 'bravo'), afterMs: 1_800 },
    { kind: 'press', digits: '7' },
    say('charlie'),
    { kind: 'wait-for-end' },
  ]);
  const record = await session.ended;
  expect(record.turns.map(({ callerText }) => callerText)).toEqual(['', 'alpha', 'bravo bravo', '7', 'charlie']);
  expect(record.turns.slice(2).map(({ botHeardText }) => botHeardText)).toEqual([
    'Half past ten is free.',
    'Noted. And now?',
    'Goodbye then.',
  ]);
  expect(record.turns[1]).toMatchObject({ interrupted: true, botText: HOURS });
  expect([record.endReason, record.digits, record.notes]).toEqual(['said-charlie', '7', ['tool free_times']]);
  expect(tool.asked).toHaveLength(1);
  // The vendor knows what the ledger knows, and the session that followed is told what was heard.
  const cut = vendor.conversations[0]?.find(({ text }) => text === HOURS);
  const inLedger = record.sentences.find(({ text }) => text === HOURS)?.heard.likelyMs ?? 0;
  expect(Math.abs((cut?.heardMs ?? 0) - inLedger)).toBeLessThanOrEqual(20);
  expect(vendor.sessions).toBe(2);
  expect(vendor.conversation.map(({ role, text }) => `${role}: ${text}`)).toContain(
    `assistant: ${record.turns[1]?.botHeardText}`,
  );
  expect(vendor.complaints).toEqual([]);
  // The model's own voice is in the recording.
  const [, bot] = parseWav(readFileSync(record.recordingPath ?? '')).samples;
  expect(rmsLevelDb(bot ?? new Int16Array())).toBeGreaterThan(-40);
});

it('hands the caller to another bot in the same call where the vendor is away', async () => {
  const call = await bench.dial(undefined, { bot: 'away' });
  const session = bench.sessionOf(call);
  await new ScriptedCaller(call.stream, 25_000).run([say('alpha'), { kind: 'wait-for-end' }]);
  const record = await session.ended;
  expect(record.turns[1]?.botHeardText).toMatch(/This is the spare bot\.$/u);
  expect(record.endReason).toBe('spare');
});
