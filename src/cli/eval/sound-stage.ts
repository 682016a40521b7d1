import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CallRecord } from '../../call/log/call-record.ts';
import { CallSession } from '../../call/session.ts';
import { carriers } from '../../carriers/registry.ts';
import type { Bot } from '../../config/bots.ts';
import type { LoadedConfig } from '../../config/load.ts';
import { type Gateway, startGateway } from '../../hosts/app.ts';
import { API_KEYS_FILE, ApiKeys } from '../../http/api/system/api-keys.ts';
import { type Clock, systemClock } from '../../kernel/clock.ts';
import { type PatientClock, startPatientClock } from '../../kernel/patient-clock.ts';
import { sleep, within } from '../../kernel/waiting.ts';
import { CallObserver, evidenceOf, stepSlots } from '../../rehearsal/evals/call-observer.ts';
import type { Evidence } from '../../rehearsal/evals/evidence.ts';
import type { Rehearsal } from '../../rehearsal/evals/rehearsal.ts';
import type { OnDial } from '../../sim/caller/callee.ts';
import type { CallerLine } from '../../sim/caller/caller.ts';
import { CarrierLine } from '../../sim/carrier-line.ts';
import { simulatedCarriers } from '../../sim/carriers.ts';
import type { SimulatedAccount } from '../../sim/simulated-carrier.ts';
import { requireConfiguration } from '../setup/configuration.ts';
import { speechSource } from '../setup/speech-settings.ts';
import { RehearsedCall, RehearsedCalls } from './rehearsed-calls.ts';
import { type CallerMeans, type SayAloud, type SoundCall, talk } from './sound-call.ts';
import { BadLine, callSound } from './sound-line.ts';
import type { SpeechHere } from './speech-here.ts';

const CALL_ENDS_WITHIN_MS = 60_000;
const CALL_BEGINS_WITHIN_MS = 15_000;
const LOOK_MS = 5;
/** Numbers that are nobody's: Ofcom keeps them free for dramas. */
const CALLER_ID = '+442079460001';
const PERSONS = '+442079460';

export interface StageOptions {
  /** Name of a simulated carrier. */
  readonly carrier: string;
  readonly bots: readonly Bot[];
  /** Wall time of the stage's clock as it opens. */
  readonly atWallMs: number;
  /** How much faster than the machine's clock calls go at most; 1 where servers outside are asked. */
  readonly times: number;
  /** The embedded engines; undefined where a speech platform is configured. */
  readonly speech: SpeechHere | undefined;
  readonly say: SayAloud;
}

/** What a call left: what is known of it, and its sound as a WAV file. */
export interface PlayedCall {
  readonly evidence: Evidence;
  readonly sound: Uint8Array | undefined;
}

/** A gateway whose clock shows the date of the scenarios, with an account at a simulated carrier. */
export class SoundStage implements AsyncDisposable {
  readonly #options: StageOptions;
  readonly #calls = new RehearsedCalls();
  /** Closed in the reverse order. */
  readonly #open: AsyncDisposable[] = [];
  #clock: Clock = systemClock;
  #parts: { readonly gateway: Gateway; readonly account: SimulatedAccount; readonly dataDir: string } | undefined;
  #patient: PatientClock | undefined;
  #bots: readonly Bot[];
  /** The person who takes the next call that the gateway orders. */
  #person: OnDial | undefined;
  #persons = 0;
  /** Calls are placed one after the other. */
  #placing: Promise<unknown> = Promise.resolve();

  private constructor(options: StageOptions) {
    this.#options = options;
    this.#bots = options.bots;
  }

  /** @throws what keeps the gateway from its start */
  static async open(options: StageOptions): Promise<SoundStage> {
    const stage = new SoundStage(options);
    try {
      await stage.#start();
      return stage;
    } catch (error) {
      await stage[Symbol.asyncDispose]();
      throw error;
    }
  }

  async #start(): Promise<void> {
    const { carrier: name, bots, speech } = this.#options;
    const simulated = simulatedCarriers.find((each) => each.name === name);
    const carrier = carriers.find((each) => each.name === name);
    if (simulated === undefined || carrier === undefined) throw new TypeError(`there is no simulated carrier ${name}`);
    this.#startClock();
    const clock = this.#clock;
    const dataDir = await mkdtemp(join(tmpdir(), 'offhook-evals-'));
    this.#open.push({ [Symbol.asyncDispose]: () => rm(dataDir, { recursive: true, force: true }) });
    const nobody: OnDial = () => ({ outcome: { kind: 'no-answer' } });
    const account = this.#opened(await simulated.open({ clock, onDial: (order) => (this.#person ?? nobody)(order) }));
    onlyLoopback(account.env);
    const { config } = requireConfiguration({
      OFFHOOK_DATA_DIR: dataDir,
      OFFHOOK_PORT: '0',
      OFFHOOK_PLATFORM_PORT: '0',
      // A call is admitted however late the event loop is, on a machine that has just started everything.
      OFFHOOK_CALL__REFUSE_LAG_MS: '60000',
      OFFHOOK_PUBLIC_URL: '',
      OFFHOOK_DIALLING__CALLER_IDS: CALLER_ID,
      OFFHOOK_DIALLING__DESTINATIONS: 'any',
      ...account.env,
    });
    const gateway = this.#opened(
      await startGateway({
        // No other carrier and no tenant's own account: what this gateway orders reaches the simulated carrier alone.
        config: apart(config),
        carriers: [carrier],
        bots,
        speech: speech === undefined ? await this.#configuredSpeech(config) : await this.#speechHere(speech, dataDir),
        clock,
        logger: this.#calls.logger,
        worker: false,
        news: this.#calls.news,
        aroundDialogs: this.#calls.aroundDialogs,
      }),
    );
    this.#parts = { gateway, account, dataDir };
  }

  #startClock(): void {
    const { speech, atWallMs, times } = this.#options;
    if (speech === undefined) {
      const offsetMs = atWallMs - systemClock.wallMs();
      this.#clock = { ...systemClock, wallMs: () => systemClock.wallMs() + offsetMs };
      return;
    }
    const patient = startPatientClock({ times, wallMs: atWallMs });
    this.#open.push({ [Symbol.asyncDispose]: async () => patient[Symbol.dispose]() });
    this.#clock = patient.clock;
    this.#patient = patient;
  }

  async #speechHere(speech: SpeechHere, dataDir: string) {
    if (this.#patient === undefined) throw new TypeError('the clock was not started');
    const { authUrl, asrUrl, ttsUrl, apiKey } = this.#opened(await speech.startOn(this.#patient, join(dataDir, 'platform')));
    return { authUrl, asrUrl, ttsUrl, apiKey };
  }

  async #configuredSpeech(config: LoadedConfig) {
    const source = this.#opened(await speechSource(config, this.#calls.logger, new AbortController().signal));
    return source.settings;
  }

  #opened<Part extends AsyncDisposable>(part: Part): Part {
    this.#open.push(part);
    return part;
  }

  /** Plays a scenario. @throws what keeps the call from its beginning */
  async call(rehearsal: Rehearsal): Promise<PlayedCall> {
    const { bot, scenario, world } = rehearsal;
    const observer = new CallObserver(bot, await stepSlots(bot));
    const rehearsed = new RehearsedCall(observer, world, scenario.call.variables);
    using _requests = world.open();
    world.begins(this.#clock);
    const line = new BadLine(rehearsal);
    try {
      const placed = await this.#inTurn(() => this.#place(rehearsal, rehearsed, line));
      line.opened(placed.line);
      // A kept call is one long sound, silence included.
      rehearsed.callerSpeaks = () => !placed.line.silent && rehearsal.caller.recording === undefined;
      await talk(rehearsal, placed, { say: this.#options.say, hold: this.#hold });
      placed.hangUp();
      return await this.#played(placed, rehearsal);
    } finally {
      this.#calls.forget(rehearsed);
    }
  }

  readonly #hold: CallerMeans['hold'] = (work) => this.#patient?.hold(work) ?? work;

  async #played({ session, line, rehearsed }: SoundCall, rehearsal: Rehearsal): Promise<PlayedCall> {
    const record = await within<CallRecord, undefined>(systemClock, CALL_ENDS_WITHIN_MS, session.ended, undefined);
    if (record === undefined) throw new Error('the call did not end');
    const { observer } = rehearsed;
    observer.optOut = record.optOut?.kind;
    if (line instanceof CarrierLine)
      observer.problems.push(...line.complaints.map((complaint) => `the carrier complains: ${complaint}`));
    return { evidence: evidenceOf(record, observer, rehearsal), sound: callSound(line) };
  }

  async #inTurn<Value>(run: () => Promise<Value>): Promise<Value> {
    const mine = this.#placing.then(run);
    this.#placing = mine.catch(() => undefined);
    return mine;
  }

  /** Places the call, by the caller or by the gateway. What the gateway opens meanwhile is this call's. */
  async #place(
    rehearsal: Rehearsal,
    rehearsed: RehearsedCall,
    line: BadLine,
  ): Promise<SoundCall & { readonly hangUp: () => void }> {
    if (this.#parts === undefined) throw new TypeError('the gateway was not started');
    const { gateway, account } = this.#parts;
    const { scenario, bot, world } = rehearsal;
    await this.#useBots(world.prepare(bot));
    this.#calls.placing = rehearsed;
    try {
      if (scenario.call.outbound) return await this.#dialled(rehearsal, rehearsed, line);
      const { from, to } = scenario.call;
      const call = await account.place({
        url: gateway.url,
        clock: this.#clock,
        bot: bot.name,
        ...(from === undefined ? {} : { from }),
        ...(to === undefined ? {} : { to }),
        stream: line.options,
      });
      const session = await this.#sessionOf(call.carrierCallId);
      return { line: call.line, session, rehearsed, hangUp: () => void call.hangUp() };
    } finally {
      this.#calls.placing = undefined;
    }
  }

  /** New calls get this bot in place of its other versions. */
  async #useBots(bot: Bot): Promise<void> {
    if (this.#bots.includes(bot)) return;
    this.#bots = this.#bots.map((each) => (each.name === bot.name ? bot : each));
    await this.#parts?.gateway.useBots(this.#bots);
  }

  async #dialled(
    { scenario, bot }: Rehearsal,
    rehearsed: RehearsedCall,
    line: BadLine,
  ): Promise<SoundCall & { readonly hangUp: () => void }> {
    let hangUp: () => void = () => undefined;
    const over = new Promise<void>((resolve) => (hangUp = resolve));
    const answered = new Promise<{ readonly line: CallerLine; readonly carrierCallId: string }>((resolve) => {
      this.#person = ({ carrierCallId }) => ({
        outcome: {
          kind: 'answered',
          fullMedia: true,
          stream: line.options,
          talk: (opened) => {
            resolve({ line: opened, carrierCallId });
            return over;
          },
        },
      });
    });
    try {
      await this.#order(scenario.call, bot);
      const placed = await within(systemClock, CALL_BEGINS_WITHIN_MS, answered, undefined);
      if (placed === undefined) throw new Error('the gateway did not place the call');
      return { line: placed.line, session: await this.#sessionOf(placed.carrierCallId), rehearsed, hangUp };
    } finally {
      this.#person = undefined;
    }
  }

  /** Has the gateway place a call, as its operators do. @throws with the reason of a refusal */
  async #order({ from = CALLER_ID, to = this.#newNumber(), variables }: Rehearsal['scenario']['call'], bot: Bot): Promise<void> {
    const { gateway, dataDir } = this.#parts ?? {};
    if (gateway === undefined || dataDir === undefined) throw new TypeError('the gateway was not started');
    const facts = { name: 'evals', tenantId: bot.tenant, scopes: ['calls:dial', 'dialling:rules'] as const };
    const { secret } = new ApiKeys(join(dataDir, API_KEYS_FILE)).create({ ...facts, scopes: [...facts.scopes] }, 0);
    const response = await fetch(`${gateway.url}/api/calls`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      // A rehearsal has no hours in which it may call.
      body: JSON.stringify({ from, to, bot: bot.name, variables, profile: 'none', zone: bot.timeZone }),
    });
    const text = await response.text();
    if (response.status !== 201) throw new Error(`the gateway places no call: ${text.slice(0, 500)}`);
  }

  /** Another one for each call: the gate lets nobody be called twice in a row. */
  #newNumber(): string {
    this.#persons = (this.#persons + 1) % 900;
    return `${PERSONS}${100 + this.#persons}`;
  }

  async #sessionOf(carrierCallId: string): Promise<CallSession> {
    const { gateway } = this.#parts ?? {};
    for (let waitedMs = 0; waitedMs < CALL_BEGINS_WITHIN_MS; waitedMs += LOOK_MS) {
      const found = gateway?.calls.calls.find(({ identity }) => identity.inbound.carrierCallId === carrierCallId);
      if (found instanceof CallSession) return found;
      await sleep(systemClock, LOOK_MS);
    }
    throw new Error('the gateway has no call after its media stream started');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const part of this.#open.reverse()) await part[Symbol.asyncDispose]();
  }
}

/** An address of this machine, where a simulated carrier's interface is. */
const LOOPBACK = /^(?:https?|wss?|tcp):\/\/(?:127\.0\.0\.1|localhost|\[::1\])(?::|\/|$)/u;

/**
 * The gate of evals: a gateway that rehearses reaches simulated carriers alone.
 * @throws Error where an address of the carrier is not of this machine
 */
export function onlyLoopback(env: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(env)) {
    if (/^[a-z]+:\/\//u.test(value) && !LOOPBACK.test(value))
      throw new Error(`evals reach simulated carriers alone, and ${name} is an address elsewhere: ${value}`);
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
