import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { RecordingFormat } from '../audio/recording-format.ts';
import { loadVoiceActivity } from '../audio/voice-activity/voice-activity.ts';
import { type CallAnswer, type DoorOptions, refusal, type SpeechPlace } from '../call/admission/call-door.ts';
import type { InboundCall } from '../carriers/port.ts';
import { CallJournal } from '../call/log/call-journal.ts';
import { CallRegistry, type CallRegistryOptions } from '../call/admission/call-registry.ts';
import { FollowedNews } from '../call/log/followed-news.ts';
import { LiveNews } from '../call/log/live-news.ts';
import { LoadWatch, type LoadWatchOptions } from '../call/admission/admission.ts';
import { recordingPathOf } from '../call/media.ts';
import { EndOfTurnThread } from '../call/inbound/end-of-turn/end-of-turn-thread.ts';
import { RecordingThread } from '../call/recording/recording-thread.ts';
import { FIXTURES_FOLDER, FixtureKeeping, type FixtureKeepingOptions } from '../rehearsal/replay/fixture-keeping.ts';
import { ANSWER_READER } from '../call/control/answer-reader.ts';
import { type LeftBehind, resumedCall } from '../call/resume/resumed-call.ts';
import { resumeState } from '../call/resume/resume-state.ts';
import { SecretVault } from '../call/control/secret-vault.ts';
import type { SpendRules } from '../call/control/spend-guard.ts';
import { AgentLegs, type LegDoor } from '../call/transfer/agent-legs.ts';
import { TransferQueues } from '../call/transfer/transfer-queues.ts';
import type { CallNews } from '../call/log/call-news.ts';
import { DEFAULT_CALL_TIMING, type SharedServices } from '../call/services.ts';
import { SoundLibrary } from '../call/outbound/sounds/sound-library.ts';
import { Ticker } from '../call/ticker.ts';
import { turnMachine } from '../call/turn/turn.ts';
import { type OpenCarriers, speechFormats } from '../carriers/open-carriers.ts';
import { diallingDestinations, DiallingProfiles } from '../outbound/profiles.ts';
import type { Bot } from '../config/bots.ts';
import type { Settings } from '../config/schema.ts';
import { BotHealth } from '../dialog/bot-health.ts';
import { keepCall, type Keeping } from '../records/after-call/call-keeping.ts';
import type { Clock } from '../kernel/clock.ts';
import type { BusinessEvents } from '../observability/events.ts';
import type { Logger } from '../observability/logger.ts';
import { readCallBack, readOptOut } from '../language/index.ts';
import { measureLoopLag } from '../observability/loop-lag.ts';
import { usedEndOfTurnModel } from '../speech/models/read-models.ts';
import type { CallSpeech } from '../speech/port.ts';
import { SentenceCutter } from '../speech/tts/sentences.ts';
import type { CallStates } from './shared-state/call-states.ts';
import { callRecord } from '../records/record.ts';
import type { RecallCaller } from '../dialog/caller-memory.ts';
import { socketDirOf } from '../records/embedded/socket-server.ts';
import { placesCalls } from './dialling.ts';
import { FixedSentences } from './fixed-sentences.ts';
import { withTrials } from '../config/bot-trials.ts';
import { BotsOfCalls, type LoadingParts } from './loaded-bots.ts';
import type { RecordsOptions } from './records.ts';
import type { GatewaySpeech } from './speech.ts';

export interface CallsOptions {
  readonly config: Pick<RecordsOptions['config'], 'settings' | 'carriers' | 'tenants'>;
  readonly bots: readonly Bot[];
  readonly speech: GatewaySpeech;
  readonly carriers: OpenCarriers;
  readonly events: BusinessEvents;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly journal: CallJournal;
  /** What calls may cost; no limits where absent. */
  readonly spend?: SpendRules | undefined;
  /** How the end of a call is kept. */
  readonly keeping: Keeping;
  readonly sealFixtures: FixtureKeepingOptions['sealUnder'];
  /** Reads what is known of callers who agreed to be remembered. */
  readonly recall: RecallCaller;
  /** Where calls are let in: what this process refuses by itself. `load` is its own event loop. */
  readonly door: (load: () => LoadWatch) => Omit<DoorOptions<CallSpeech>, 'bots'>;
  /** Where carriers find the legs of agents who are rung for warm transfers. */
  readonly legDoor: LegDoor;
  /** Hears what happens in calls, their words included. */
  readonly news?: ((news: CallNews) => void) | undefined;
  /** As in `GatewayOptions`. */
  readonly aroundDialogs?: LoadingParts['aroundDialogs'];
  /** A call is over, and its place free. */
  readonly onOver?: CallRegistryOptions['onOver'];
  /** The media of a call that was dialled has come. */
  readonly onBegun?: CallRegistryOptions['onBegun'];
  /** The lag of the event loop was judged. */
  readonly onLoad?: LoadWatchOptions['onJudged'];
}

/** The live calls of one process, and all that they share. */
export interface Calls {
  readonly registry: CallRegistry;
  readonly load: LoadWatch;
  readonly followed: FollowedNews;
  /** Resolves when the bots' fixed sentences are in the cache, or could not be spoken. Calls are taken before that. */
  readonly prepared: Promise<void>;
  /**
   * Answers a carrier's call: one that begins, goes on, or rehearses a version of its bot.
   * @param place the recognition slot already counted for the call; chosen here when absent
   */
  answer(inbound: InboundCall, place?: SpeechPlace): CallAnswer | Promise<CallAnswer>;
  /** Speaks again what could not be spoken. */
  prepare(): Promise<void>;
  /** Bots whose servers are down, or have not answered since. */
  botsDown(): BotHealth['outages'];
  /** Gives out a value that a caller keyed, once, to one of these bots. */
  redeem(botNames: readonly string[], token: string): string | undefined;
  /**
   * Loads other bots.
   * @returns has new calls get them; live calls keep those that they began with
   * @throws OffhookError when a bot's dialog, or a vendor that it names, cannot be opened
   */
  loadBots(bots: readonly Bot[]): Promise<() => void>;
  /** Says goodbye to live calls, and waits for their ends and for their recordings. */
  close(): Promise<void>;
}

/** The playout of all calls is looked after this often. */
const TICK_MS = 20;

/** Builds what calls need, and the registry that they are in. @throws OffhookError when a bot's dialog cannot be opened */
export async function startCalls(options: CallsOptions): Promise<Calls> {
  const { config, speech, clock, logger, events, journal, aroundDialogs } = options;
  const { settings } = config;
  // Makes what reads opt-outs and wishes for a call, which takes tens of milliseconds: here, and not in a call.
  readOptOut('hello is anybody there');
  readCallBack('hello is anybody there', clock.wallMs(), 'UTC');
  const health = new BotHealth({ clock, logger });
  const placesCallsOf = { settings, tenants: config.tenants ?? [], carriers: options.carriers };
  const placing = (tenant: string): boolean => placesCalls(placesCallsOf, tenant);
  const { recall } = options;
  const bots = new BotsOfCalls({ clock, logger, events, health, placesCalls: placing, aroundDialogs, recall });
  bots.use(await bots.load(options.bots));
  const followed = new FollowedNews(clock);
  const liveNews = await openLiveNews(options);
  const news = (item: CallNews): void => {
    options.news?.(item);
    liveNews.tell(item);
    followed.tell(item);
  };
  const { services, kept, recordingFiles, vault, endOfTurn } = await openServices(options, { bots, news });
  const fixtures = fixturesOf(options);
  const { registry, unleased } = openRegistry(options, { bots, services, kept, fixtures, load: () => load });
  const load = new LoadWatch({ limits: settings.call, lag: measureLoopLag(), clock, logger, onJudged: options.onLoad });
  const formats = speechFormats(config.carriers);
  const sentences = new FixedSentences({ speech, formats, dialling: settings.dialling, clock, logger });
  const prepare = (): Promise<void> => sentences.prepare(bots.loaded);
  return {
    registry,
    answer: (inbound, place) => answerOn(registry, bots, inbound, place),
    load,
    followed,
    prepared: prepare(),
    prepare,
    botsDown: () => health.outages,
    redeem: (botNames, token) => botNames.map((name) => vault.redeem(name, token)).find((value) => value !== undefined),
    async loadBots(next) {
      speech.router.check(withTrials(next));
      const loaded = await bots.load(next);
      return () => {
        bots.use(loaded);
        void prepare();
      };
    },
    async close() {
      for (const part of [load, health, sentences]) part[Symbol.dispose]();
      await registry.shutDown();
      await liveNews[Symbol.asyncDispose]();
      await kept.close();
      await Promise.all(unleased);
      await journal[Symbol.asyncDispose]();
      await recordingFiles[Symbol.asyncDispose]();
      await endOfTurn?.[Symbol.asyncDispose]();
      await bots[Symbol.asyncDispose]();
      fixtures.close();
    },
  };
}

function answerOn(
  registry: CallRegistry,
  bots: BotsOfCalls,
  inbound: InboundCall,
  place: SpeechPlace | undefined,
): CallAnswer | Promise<CallAnswer> {
  const { next, rehearses, botName = '' } = inbound;
  if (next !== undefined) return registry.goOn(inbound, next, place);
  if (rehearses === undefined) return registry.answer(inbound, place);
  return bots.versionOf(botName, rehearses).then((bot) =>
    // Another version would not be what the caller tries out.
    bot?.version === rehearses ? registry.answer(inbound, place, bot) : refusal(bot, 'nobody', 'no-bot'),
  );
}

/** News of calls for `offhook call`, over a socket of the data folder. */
async function openLiveNews({ config, logger }: CallsOptions): Promise<LiveNews> {
  const liveNews = new LiveNews();
  await liveNews
    .listen(socketDirOf(config.settings.dataDir))
    .catch((error: unknown) => logger.warn({ error }, 'offhook call cannot follow calls: live news is unavailable'));
  return liveNews;
}

/** What all calls share, and what of it is closed after them. */
async function openServices(
  { config, carriers, clock, logger, events, journal, keeping, spend }: CallsOptions,
  { bots, news }: { readonly bots: BotsOfCalls; readonly news: (item: CallNews) => void },
) {
  const { settings, tenants = [] } = config;
  const recordingsFolder = recordingsFolderOf(config);
  const recordingFiles = new RecordingThread(clock);
  const vault = new SecretVault(clock);
  const path = await endOfTurnModelOf(settings, logger);
  const endOfTurn = path === undefined ? undefined : new EndOfTurnThread({ path, events, logger, clock });
  const formatOf = (botName: string): RecordingFormat => bots.recordingFormatOf(botName) ?? settings.recordings.format;
  const kept = keepCall(journal, { ...keeping, formatOf }, recordingsFolder, logger, clock);
  const services: SharedServices = {
    clock,
    logger,
    events,
    ticker: new Ticker(clock, TICK_MS, (error) => logger.error({ error }, 'tick failed')),
    ambienceOf: (bot, rateHz) => bots.ambienceOf(bot)?.get(rateHz),
    queues: new TransferQueues(),
    holdSoundOf: (bot, rateHz) => bots.holdSoundOf(bot)?.get(rateHz),
    sounds: new SoundLibrary({ clock }),
    createDetector: await loadVoiceActivity(),
    get speechJudge() {
      return bots.speechJudge;
    },
    get noiseSuppressor() {
      return bots.noiseSuppressor;
    },
    endOfTurn,
    createCutter: () => new SentenceCutter(),
    vault,
    recordingsFolder,
    recordingFiles,
    playout: settings.call,
    journal: kept.journal,
    keepState: kept.keepState,
    ended: kept.ended,
    dialling: settings.dialling,
    spend,
    refused: kept.refused,
    news,
    machine: turnMachine(ANSWER_READER),
    controlOf: (carrier) => carriers.get(carrier)?.control,
    destinationsOf: diallingDestinations(settings, tenants, await DiallingProfiles.load(settings.dialling.folder)),
  };
  return { services, kept, recordingFiles, vault, endOfTurn };
}

/** The model that is set, or the installed one that is used; undefined for none, or for one that is not whole: calls go on without it. */
export async function endOfTurnModelOf(
  { call, platform, dataDir }: Pick<Settings, 'call' | 'platform' | 'dataDir'>,
  logger: Pick<Logger, 'warn'>,
): Promise<string | undefined> {
  if (call.endOfTurnModel !== undefined) return call.endOfTurnModel;
  try {
    return await usedEndOfTurnModel(resolve(platform.modelsFolder ?? join(dataDir, 'models')));
  } catch (error) {
    logger.warn({ error }, 'end-of-turn model not used: turns end by silence and words');
    return undefined;
  }
}

function fixturesOf({ config: { settings }, sealFixtures, clock, logger }: CallsOptions): FixtureKeeping {
  return new FixtureKeeping({
    folder: join(settings.dataDir, FIXTURES_FOLDER),
    bots: settings.call.keepFixtures,
    days: settings.call.fixtureDays,
    retention: settings.retention,
    sealUnder: sealFixtures,
    clock,
    logger,
  });
}

function recordingsFolderOf({ settings }: CallsOptions['config']): string {
  return join(settings.dataDir, 'recordings');
}

interface RegistryParts {
  readonly bots: BotsOfCalls;
  readonly services: SharedServices;
  readonly kept: ReturnType<typeof keepCall>;
  readonly fixtures: FixtureKeeping;
  readonly load: () => LoadWatch;
}

/** @returns the registry, and the leases that are being removed */
function openRegistry(
  { config, door, carriers, journal, legDoor, onBegun, onOver, clock, logger }: CallsOptions,
  { bots, services, kept, fixtures, load }: RegistryParts,
): { registry: CallRegistry; unleased: ReadonlySet<Promise<void>> } {
  const { hangupAfterMarkMs, reattachMs } = config.settings.call;
  const recordingsFolder = recordingsFolderOf(config);
  const unleased = new Set<Promise<void>>();
  const options: CallRegistryOptions = {
    ...door(load),
    get bots() {
      return bots.loaded.bots;
    },
    get dialogs() {
      return bots.loaded.hooks;
    },
    timing: { ...DEFAULT_CALL_TIMING, hangupAfterMarkMs, reattachMs },
    lease: (callId) => journal.lease(callId),
    async left(callId, askedAtWallMs) {
      const left = await leftBehind({ journal, callId, askedAtWallMs, recordingsFolder, clock, logger });
      if (left === undefined) return undefined;
      kept.goesOn(callId, left.revision);
      const { botName, botVersion } = left.record;
      return { ...left, began: await bots.versionOf(botName, botVersion) };
    },
    take: (callId) => journal.take(callId),
    unlease(callId) {
      const failed = (error: unknown): void => logger.warn({ callId, error }, 'lease of a call not removed');
      const unleasing = journal
        .forget(callId)
        .catch(failed)
        .finally(() => unleased.delete(unleasing));
      unleased.add(unleasing);
    },
    record: fixtures.record,
    speechFormatOf: (carrier) => carriers.get(carrier)?.speechFormat,
    legs: new AgentLegs(legDoor),
    onBegun,
    onOver,
  };
  return { registry: new CallRegistry(options, services), unleased };
}

/** The state of this process's live calls on disk. @param copies the same for other machines */
export function openJournal(dataDir: string, clock: Clock, logger: Logger, copies?: CallStates): CallJournal {
  const onError = (callId: string, error: unknown): void => logger.error({ callId, error }, 'call journal write failed');
  return new CallJournal(join(dataDir, 'calls'), onError, { clock, copies });
}

/** Records of a machine that took a call over are newer than any of the machine before it, however many that still writes. */
const REVISIONS_OF_A_MACHINE = 1_000_000;

/** What a dead process left behind of a call, as it goes on here; undefined where there is nothing, or it cannot be read. */
async function leftBehind({
  journal,
  callId,
  askedAtWallMs,
  recordingsFolder,
  clock,
  logger,
}: {
  readonly journal: CallJournal;
  readonly callId: string;
  readonly askedAtWallMs: number | undefined;
  readonly recordingsFolder: string;
  readonly clock: Pick<Clock, 'wallMs'>;
  readonly logger: Logger;
}): Promise<(LeftBehind & { readonly revision: number }) | undefined> {
  const left = await journal.left(callId);
  if (left === undefined) return undefined;
  const [record, state] = [callRecord.safeParse(left.document), resumeState.safeParse(left.state)];
  if (!record.success || !state.success) {
    logger.error({ callId, error: record.error ?? state.error }, 'call not resumed: its journal cannot be read');
    return undefined;
  }
  const { recordingPath: pathThere, startedAtMs, revision } = record.data;
  const path = left.from === undefined ? pathThere : recordingPathOf(recordingsFolder, callId, startedAtMs);
  const found = path === undefined ? undefined : await stat(path).catch(() => undefined);
  const at = { nowWallMs: clock.wallMs(), askedAtWallMs };
  if (left.from !== undefined && path !== undefined) {
    const { machine, takes } = left.from;
    const from = { machine, recordingPath: path, bytesHere: found?.size ?? 0 };
    const resumed = resumedCall(record.data, state.data, { ...at, from });
    return { record: record.data, resumed, revision: takes * REVISIONS_OF_A_MACHINE + (revision % REVISIONS_OF_A_MACHINE) };
  }
  const file = found && { bytes: found.size, writtenAtWallMs: found.mtimeMs };
  return { record: record.data, resumed: resumedCall(record.data, state.data, { ...at, file }), revision };
}

/** The bot that has a call which a dead process left behind. */
export async function botOfLeft(journal: CallJournal, callId: string): Promise<string | undefined> {
  const left = await journal.left(callId);
  return callRecord.safeParse(left?.document).data?.botName;
}

/** Names of the bots whose secret this is. */
export function botsOf(bots: readonly Bot[], botSecret: string): string[] {
  return bots.filter(({ dialogSecret }) => dialogSecret?.equals(botSecret)).map(({ name }) => name);
}
