import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startGateway } from '../../hosts/app.ts';
import { systemClock } from '../../kernel/clock.ts';
import { createLogger } from '../../observability/logger.ts';
import type { OnDial } from '../../sim/caller/callee.ts';
import { type CallerLine, type CallerStep, ScriptedCaller } from '../../sim/caller/caller.ts';
import { zoneAtNoon } from '../../sim/caller/noon.ts';
import { SimulatedTwilioApi } from '../../sim/twilio/api.ts';
import { CallerVoice } from '../../sim/caller/voice.ts';
import { requireConfiguration } from '../setup/configuration.ts';
import { speechSource } from '../setup/speech-settings.ts';

const ACCOUNT = `AC${'5'.repeat(32)}`;
const AUTH_TOKEN = 'of-the-simulated-account';
/** Numbers of the United Kingdom that are kept for drama. */
const CALLER_ID = '+442079460001';
const RING_MS = 1_500;
/** A person who was not understood hangs up at last. */
const LONGEST_TALK_MS = 60_000;

export interface SimulatedDial {
  readonly url: string;
  readonly dataDir: string;
  /** The caller id, where the command names none. */
  readonly callerId: string;
  /** A zone in which it is noon, where the command names none: nobody is woken. */
  readonly zone: string;
}

/**
 * Runs with a gateway of its own, which knows a simulated carrier with somebody at its other end: no account is needed, and nobody is
 * called.
 * @param says what the person says, one line each time the bot has finished; they greet first, and wait for the bot to hang up
 */
export async function withSimulatedCarrier<Answer>(
  options: { readonly says: readonly string[]; readonly bot: string; readonly from: string | undefined },
  onStage: (stage: string) => void,
  onSaid: (text: string) => void,
  run: (dial: SimulatedDial) => Promise<Answer>,
): Promise<Answer> {
  const { says, bot, from = CALLER_ID } = options;
  await using voice = new CallerVoice();
  const onDial: OnDial = () => ({
    ringMs: RING_MS,
    outcome: { kind: 'answered', fullMedia: true, talk: (line) => talk(line, voice, says, onSaid) },
  });
  await using api = await SimulatedTwilioApi.start(ACCOUNT, AUTH_TOKEN, { onDial });
  const dataDir = await mkdtemp(join(tmpdir(), 'offhook-dial-'));
  const { config, bots } = requireConfiguration({
    OFFHOOK_DATA_DIR: dataDir,
    OFFHOOK_PORT: '0',
    OFFHOOK_PUBLIC_URL: '',
    OFFHOOK_PLATFORM_PORT: '0',
    OFFHOOK_LOG__LEVEL: 'error',
    OFFHOOK_CALL__REFUSE_LAG_MS: '60000',
    OFFHOOK_TWILIO_ACCOUNT_SID: ACCOUNT,
    OFFHOOK_TWILIO_AUTH_TOKEN: AUTH_TOKEN,
    OFFHOOK_TWILIO_API_URL: api.url,
    OFFHOOK_DIALLING__CARRIER: 'twilio',
    OFFHOOK_DIALLING__CALLER_IDS: from,
    // Nobody is called: any number will do.
    OFFHOOK_DIALLING__DESTINATIONS: 'any',
  });
  const logger = createLogger({ level: config.settings.log.level });
  const stop = new AbortController();
  onStage('starting the speech platform (the first start trains its recogniser)');
  await using speech = await speechSource(config, logger, stop.signal);
  onStage('starting the gateway');
  const known = bots.filter(({ name }) => name === bot);
  speech.teach(known);
  await using gateway = await startGateway({
    config,
    // Only this bot's sentences are synthesised ahead; a mistyped name is answered with all there are.
    bots: known.length > 0 ? known : bots,
    speech: speech.settings,
    clock: systemClock,
    logger,
    worker: true,
  });
  await gateway.prepared;
  return await run({ url: gateway.url, dataDir, callerId: from, zone: zoneAtNoon() });
}

/** Greets, as people do who answer, and then takes turns with the bot. */
async function talk(
  line: CallerLine,
  voice: CallerVoice,
  says: readonly string[],
  onSaid: (text: string) => void,
): Promise<void> {
  const language = 'en';
  onSaid('hello');
  line.say(await voice.say('hello', { language }));
  const steps: CallerStep[] = [];
  for (const text of says) steps.push({ kind: 'say', text, pcm: await voice.say(text, { language }) });
  const caller = new ScriptedCaller(line, LONGEST_TALK_MS, onSaid);
  await caller.run([...steps, { kind: 'wait-for-end' }]).catch(() => undefined);
}
