import { join } from 'node:path';
import { loadAmbiences } from './call/ambience/load-ambience.ts';
import { loadVoiceActivity } from './audio/voice-activity.ts';
import { CallJournal } from './call/call-journal.ts';
import { CallRegistry } from './call/call-registry.ts';
import { LoadWatch } from './call/load-watch.ts';
import { RecordingThread } from './call/recording-thread.ts';
import { SecretVault } from './call/secret-vault.ts';
import { EvenLoudness } from './call/loudness.ts';
import { type CallNews, type CallServices, DEFAULT_CALL_TIMING } from './call/services.ts';
import { FIXTURES_FOLDER, FixtureKeeping } from './call/replay/fixture-keeping.ts';
import { SoundLibrary } from './call/sounds/sound-library.ts';
import { Ticker } from './call/ticker.ts';
import { phrasesOf, type Bot } from './config/bots.ts';
import { type BotDialog, loadBotDialog } from './dialog/bot-dialog.ts';
import { API_KEYS_FILE, ApiKeys } from './http/api/api-keys.ts';
import { createHttpServer } from './http/server.ts';
import { TwilioControl } from './carriers/twilio/control.ts';
import { twilioCredentials } from './http/twilio-credentials.ts';
import { endOrphans, keepCall } from './jobs/call-keeping.ts';
import type { Clock } from './kernel/clock.ts';
import { createEvents } from './observability/events.ts';
import type { Logger } from './observability/logger.ts';
import { measureLoopLag } from './observability/loop-lag.ts';
import { createMetrics } from './observability/metrics.ts';
import { SpeechPlatform, type SpeechPlatformSettings } from './speech/platform.ts';
import type { SynthesisRequest } from './speech/port.ts';
import { SentenceCutter, splitForSpeech } from './speech/tts/sentences.ts';
import { type Backlog, openBacklog } from './backlog.ts';
import { callIntake } from './intake.ts';
import type { RecordsOptions } from './records.ts';

export interface GatewayOptions {
  readonly config: RecordsOptions['config'];
  readonly bots: readonly Bot[];
  readonly speech: SpeechPlatformSettings;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Whether this process also does the jobs after calls. */
  readonly worker: boolean;
  /** Hears what happens in calls, their words included. */
  readonly news?: (news: CallNews) => void;
}

export interface Gateway extends AsyncDisposable {
  /** The address it listens on. */
  readonly url: string;
  readonly calls: CallRegistry;
  readonly backlog: Backlog;
  /** Resolves when the bots' fixed sentences are in the cache, or could not be spoken. Calls are taken before that. */
  readonly prepared: Promise<void>;
  /** Where a call's record is kept as JSON. */
  recordPath(callId: string, startedAtWallMs: number): string;
  /** Says goodbye to live calls, waits for their ends, and closes everything in order. */
  close(): Promise<void>;
}

/** The playout of all calls is looked after this often. */
const TICK_MS = 20;
/** As many sentences tell how loud a voice is. */
const TELLING_SENTENCES = 4;

/**
 * The composition root: builds every adapter, starts the gateway and its worker.
 * @throws OffhookError when a bot's dialog, the store, the queue or the port cannot be opened
 */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const { clock, logger, bots } = options;
  const { settings, secrets } = options.config;
  const metrics = createMetrics();
  const events = createEvents(logger, metrics);
  const speech = new SpeechPlatform(options.speech, { clock, logger });
  metrics.watchSpeechSlots(() => speech.slotGauges);
  const dialogs = new Map<string, BotDialog>();
  for (const bot of bots) dialogs.set(bot.name, await loadBotDialog(bot, clock));
  const recordingsFolder = join(settings.dataDir, 'recordings');
  const backlog = await openBacklog({ ...options, speech, events, drain: true });
  const journal = new CallJournal(join(settings.dataDir, 'calls'), process.pid, (callId, error) =>
    logger.error({ callId, error }, 'the journal of a call could not be kept'),
  );
  await endOrphans(journal, backlog, clock, logger);

  const twilio = twilioCredentials(secrets, settings.dataDir, logger);
  const { accountSid, apiUrl } = settings.twilio;
  const [authToken] = twilio.authTokens;
  const voiceUrl = (): string => `${settings.publicUrl ?? url}/carriers/twilio/voice`;
  const twilioControl =
    accountSid === undefined || authToken === undefined
      ? undefined
      : new TwilioControl({ apiUrl, accountSid, authToken, voiceUrl }, clock);
  const recordingFiles = new RecordingThread(clock);
  const vault = new SecretVault(clock);
  const voices = new EvenLoudness(speech.synthesizer);
  const ambiences = await loadAmbiences(bots, logger);
  const services: CallServices = {
    clock,
    logger,
    events,
    ticker: new Ticker(clock, TICK_MS, (error) => logger.error({ error }, 'a tick failed')),
    recogniser: speech.recogniser,
    spareRecognition: () => speech.reserveLive(),
    synthesizer: voices,
    ambienceOf: ({ name }) => ambiences.get(name),
    sounds: new SoundLibrary({ clock }),
    createDetector: await loadVoiceActivity(),
    createCutter: () => new SentenceCutter(),
    vault,
    recordingsFolder,
    recordingFiles,
    playout: settings.call,
    ...keepCall(journal, backlog, recordingsFolder, logger),
    activeCalls: () => calls.active,
    news: options.news ?? (() => undefined),
    controlOf: (carrier) => (carrier === 'twilio' ? twilioControl : undefined),
  };
  const fixtures = new FixtureKeeping({
    folder: join(settings.dataDir, FIXTURES_FOLDER),
    bots: settings.call.keepFixtures,
    days: settings.call.fixtureDays,
    retention: settings.retention,
    sealUnder: backlog.seals ? (tenantId, callId, make) => backlog.store.privacy.audioKey(tenantId, callId, make) : undefined,
    clock,
    logger,
  });
  const calls: CallRegistry = new CallRegistry(
    {
      bots,
      dialogs: new Map([...dialogs].map(([name, dialog]) => [name, dialog.hooks])),
      timing: {
        ...DEFAULT_CALL_TIMING,
        hangupAfterMarkMs: settings.call.hangupAfterMarkMs,
        reattachMs: settings.call.reattachMs,
      },
      maximum: settings.call.maximum,
      shedding: () => load.shedding,
      tenantId: 'default',
      reserveSpeech: () => {
        speech.warm();
        return speech.reserveLive();
      },
      speechIsUp: () => speech.isUp,
      lease: (callId) => journal.lease(callId),
      record: fixtures.record,
    },
    services,
  );
  const http = createHttpServer({
    settings,
    clock,
    logger,
    events,
    metrics,
    intake: callIntake(calls),
    twilio,
    api: {
      keys: new ApiKeys(join(settings.dataDir, API_KEYS_FILE)),
      ...backlog,
      clock,
      live: { calls, audit: backlog.audit, elsewhere: (callId) => journal.elsewhere(callId), logger },
    },
    board: secrets.adminPassword && { password: secrets.adminPassword, queue: backlog.queue },
    redeem: (botSecret, token) => {
      const asking = bots.filter(({ dialogSecret }) => dialogSecret?.equals(botSecret));
      return asking.map(({ name }) => vault.redeem(name, token)).find((value) => value !== undefined);
    },
    ready: async () => ({
      ready: speech.isUp && !load.shedding,
      parts: { speech: speech.isUp ? 'ok' : 'down', store: 'ok', load: load.shedding ? 'late' : 'ok' },
    }),
  });
  const load = new LoadWatch({ limits: settings.call, lag: measureLoopLag(), clock, logger });
  metrics.watchLoopLag(() => load);
  const url = await http.listen({ host: settings.http.host, port: settings.http.port });
  const prepared = prepareAll(bots, dialogs, speech, voices, logger);
  // What could not be spoken while the platform was away is spoken when it is back.
  speech.watchHealth(() => void prepareAll(bots, dialogs, speech, voices, logger));

  let closed: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    load[Symbol.dispose]();
    await calls.drain('shutdown');
    await recordingFiles[Symbol.asyncDispose]();
    fixtures.close();
    await http.close();
    await backlog.close();
    await speech[Symbol.asyncDispose]();
  };
  const closeOnce = (): Promise<void> => (closed ??= close());
  return {
    url,
    calls,
    backlog,
    prepared,
    recordPath: (callId, startedAtWallMs) => join(recordingsFolder, dayOf(startedAtWallMs), `${callId}.call.json`),
    close: closeOnce,
    [Symbol.asyncDispose]: closeOnce,
  };
}

/** Speaks the bots' fixed sentences once, so that they start in the same tick later, and are there when the platform is not. */
async function prepareAll(
  bots: readonly Bot[],
  dialogs: ReadonlyMap<string, BotDialog>,
  speech: SpeechPlatform,
  voices: EvenLoudness,
  logger: Logger,
): Promise<void> {
  for (const bot of bots) {
    try {
      const requests = fixedSentences(bot, dialogs.get(bot.name));
      await speech.prepare(requests);
      await voices.learn(requests.slice(0, TELLING_SENTENCES));
      logger.info({ bot: bot.name, sentences: requests.length }, 'fixed sentences prepared');
    } catch (error) {
      logger.warn({ bot: bot.name, error }, 'fixed sentences could not be prepared');
    }
  }
}

function fixedSentences(bot: Bot, dialog: BotDialog | undefined): SynthesisRequest[] {
  const { language, voice, speed } = bot;
  const { apology, goodbye, sayAgain, oneMoment, timeIsShort } = phrasesOf(bot);
  const texts = [
    apology,
    goodbye,
    sayAgain,
    oneMoment,
    timeIsShort,
    ...(dialog?.fixedPrompts((text) => splitForSpeech(text)) ?? []),
  ];
  const sentences = new Set(texts.flatMap((text) => splitForSpeech(text).map((sentence) => sentence.trim())));
  sentences.delete('');
  return Array.from(sentences, (text) => ({ text, voice, language, speed }));
}

function dayOf(wallMs: number): string {
  return new Date(wallMs).toISOString().slice(0, 10);
}
