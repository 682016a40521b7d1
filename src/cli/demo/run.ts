import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startGateway } from '../../hosts/app.ts';
import type { CallRecord } from '../../call/log/call-record.ts';
import type { CallNews } from '../../call/log/call-news.ts';
import { carriers } from '../../carriers/registry.ts';
import type { Settings } from '../../config/schema.ts';
import { sleep } from '../../kernel/waiting.ts';
import { systemClock } from '../../kernel/clock.ts';
import { errorText } from '../../kernel/errors.ts';
import { createLogger } from '../../observability/logger.ts';
import { type StepReport, ScriptedCaller } from '../../sim/caller/caller.ts';
import { simulatedCarriers } from '../../sim/carriers.ts';
import type { SimulatedCarrier, SimulatedCarrierCall } from '../../sim/simulated-carrier.ts';
import { CallerVoice } from '../../sim/caller/voice.ts';
import { analysisPath } from '../../records/after-call/analyse-call.ts';
import { requireConfiguration } from '../setup/configuration.ts';
import { speechSource } from '../setup/speech-settings.ts';
import { modelCaller, realModels } from './real.ts';
import { startRealtimeDemo } from './realtime.ts';
import { type DemoReport, judge, strays } from './report.ts';
import { callerSteps, scenarioFor, type Tampering } from './scenario.ts';

export interface DemoOptions {
  readonly language: string;
  /** One of `simulatedCarriers`, … */
  readonly carrier: string;
  /** … unless the call comes through something else under that name. */
  readonly through?: SimulatedCarrier;
  readonly profile?: string;
  readonly tampering?: Tampering;
  /** Open models speak for the caller, and hear. Words may be misheard; what is judged are the bot's answers. */
  readonly real?: boolean;
  /** A speech-to-speech model is called, simulated, in place of the flow bot. */
  readonly realtime?: boolean;
  readonly onNews: (news: CallNews) => void;
  readonly onStage: (stage: string) => void;
}

const ANALYSIS_WITHIN_MS = 60_000;
const CALL_ENDS_WITHIN_MS = 15_000;
/** From the start of the media stream to the call at the gateway. */
const CALL_BEGINS_WITHIN_MS = 5_000;

/** Recordings of the demo are plain files, whatever the settings say: nobody called, and the user gets their paths. */
const plainRecordings: Settings['recordings'] = {
  seal: 'never',
  format: 'wav',
  s3Endpoint: undefined,
  s3Bucket: undefined,
  s3Region: '',
  s3Prefix: undefined,
};

/**
 * Starts a gateway, an embedded platform and a simulated carrier on free loopback ports with a data folder of their own, places one
 * scripted call through the carrier's protocol, waits for its analysis, and compares everything with the script.
 */
export async function runDemo(options: DemoOptions): Promise<DemoReport> {
  const clock = systemClock;
  const simulated = options.through ?? simulatedCarriers.find(({ name }) => name === options.carrier);
  const carrier = carriers.find(({ name }) => name === options.carrier);
  if (simulated === undefined || carrier === undefined) throw new TypeError(`there is no simulated carrier ${options.carrier}`);
  const real = options.real === true ? await realModels(requireConfiguration().config, options.language) : undefined;
  const dataDir = await mkdtemp(join(tmpdir(), 'offhook-demo-'));
  await using account = await simulated.open({ clock });
  const { config: configured, bots } = requireConfiguration({
    OFFHOOK_DATA_DIR: dataDir,
    OFFHOOK_PORT: '0',
    OFFHOOK_PLATFORM_PORT: '0',
    OFFHOOK_LOG__LEVEL: 'error',
    // The script belongs to a shipped bot.
    OFFHOOK_BOTS__FOLDER: 'config/bots',
    // The call is admitted however late the event loop is, on a machine that has just started everything.
    OFFHOOK_CALL__REFUSE_LAG_MS: '60000',
    // An address of the user's own is not where the simulated carrier reaches this gateway.
    OFFHOOK_PUBLIC_URL: '',
    ...account.env,
    ...(real === undefined ? {} : { OFFHOOK_PLATFORM__MODELS_FOLDER: real.folder }),
    ...(options.profile === undefined ? {} : { OFFHOOK_PLATFORM__PROFILE: options.profile }),
  });
  const config = { ...configured, settings: { ...configured.settings, recordings: plainRecordings } };
  await using model = options.realtime === true ? await startRealtimeDemo(clock) : undefined;
  const scenario = model?.scenario ?? scenarioFor(options.language);
  if (model === undefined && !bots.some(({ name }) => name === scenario.bot))
    throw new Error(`config/bots has no bot "${scenario.bot}", which it calls`);
  const logger = createLogger({ level: config.settings.log.level });
  const stop = new AbortController();
  options.onStage(
    real === undefined
      ? 'starting the speech platform (the first start trains its recogniser)'
      : `starting the speech platform: ${real.voice} calls, ${real.recogniser} listens`,
  );
  await using speech = await speechSource(config, logger, stop.signal);
  await using voice = real === undefined ? new CallerVoice() : modelCaller(speech.settings, logger);
  // Only this bot's sentences are learnt and synthesised ahead.
  const called =
    model === undefined
      ? bots.filter(({ name }) => name === scenario.bot).map((bot) => ({ ...bot, default: true }))
      : [model.bot];
  speech.teach(called);
  options.onStage('starting the gateway');
  let call: SimulatedCarrierCall | undefined;
  const onNews = (news: CallNews): void => {
    options.onNews(news);
    // A tampered call can stop at its first wrong turn.
    const wrong = news.type === 'turn' && strays(scenario, news.turn, news.callerText);
    if (wrong && real === undefined && options.tampering !== undefined) void call?.hangUp();
  };
  await using gateway = await startGateway({
    config,
    bots: called,
    speech: speech.settings,
    clock,
    logger,
    worker: true,
    news: onNews,
  });
  const steps = await callerSteps(scenario, voice, options.tampering);
  await gateway.prepared;
  const { url } = gateway;
  options.onStage(`calling ${url} as ${carrier.title} does`);
  call = await account.place({ url, clock, bot: scenario.bot });
  const session = await appears(CALL_BEGINS_WITHIN_MS, () => gateway.calls.calls[0]);
  if (session === undefined) throw new Error('the gateway has no call after its media stream started');
  const { reports, problems } = await script(new ScriptedCaller(call.line, 30_000), steps);
  await call.hangUp();
  const record = await within(CALL_ENDS_WITHIN_MS, session.ended);
  if (record === undefined) throw new Error('the call did not end');
  const analysis = await analysed(record, gateway.backlog.store.analyses);
  const files = { record: gateway.recordPath(record.id, record.startedAtWallMs), analysis };
  problems.push(...call.line.complaints.map((complaint) => `${carrier.title} complains: ${complaint}`));
  const seen = model?.check(record);
  problems.push(...(seen?.problems ?? []));
  const report = judge(
    { scenario, carrier, line: call.line.formats, real: real !== undefined },
    reports,
    record,
    files,
    problems,
  );
  return seen === undefined ? report : { ...report, truncations: seen.truncations, tools: seen.tools };
}

async function script(
  caller: ScriptedCaller,
  steps: Parameters<ScriptedCaller['run']>[0],
): Promise<{ reports: readonly StepReport[]; problems: string[] }> {
  try {
    return { reports: await caller.run(steps), problems: [] };
  } catch (error) {
    return { reports: caller.reports, problems: [errorText(error)] };
  }
}

/** The path of the call's analysis once the store has it; undefined when it does not come in time. */
async function analysed(
  record: CallRecord,
  analyses: { list(tenantId: string, callId: string): Promise<readonly unknown[]> },
): Promise<string | undefined> {
  const path = analysisPath({ id: record.id, recordingPath: record.recordingPath });
  for (let waitedMs = 0; waitedMs < ANALYSIS_WITHIN_MS; waitedMs += 100) {
    if ((await analyses.list(record.tenantId, record.id)).length > 0) return path;
    await sleep(systemClock, 100);
  }
  return undefined;
}

async function appears<Value>(withinMs: number, look: () => Value | undefined): Promise<Value | undefined> {
  for (let waitedMs = 0; waitedMs < withinMs && look() === undefined; waitedMs += 10) await sleep(systemClock, 10);
  return look();
}

async function within<Value>(ms: number, promise: Promise<Value>): Promise<Value | undefined> {
  return Promise.race([promise, sleep(systemClock, ms).then(() => undefined)]);
}
