import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CallRecord } from '../../call/log/call-record.ts';
import type { CallNews } from '../../call/log/call-news.ts';
import type { Bot } from '../../config/bots.ts';
import type { LoadedConfig } from '../../config/load.ts';
import { carriers } from '../../carriers/registry.ts';
import { type Gateway, startGateway } from '../../hosts/app.ts';
import { type Clock, systemClock } from '../../kernel/clock.ts';
import { errorTextWithCause } from '../../kernel/errors.ts';
import { sleep, within } from '../../kernel/waiting.ts';
import { createLogger } from '../../observability/logger.ts';
import { momentAt } from '../../rehearsal/chat/open-chat.ts';
import { callerTurns, type Evidence, linesOf, nothingOf, timesOf } from '../../rehearsal/evals/evidence.ts';
import type { Caller, CallerMoment } from '../../rehearsal/evals/scripted-caller.ts';
import { SeededRandom } from '../../rehearsal/evals/seeded-random.ts';
import type { Rehearsal } from '../../rehearsal/evals/text-depth.ts';
import { CallerEar } from '../../sim/caller/ear.ts';
import { type CallerStep, ScriptedCaller } from '../../sim/caller/caller.ts';
import { CallerVoice } from '../../sim/caller/voice.ts';
import type { LineOptions } from '../../sim/carrier-line.ts';
import { simulatedCarriers } from '../../sim/carriers.ts';
import type { SimulatedAccount, SimulatedCarrierCall } from '../../sim/simulated-carrier.ts';
import { requireConfiguration } from '../setup/configuration.ts';
import { speechSource } from '../setup/speech-settings.ts';
import { UsageError } from '../shell/output.ts';

const CALL_ENDS_WITHIN_MS = 15_000;
const CALL_BEGINS_WITHIN_MS = 5_000;
const LOOK_MS = 10;

/** What a scenario has that cannot be played with sound; undefined for none. */
function notInSound({ scenario, suite }: Pick<Rehearsal, 'scenario' | 'suite'>): string | undefined {
  if (scenario.call.outbound) return 'an outbound call';
  if (scenario.mocks !== undefined || suite.mocks !== undefined) return 'mocks';
  const turns = scenario.caller.turns.some((turn) => typeof turn !== 'string' && turn.interrupt !== undefined);
  return turns ? 'an interruption' : undefined;
}

/** Opens what calls with sound need: a speech platform, a voice, and for each date a gateway, at a simulated carrier alone. */
export class SoundDepth implements AsyncDisposable {
  readonly #carrier: string;
  readonly #bots: readonly Bot[];
  readonly #voice: CallerVoice;
  readonly #stages = new Map<string, Promise<Stage>>();

  /** @param carrier its name in the registry @throws UsageError for a carrier that is not simulated: a suite never reaches a telephone network */
  constructor(carrier: string, bots: readonly Bot[]) {
    const simulated = simulatedCarriers.map(({ name }) => name);
    if (!simulated.includes(carrier))
      throw new UsageError(`evals call only simulated carriers, and "${carrier}" is none: ${simulated.join(', ')}`);
    this.#carrier = carrier;
    this.#bots = bots;
    this.#voice = new CallerVoice();
  }

  /** Plays a scenario as a call with sound. Never rejects for what the bot does. */
  readonly rehearse = async (rehearsal: Rehearsal): Promise<Evidence> => {
    const at = rehearsal.scenario.at ?? rehearsal.suite.at;
    const key = `${at} ${rehearsal.bot.timeZone}`;
    const impossible = notInSound(rehearsal);
    if (impossible !== undefined) return nothingOf(rehearsal.bot, `the scenario has ${impossible}, which is for depth text`);
    try {
      const stage = this.#stages.get(key) ?? Stage.open(this.#carrier, this.#bots, momentAt(at, rehearsal.bot.timeZone));
      this.#stages.set(key, stage);
      return await (await stage).call(rehearsal, this.#voice);
    } catch (error) {
      return nothingOf(rehearsal.bot, errorTextWithCause(error));
    }
  };

  async [Symbol.asyncDispose](): Promise<void> {
    const stages = await Promise.allSettled(this.#stages.values());
    for (const stage of stages) if (stage.status === 'fulfilled') await stage.value[Symbol.asyncDispose]();
    await this.#voice[Symbol.asyncDispose]();
  }
}

/** A gateway whose clock shows the date of the scenarios, with an account at a simulated carrier. */
class Stage implements AsyncDisposable {
  readonly #clock: Clock;
  /** Closed in the reverse order. */
  readonly #open: AsyncDisposable[] = [];
  readonly #followers = new Map<string, (news: CallNews) => void>();
  #parts: { readonly gateway: Gateway; readonly account: SimulatedAccount } | undefined;

  private constructor(clock: Clock) {
    this.#clock = clock;
  }

  static async open(name: string, bots: readonly Bot[], atWallMs: number): Promise<Stage> {
    const offsetMs = atWallMs - systemClock.wallMs();
    const stage = new Stage({ ...systemClock, wallMs: () => systemClock.wallMs() + offsetMs });
    try {
      await stage.#start(name, bots);
      return stage;
    } catch (error) {
      await stage[Symbol.asyncDispose]();
      throw error;
    }
  }

  async #start(name: string, bots: readonly Bot[]): Promise<void> {
    const clock = this.#clock;
    const simulated = simulatedCarriers.find((each) => each.name === name);
    const carrier = carriers.find((each) => each.name === name);
    if (simulated === undefined || carrier === undefined) throw new TypeError(`there is no simulated carrier ${name}`);
    const dataDir = await mkdtemp(join(tmpdir(), 'offhook-evals-'));
    this.#open.push({ [Symbol.asyncDispose]: () => rm(dataDir, { recursive: true, force: true }) });
    const account = this.#opened(await simulated.open({ clock }));
    const configuration = requireConfiguration({
      OFFHOOK_DATA_DIR: dataDir,
      OFFHOOK_PORT: '0',
      OFFHOOK_PLATFORM_PORT: '0',
      OFFHOOK_LOG__LEVEL: 'error',
      // A call is admitted however late the event loop is, on a machine that has just started everything.
      OFFHOOK_CALL__REFUSE_LAG_MS: '60000',
      OFFHOOK_PUBLIC_URL: '',
      ...account.env,
    });
    const config = apart(configuration.config);
    const logger = createLogger({ level: config.settings.log.level });
    const stop = new AbortController();
    const speech = this.#opened(await speechSource(config, logger, stop.signal));
    speech.teach(bots);
    const gateway = this.#opened(
      await startGateway({
        // No other carrier and no tenant's own account: what this gateway orders reaches the simulated carrier alone.
        config,
        carriers: [carrier],
        bots,
        speech: speech.settings,
        clock,
        logger,
        worker: false,
        news: (news) => this.#followers.get(news.callId)?.(news),
      }),
    );
    this.#parts = { gateway, account };
    await gateway.prepared;
  }

  #opened<Part extends AsyncDisposable>(part: Part): Part {
    this.#open.push(part);
    return part;
  }

  async call(rehearsal: Rehearsal, voice: CallerVoice): Promise<Evidence> {
    const { scenario, bot } = rehearsal;
    const { from, to } = scenario.call;
    if (this.#parts === undefined) throw new TypeError('the gateway was not started');
    const { gateway, account } = this.#parts;
    const watch = new SoundObserver();
    const call = await account.place({
      url: gateway.url,
      clock: this.#clock,
      bot: bot.name,
      ...(from === undefined ? {} : { from }),
      ...(to === undefined ? {} : { to }),
      stream: lineOf(rehearsal),
    });
    const session = await appears(CALL_BEGINS_WITHIN_MS, () =>
      gateway.calls.calls.find(({ identity }) => identity.inbound.carrierCallId === call.carrierCallId),
    );
    if (session === undefined) throw new Error('the gateway has no call after its media stream started');
    for (const { news } of session.soFar) watch.take(news);
    this.#followers.set(session.id, watch.take);
    try {
      await talk(rehearsal, call, watch, voice);
      await call.hangUp();
      const record = await within(systemClock, CALL_ENDS_WITHIN_MS, session.ended, undefined);
      if (record === undefined) throw new Error('the call did not end');
      watch.problems.push(...call.line.complaints.map((complaint) => `the carrier complains: ${complaint}`));
      return evidenceOf(record, call, watch, rehearsal);
    } finally {
      this.#followers.delete(session.id);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const part of this.#open.reverse()) await part[Symbol.asyncDispose]();
  }
}

/** The configuration without what other gateways share: their store, queue, recordings, webhooks and tenants. */
function apart(config: LoadedConfig): LoadedConfig {
  const { recordings } = config.settings;
  return {
    ...config,
    tenants: [],
    webhooks: [],
    secrets: { ...config.secrets, databaseUrl: undefined, redisUrl: undefined },
    settings: { ...config.settings, recordings: { ...recordings, s3Bucket: undefined, s3Endpoint: undefined } },
  };
}

/** The caller's line of a scenario: loss, noise and delays by the run's seed. */
function lineOf({ scenario: { caller }, seed }: Rehearsal): LineOptions {
  const { loss, noise, jitterMs } = caller.line;
  const random = new SeededRandom(seed, 'line');
  return {
    ...(loss === 0 ? {} : { loses: () => random.next() < loss }),
    ...(noise === 0 ? {} : { lineNoise: noise }),
    ...(jitterMs === 0 ? {} : { toGatewayDelayMs: () => random.next() * jitterMs }),
  };
}

/** Lets the caller act each time the bot has finished, until the call is over or they have nothing to do. */
async function talk(
  { caller, scenario, bot }: Rehearsal,
  call: SimulatedCarrierCall,
  watch: SoundObserver,
  voice: CallerVoice,
): Promise<void> {
  const { patience, voice: name, rate, language = scenario.call.language ?? bot.language } = scenario.caller;
  const actor = new ScriptedCaller(call.line, patience.waitMs);
  const ear = new CallerEar();
  let sinceMs = 0;
  while (call.line.open) {
    const heard = await botFinishes(call, ear, sinceMs, patience.waitMs);
    if (!call.line.open) return;
    if (!heard) return void watch.problems.push(`the caller got no turn for ${Math.round(patience.waitMs / 1000)} s`);
    const step = await stepOf(caller, watch, (text) =>
      voice.say(text, { language, ...(name === undefined ? {} : { voice: name }), ...(rate === undefined ? {} : { rate }) }),
    );
    if (step === 'stop') return;
    sinceMs = call.line.nowMs;
    if (step === 'silence') continue;
    try {
      await actor.run([step]);
    } catch (error) {
      if (call.line.open) watch.problems.push(errorTextWithCause(error));
      return;
    }
  }
}

/** The caller's next act. @returns `stop` for a hang-up, or where the caller has none */
async function stepOf(
  caller: Caller,
  watch: SoundObserver,
  say: (text: string) => Promise<Int16Array>,
): Promise<CallerStep | 'silence' | 'stop'> {
  const next = await caller.next(watch.moment());
  if ('stuck' in next) {
    watch.problems.push(next.stuck);
    return 'stop';
  }
  watch.acts();
  const { act } = next;
  switch (act.kind) {
    case 'say':
      return { kind: 'say', text: act.text, pcm: await say(act.text) };
    case 'press':
      return { kind: 'press', digits: act.keys };
    case 'silence':
      return 'silence';
    case 'interrupt':
      return 'text' in act.by
        ? { kind: 'say', text: act.by.text, pcm: await say(act.by.text) }
        : { kind: 'press', digits: act.by.keys };
    case 'hang-up':
    case 'show':
      return 'stop';
  }
}

/** Waits until the bot has said something and is silent. @returns false where it has not in time */
async function botFinishes({ line }: SimulatedCarrierCall, ear: CallerEar, sinceMs: number, waitMs: number): Promise<boolean> {
  const fromMs = line.nowMs;
  return new Promise((resolve) => {
    const look = (): void => {
      ear.listen(line.buffer.heard);
      const spoke = ear.finished && ear.phrases.some((phrase) => phrase.fromMs >= sinceMs);
      if (!spoke && line.open && line.nowMs - fromMs < waitMs) return;
      stop();
      resolve(spoke);
    };
    const stop = line.watch(look);
    look();
  });
}

/** What the caller knows of a call with sound. */
class SoundObserver {
  readonly problems: string[] = [];
  #said: string[] = [];
  #step: string | undefined;
  #slots: Readonly<Record<string, string>> = {};

  moment(): CallerMoment {
    return { said: this.#said.join(' '), step: this.#step, asked: [], variables: this.#slots };
  }

  acts(): void {
    this.#said = [];
  }

  readonly take = (news: CallNews): void => {
    if (news.type === 'saying') this.#said.push(news.text);
    if (news.type !== 'state') return;
    this.#step = news.step ?? undefined;
    this.#slots = news.slots;
  };
}

async function appears<Value>(withinMs: number, look: () => Value | undefined): Promise<Value | undefined> {
  for (let waitedMs = 0; waitedMs < withinMs && look() === undefined; waitedMs += LOOK_MS) await sleep(systemClock, LOOK_MS);
  return look();
}

function evidenceOf(record: CallRecord, call: SimulatedCarrierCall, watch: SoundObserver, { world }: Rehearsal): Evidence {
  const { callBackAtWallMs, endReason, variables, notes, falseAlarms } = record;
  return {
    lines: linesOf(record),
    end: endReason,
    disposition: undefined,
    variables,
    notes,
    steps: record.turns.flatMap(({ steps }) => steps ?? []),
    transfers: record.transfers.map(({ to }) => to),
    keys: call.digits.join(''),
    plays: [],
    bot: record.botName,
    language: record.language,
    callBack: callBackAtWallMs === undefined ? undefined : new Date(callBackAtWallMs).toISOString(),
    optOut: record.optOut?.kind,
    requests: world.seen,
    turns: callerTurns(record),
    interruptions: record.interruptions.length,
    interruptionsIgnored: falseAlarms,
    times: timesOf(record),
    failures: endReason === 'dialog-failed' ? ['the dialog had no answer'] : [],
    problems: watch.problems,
    warnings: [],
  };
}
