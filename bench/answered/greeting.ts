// How long a person waits for the first sound of the bot after their hello, over the whole way: simulated carrier, gateway, embedded speech
// platform. Run: npm run bench -- answered/greeting [-- --calls 60]
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { requireConfiguration } from '../../src/cli/setup/configuration.ts';
import { speechSource } from '../../src/cli/setup/speech-settings.ts';
import { startGateway } from '../../src/hosts/app.ts';
import { API_KEYS_FILE, ApiKeys } from '../../src/http/api/system/api-keys.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { sleep } from '../../src/kernel/waiting.ts';
import { createLogger } from '../../src/observability/logger.ts';
import type { CallerLine } from '../../src/sim/caller/caller.ts';
import { CallerEar } from '../../src/sim/caller/ear.ts';
import { zoneAtNoon } from '../../src/sim/caller/noon.ts';
import { SimulatedTwilioApi } from '../../src/sim/twilio/api.ts';
import { CallerVoice } from '../../src/sim/caller/voice.ts';
import { about } from '../document.ts';

const { values } = parseArgs({ options: { calls: { type: 'string', default: '60' } } });
const ACCOUNT = `AC${'6'.repeat(32)}`;
const TOKEN = 'of-the-simulated-account';
const CALLER_ID = '+442079460001';
/** Voices that the classifier was not tuned on. */
const VOICES = ['awb', 'slt', 'rms'];
const HELLOS = ['hello', 'hello?', 'yes?', 'hi', 'yes, hello', 'good morning'];
const AT_ONCE = 2;

await using voice = new CallerVoice();
const waits: number[] = [];
let index = 0;
/** Says hello, and listens until the bot is heard. */
async function answer(line: CallerLine): Promise<void> {
  const turn = index++;
  const text = HELLOS[turn % HELLOS.length] ?? 'hello';
  const pcm = await voice.say(text, { language: 'en', voice: VOICES[turn % VOICES.length] ?? 'awb' });
  const ear = new CallerEar();
  const endMs = line.say(pcm) + pcm.length / 8;
  for (let tries = 0; tries < 1_000 && line.open; tries += 1) {
    ear.listen(line.buffer.heard);
    const [first] = ear.phrases;
    if (first !== undefined) {
      waits.push(Math.round(first.fromMs - endMs));
      break;
    }
    await sleep(systemClock, 20);
  }
  line.stop();
}

await using api = await SimulatedTwilioApi.start(ACCOUNT, TOKEN, {
  onDial: () => ({ ringMs: 1_500, outcome: { kind: 'answered', fullMedia: true, talk: answer } }),
});
const dataDir = await mkdtemp(join(tmpdir(), 'offhook-greeting-'));
const { config, bots } = requireConfiguration({
  OFFHOOK_DATA_DIR: dataDir,
  OFFHOOK_PORT: '0',
  OFFHOOK_PUBLIC_URL: '',
  OFFHOOK_PLATFORM_PORT: '0',
  OFFHOOK_LOG__LEVEL: 'error',
  OFFHOOK_TWILIO_ACCOUNT_SID: ACCOUNT,
  OFFHOOK_TWILIO_AUTH_TOKEN: TOKEN,
  OFFHOOK_TWILIO_API_URL: api.url,
  OFFHOOK_DIALLING__CARRIER: 'twilio',
  OFFHOOK_DIALLING__CALLER_IDS: CALLER_ID,
  OFFHOOK_DIALLING__CALLS_PER_SECOND: '10',
});
const logger = createLogger({ level: 'error' });
await using speech = await speechSource(config, logger, new AbortController().signal);
await using gateway = await startGateway({
  config,
  bots: bots.filter(({ name }) => name === 'reminder'),
  speech: speech.settings,
  clock: systemClock,
  logger,
  worker: true,
});
await gateway.prepared;
const { secret } = new ApiKeys(join(dataDir, API_KEYS_FILE)).create(
  { name: 'bench', tenantId: 'default', scopes: ['calls:dial', 'calls:read'] },
  0,
);
const zone = zoneAtNoon();
const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };

/** Has somebody called whom nobody has called yet, and waits for the end. */
async function call(person: number): Promise<void> {
  const to = `+44207946${String(100 + person).padStart(4, '0')}`;
  const body = JSON.stringify({ to, from: CALLER_ID, bot: 'reminder', zone, variables: { name: `Asha ${person}` } });
  const placed = await fetch(`${gateway.url}/api/calls`, { method: 'POST', headers, body });
  const { id } = (await placed.json()) as { id?: string };
  if (id === undefined) throw new Error(`the call was not placed: ${placed.status}`);
  for (;;) {
    await sleep(systemClock, 500);
    const { state } = (await (await fetch(`${gateway.url}/api/attempts/${id}`, { headers })).json()) as { state: string };
    if (state === 'ended') return;
  }
}

const calls = Number(values.calls);
let next = 0;
const worker = async (): Promise<void> => {
  for (let person = next++; person < calls; person = next++) await call(person);
};
await Promise.all(Array.from({ length: AT_ONCE }, worker));
const sorted = waits.toSorted((one, other) => one - other);
const at = (share: number): number | undefined => sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)];
const greetingMs = { p50: at(0.5), p95: at(0.95), most: sorted.at(-1), n: sorted.length };
process.stdout.write(`${JSON.stringify({ ...about(), calls, greetingMs })}\n`);
