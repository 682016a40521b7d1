import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Gateway, startGateway } from '../../../src/hosts/app.ts';
import type { GatewayOptions } from '../../../src/hosts/gateway-parts.ts';
import type { BotFolder } from '../../../src/hosts/bot-orders.ts';
import type { CallNews } from '../../../src/call/log/call-news.ts';
import { CallSession } from '../../../src/call/session.ts';
import { loadBots } from '../../../src/config/bot-files.ts';
import type { Carrier } from '../../../src/carriers/carrier.ts';
import { proofOf } from '../../../src/carriers/open-carriers.ts';
import type { Bot } from '../../../src/config/bots.ts';
import { readDevSecret } from '../../../src/config/own-secrets.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { type Clock, systemClock } from '../../../src/kernel/clock.ts';
import { silentLogger } from '../../../src/observability/logger.ts';
import type { SharedState } from '../../../src/hosts/shared-state/port.ts';
import type { PlatformOptions } from '../../../src/platform/server/start.ts';
import { dialTwilio, type SimulatedCall } from '../../../src/sim/twilio/carrier.ts';
import type { StreamOptions } from '../../../src/sim/twilio/stream.ts';
import { startPatientClock } from '../../../src/kernel/patient-clock.ts';
import { startTestPlatform, type TestPlatform } from '../platform/setup.ts';

/** Answers a word of the tone language by telling it back at length and the key 9 with three sentences; the key 3 plays a sound, 5 presses keys,
 * 6 connects somebody else, and `charlie` ends the call. */
const BOT = `
name: echo
default: true
language: en
voice: Nisha
endpointingMs: 500
noInputMs: 6000
dialog: { kind: module, file: echo-bot.js }
`;

const BOT_MODULE = `
export async function* respond(turn) {
  const { input } = turn;
  if (input.kind === 'start') yield { type: 'say', text: 'Hello there, please say a word.' };
  else if (input.kind === 'no-input') yield { type: 'say', text: 'Are you there?' };
  else if (input.kind === 'keyed' && input.digits === '9')
    yield { type: 'say', text: 'We are open from eight to five. On Saturday we close at noon. Which day would you like?' };
  else if (input.kind === 'keyed' && input.digits === '5') {
    yield { type: 'say', text: 'Pressing.' };
    yield { type: 'digits', digits: '1w2' };
  } else if (input.kind === 'keyed' && input.digits === '3') {
    yield { type: 'play', source: 'ding.wav' };
    yield { type: 'play', source: 'https://127.0.0.1/none.wav', text: 'Ding dong.' };
  } else if (input.kind === 'keyed' && input.digits === '6') {
    yield { type: 'say', text: 'Connecting.' };
    yield { type: 'transfer', to: '+15550100' };
  } else if (input.kind === 'keyed') yield { type: 'say', text: 'You pressed ' + input.digits + '.' };
  else if (input.text.includes('charlie')) {
    yield { type: 'say', text: 'Goodbye then.' };
    yield { type: 'hangup', reason: 'said-charlie' };
  } else if (input.text === '') yield { type: 'say', text: 'What was that?' };
  else yield { type: 'say', text: 'You said ' + input.text + ', and that is a very fine word to say on a telephone line like this one.' };
}
`;

/** The bench's own bot under another name, with these settings in place of its own. */
function otherBot(name: string, lines: string): string {
  const given = new Set(lines.split('\n').map((line) => line.split(':')[0]));
  const own = BOT.split('\n').filter((line) => !given.has(line.split(':')[0] ?? '') && line !== 'default: true');
  return `${own.join('\n').replace('name: echo', `name: ${name}`)}\n${lines}`;
}

/** Calls are what is tested, not how busy the machine is. */
const UNHURRIED = { OFFHOOK_CALL__REFUSE_LAG_MS: '60000' };

export interface GatewayBench extends AsyncDisposable {
  readonly clock: Clock;
  readonly gateway: Gateway;
  readonly speech: TestPlatform;
  readonly dataDir: string;
  /** What the carrier signs with. */
  readonly authToken: string;
  readonly news: readonly CallNews[];
  /** @param of bot by name, and a carrier other than Twilio that speaks its protocol; the default bot and Twilio when absent */
  dial(stream?: StreamOptions, of?: { readonly bot?: string; readonly carrier?: string }): Promise<SimulatedCall>;
  /** What a carrier of this name signs with. */
  proofOf(carrier: string): string;
  /** The gateway's side of a call that has not ended. */
  sessionOf(call: { readonly callSid: string } | { readonly uuid: string } | { readonly carrierCallId: string }): CallSession;
}

/** A whole gateway over real sockets: real store, real platform server, whose engines speak and hear tones. */
export async function startGatewayBench(
  options: {
    readonly env?: Readonly<Record<string, string>>;
    readonly platform?: Partial<PlatformOptions>;
    /** In place of the bench's own bot. */
    readonly bots?: readonly Bot[];
    /** Where the API reads the bots' files again; nowhere when absent. */
    readonly botFiles?: BotFolder;
    /** What the settings pages show beside the gateway's own. */
    readonly settings?: Pick<GatewayOptions, 'check' | 'models'>;
    /** Further bots that answer as the bench's own does, by name: more lines of their files. */
    readonly otherBots?: Readonly<Record<string, string>>;
    /** In place of the registry's. */
    readonly carriers?: readonly Carrier[];
    /** Module of the bench's own bot, in place of its usual one. */
    readonly botModule?: string;
    /** Of the gateway, the speech platform and the calls; a patient one when absent. The machine's where another process takes part. */
    readonly clock?: Clock;
    /** More files of the bot's folder. */
    readonly files?: Readonly<Record<string, Uint8Array>>;
    /** A platform that others use too, who dispose of it. */
    readonly speech?: TestPlatform;
    /** What it shares with other machines. */
    readonly shared?: SharedState;
  } = {},
): Promise<GatewayBench> {
  const patient = options.clock === undefined ? startPatientClock() : undefined;
  const clock = options.clock ?? patient?.clock ?? systemClock;
  const dataDir = mkdtempSync(join(tmpdir(), 'offhook-gateway-'));
  const botFolder = join(dataDir, 'bots');
  mkdirSync(botFolder);
  writeFileSync(join(botFolder, 'echo.yaml'), BOT);
  for (const [name, lines] of Object.entries(options.otherBots ?? {}))
    writeFileSync(join(botFolder, `${name}.yaml`), otherBot(name, lines));
  for (const [name, bytes] of Object.entries(options.files ?? {})) writeFileSync(join(botFolder, name), bytes);
  writeFileSync(join(botFolder, 'echo-bot.js'), options.botModule ?? BOT_MODULE);
  writeFileSync(join(botFolder, 'package.json'), '{"type":"module"}');
  const speech = options.speech ?? (await startTestPlatform({ clock, ...options.platform }, 8_000));
  const { authUrl, asrUrl, ttsUrl, apiKey } = speech.platform;
  const config = loadConfig({ env: { OFFHOOK_DATA_DIR: dataDir, OFFHOOK_PORT: '0', ...UNHURRIED, ...options.env }, files: [] });
  const { bots: own, problems } = loadBots(botFolder);
  const bots = options.bots ?? own;
  if (problems.length > 0 || config.problems.length > 0) throw new Error(JSON.stringify([...problems, ...config.problems]));
  const news: CallNews[] = [];
  const gateway = await startGateway({
    config,
    bots,
    speech: { authUrl, asrUrl, ttsUrl, apiKey, slotsPerKey: config.settings.speech.slotsPerKey },
    clock,
    logger: silentLogger,
    worker: true,
    ...(options.carriers === undefined ? {} : { carriers: options.carriers }),
    ...(options.botFiles === undefined ? {} : { botFolder: options.botFiles }),
    ...options.settings,
    news: (item) => void news.push(item),
    ...(options.shared === undefined ? {} : { shared: options.shared }),
  });
  await gateway.prepared;
  const secretOf = (carrier: string): string => {
    const known = options.carriers?.find(({ name }) => name === carrier);
    if (known?.proof === undefined) return proofOf(carrier, config).reveal();
    const { secret } = known.proof;
    return (config.carriers.get(carrier)?.secrets[secret]?.[0] ?? readDevSecret(dataDir, carrier, secret)).reveal();
  };
  const authToken = secretOf('twilio');
  return {
    clock,
    gateway,
    speech,
    dataDir,
    authToken,
    news,
    dial(stream, { bot, carrier = 'twilio' } = {}) {
      const more = stream === undefined ? {} : { stream };
      return dialTwilio({ url: gateway.url, authToken: secretOf(carrier), clock, carrier, bot, ...more });
    },
    proofOf: secretOf,
    sessionOf(call) {
      const id = 'uuid' in call ? call.uuid : 'callSid' in call ? call.callSid : call.carrierCallId;
      const session = gateway.calls.calls.find(({ identity }) => identity.inbound.carrierCallId === id);
      if (!(session instanceof CallSession)) throw new Error('the gateway has no such call with a bot');
      return session;
    },
    async [Symbol.asyncDispose]() {
      await gateway.close();
      if (options.speech === undefined) await speech[Symbol.asyncDispose]();
      patient?.[Symbol.dispose]();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
