import { fork } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadBots } from '../../../src/config/bot-files.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { startGateway } from '../../../src/hosts/app.ts';
import { API_KEYS_FILE, API_SCOPES, ApiKeys } from '../../../src/http/api/system/api-keys.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { silentLogger } from '../../../src/observability/logger.ts';
import { type OnDial, zoneAtNoon } from '../../../src/sim/caller/callee.ts';
import type { CallerLine } from '../../../src/sim/caller/caller.ts';
import { SimulatedTwilioApi } from '../../../src/sim/twilio/api.ts';
import { buzz } from '../../support/buzz.ts';
import { nodeArguments } from '../../support/program.ts';
import { startTestPlatform, type TestPlatform } from '../platform/setup.ts';
import { eventually } from '../../support/eventually.ts';

const MEDIA = fileURLToPath(new URL('../../../src/cli/media-entry.ts', import.meta.url));
const ACCOUNT = `AC${'2'.repeat(32)}`;
const TOKEN = 'outbound-test-token';
/** Tests look again and again, and a key may ask ten times a second. */
const KEYS = 40;

/** Greets whom it calls by name and hangs up. */
const REMINDER = `
name: reminder
voice: Nisha
optOutKey: '9'
maxDurationMs: 60000
dialog:
  kind: flow
  flow:
    start: hello
    slots:
      name: { kind: text }
    states:
      hello:
        say: Hello {{ name }}.
        hangup: reminded
`;
// The caller says what it is about to read.
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters
type Api = <Body>(path: string, body?: object) => Promise<{ readonly status: number; readonly body: Body }>;

export interface OutboundBench extends AsyncDisposable {
  readonly url: string;
  readonly dataDir: string;
  readonly carrier: SimulatedTwilioApi;
  readonly speech: TestPlatform;
  /** Asks the API, as somebody who may do everything. */
  api: Api;
  /** Has a person called. @returns the call's id */
  dial(to: string, more?: object): Promise<string>;
  /** Stops the gateway as a service manager does. */
  close(): Promise<void>;
}

/** A whole gateway that dials over real sockets: its calls are in this process, or in processes of their own. */
export async function startOutboundBench(
  processes: number,
  onDial: OnDial,
  env: Readonly<Record<string, string>> = {},
): Promise<OutboundBench> {
  const dataDir = mkdtempSync(join(tmpdir(), 'offhook-outbound-'));
  const bots = join(dataDir, 'bots');
  mkdirSync(bots);
  writeFileSync(join(bots, 'reminder.yaml'), REMINDER);
  const speech = await startTestPlatform({}, 8_000);
  const carrier = await new SimulatedTwilioApi(ACCOUNT, TOKEN, { onDial }).listen();
  const { authUrl, asrUrl, ttsUrl, apiKey } = speech.platform;
  const settings = {
    OFFHOOK_DATA_DIR: dataDir,
    OFFHOOK_PORT: '0',
    OFFHOOK_BOTS__FOLDER: bots,
    OFFHOOK_CALL__REFUSE_LAG_MS: '60000',
    OFFHOOK_LOG__LEVEL: 'error',
    OFFHOOK_AUTH_URL: authUrl,
    OFFHOOK_ASR_URL: asrUrl,
    OFFHOOK_TTS_URL: ttsUrl,
    OFFHOOK_API_KEY: apiKey,
    OFFHOOK_TWILIO_ACCOUNT_SID: ACCOUNT,
    OFFHOOK_TWILIO_AUTH_TOKEN: TOKEN,
    OFFHOOK_TWILIO_API_URL: carrier.url,
    OFFHOOK_DIALLING__CALLER_IDS: '+442079460001',
    // It is always noon where these people are.
    OFFHOOK_DIALLING__ZONE_SOURCE: 'given',
    OFFHOOK_DIALLING__CALLS_PER_SECOND: '100',
    ...env,
  };
  const config = loadConfig({ env: settings, files: [] });
  const loaded = loadBots(bots);
  if (loaded.problems.length > 0 || config.problems.length > 0)
    throw new Error(JSON.stringify([...loaded.problems, ...config.problems]));
  const options = {
    config,
    bots: loaded.bots,
    speech: { authUrl, asrUrl, ttsUrl, apiKey },
    clock: systemClock,
    logger: silentLogger,
    worker: true,
  };
  const args = processes === 1 ? [] : await nodeArguments(MEDIA);
  const launch = () =>
    fork(args.at(-1) ?? '', [], {
      execArgv: args.slice(0, -1),
      env: { ...process.env, ...settings },
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
  const gateway = await startGateway({
    ...options,
    processes: processes === 1 ? undefined : { size: processes, launch, platform: undefined },
  });
  await gateway.prepared;
  const keys = new ApiKeys(join(dataDir, API_KEYS_FILE));
  const about = { name: 'test', tenantId: 'default', scopes: [...API_SCOPES] };
  const secrets = Array.from({ length: KEYS }, () => keys.create(about, 0).secret);
  let asked = 0;
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters
  const api: Api = async <Body>(path: string, body?: object) => {
    asked += 1;
    const response = await fetch(`${gateway.url}/api${path}`, {
      headers: { authorization: `Bearer ${secrets[asked % KEYS]}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as Body };
  };
  return {
    url: gateway.url,
    dataDir,
    carrier,
    speech,
    api,
    async dial(to, more = {}) {
      const { status, body } = await api<{ id: string }>('/calls', { to, bot: 'reminder', zone: zoneAtNoon(), ...more });
      if (status !== 201) throw new Error(`${status} ${JSON.stringify(body)}`);
      return body.id;
    },
    close: () => gateway.close(),
    async [Symbol.asyncDispose]() {
      await gateway.close();
      await carrier[Symbol.asyncDispose]();
      await speech[Symbol.asyncDispose]();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

const HELLO = buzz({ hz: 130, formants: [550, 1_700], seconds: 0.5, wobble: 1 }).filter((_, at) => at % 2 === 0);
const SILENCE = 600;

/**
 * Says hello and listens to the bot.
 * @param key pressed as soon as the bot is heard
 * @returns from the end of the hello to the bot's first sound, in ms
 */
export async function sayHello(line: CallerLine, key?: string): Promise<number> {
  await eventually('the line', () => line.nowMs >= 300);
  const endMs = line.say(HELLO) + HELLO.length / 8;
  const firstSound = (): number => line.buffer.heard.findIndex((sample) => Math.abs(sample) > SILENCE) / 8;
  await eventually('the greeting', () => firstSound() >= 0);
  const fromMs = firstSound() - endMs;
  if (key !== undefined) line.press(key);
  await eventually('the goodbye', () => !line.open);
  return fromMs;
}
