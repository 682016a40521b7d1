import { AggregatorRegistry, collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { z } from 'zod';

/** How a call ended, as the metric's label. */
export type CallOutcome = 'caller-hangup' | 'bot-hangup' | 'lost' | 'failed' | 'time-limit' | 'shutdown';

/** Stages of a turn's latency, from the caller's last voiced sample to the first frame of the reply. */
export type LatencyStage = 'endpointing' | 'asr-final' | 'dialog' | 'tts-first-byte' | 'first-frame' | 'total';

export type SpeechService = 'asr' | 'tts';

/**
 * Why a call was refused. `late`: admission took too long; `failed`: admission threw; `process`: no media process was available; `dialled-over`: an
 * outbound call came back after its end; `replayed`: a webhook was repeated byte for byte after the end of its call.
 */
export const REFUSAL_CAUSES = [
  'no-bot',
  'calls',
  'tenant-calls',
  'loop-lag',
  'speech-down',
  'speech-slots',
  'lease',
  'dialled-over',
  'replayed',
  'process',
  'stopping',
  'late',
  'failed',
] as const;
export type RefusalCause = (typeof REFUSAL_CAUSES)[number];

/** Slots of a speech service in use and waited for, by priority. */
export interface SpeechSlots {
  /** The speech platform when absent. */
  readonly vendor?: string;
  readonly service: SpeechService;
  readonly priority: 'live' | 'batch';
  readonly held: number;
  readonly waiting: number;
  /** Total for both priorities. */
  readonly limit: number;
  /** Part of a shared limit leased to this machine. */
  readonly leased?: number | undefined;
}

/** The Prometheus metrics. Label values come from fixed lists or our own code, never from outside. */
export interface Metrics {
  /** Reads the live calls of this process at each scrape, by carrier. */
  watchCalls(read: () => ReadonlyMap<string, number>): void;
  callEnded(carrier: string, outcome: CallOutcome, durationMs: number): void;
  /** A crashed process's call continues in this one. @param gapMs how long the caller was without it */
  callResumed(carrier: string, gapMs: number): void;
  /** @param by kind of party that answered an outbound call */
  outboundAnswered(by: string): void;
  turnLatency(stage: LatencyStage, latencyMs: number): void;
  /** `held`: the bot paused for a sound and went on; `cleared`: its reply ended. */
  interruption(kind: 'held' | 'cleared', cause: string): void;
  earlyAnswer(outcome: 'hit' | 'miss'): void;
  underruns(cause: string, count: number): void;
  speechError(service: SpeechService, code: string): void;
  /** The recogniser or synthesizer of a call was switched. */
  speechSwitched(service: 'recognition' | 'synthesis', from: string, to: string, reason: string): void;
  /** `first-audio`: of a requested sentence; `final`: after a commit. */
  speechLatency(vendor: string, stage: 'first-audio' | 'final', latencyMs: number): void;
  /** A fallback serves the caller of a bot whose server is down. @param step of the bot's `whenDown` */
  failedOver(bot: string, step: string): void;
  /** Reads the bots whose servers are down, at each scrape. */
  watchBotsDown(read: () => readonly { readonly bot: string; readonly state: string }[]): void;
  /** `late`: frames that the neural voice detector could not judge in time. */
  neuralFrames(result: 'judged' | 'late', count: number): void;
  neuralCall(outcome: 'taken' | 'refused'): void;
  endOfTurn(outcome: 'answered' | 'busy'): void;
  jobFinished(job: string, outcome: 'done' | 'failed' | 'retried', durationMs: number): void;
  webhookRefused(carrier: string, reason: string): void;
  /** Requests came through a proxy that `http.trustedProxies` does not have. @param address a private one */
  untrustedProxy(address: string): void;
  streamRefused(carrier: string, reason: string): void;
  messageRejected(carrier: string): void;
  messageUnknown(carrier: string): void;
  /** Whether the latest call of a carrier got too few of its playout marks back. */
  marksMissing(carrier: string, isSo: boolean): void;
  /** The answer of admission to a call. */
  callAnswered(carrier: string, answer: 'accepted' | 'refused'): void;
  callRefused(carrier: string, cause: RefusalCause): void;
  /** An outbound call was asked of a carrier. */
  dialPlaced(carrier: string): void;
  /** The dial gate said no, by the refusal's name. */
  dialRefused(refusal: string): void;
  /** A tenant calls much more often today than it used to. */
  dialsJumped(): void;
  /** A dialled call was answered. @param afterMs since the carrier was asked */
  dialAnswered(carrier: string, afterMs: number): void;
  /** An attempt is over. @param outcome its disposition */
  dialEnded(carrier: string, outcome: string): void;
  /** Reads the attempts that this process is busy with, by carrier, at each scrape. */
  watchDials(read: () => ReadonlyMap<string, number>): void;
  /** Reads the slots of the speech platform at each scrape. */
  watchSpeechSlots(read: () => readonly SpeechSlots[]): void;
  /** Reads at each scrape whether the state that several machines share is away; a gateway of one machine has no such metric. */
  watchSharedState(read: () => { readonly isAway: boolean } | undefined): void;
  /** Reads the services that are not asked for some seconds because they failed again and again, at each scrape. */
  watchBreakers(read: () => readonly string[]): void;
  /** Reads the lag of the event loop, in ms, at each scrape. */
  watchLoopLag(read: () => { readonly lagMs: number; readonly shedding: boolean }): void;
  /** Reads the number of processes that accept calls, at each scrape; a single-process gateway has no such metric. */
  watchProcesses(read: () => { readonly up: number; readonly restarts: number }): void;
  /** All metrics as data, to send to another process. */
  snapshot(): Promise<MetricsSnapshot>;
  /** All metrics in Prometheus' text format. @param others snapshots of other processes, added to these */
  render(others?: readonly MetricsSnapshot[]): Promise<{ readonly contentType: string; readonly body: string }>;
}

export const metricsSnapshot = z.array(z.looseObject({ name: z.string(), type: z.string() }));
/** The metrics of one process. */
export type MetricsSnapshot = z.infer<typeof metricsSnapshot>;

/** Adds up the metrics of several processes. */
export async function addUp(snapshots: readonly MetricsSnapshot[]): Promise<MetricsSnapshot> {
  return metricsSnapshot.parse(await AggregatorRegistry.aggregate([...snapshots]).getMetricsAsJSON());
}

/** Keeps the counters and histograms of an exited process, so that no sum falls, and drops its gauges. */
export function countsOf(snapshot: MetricsSnapshot): MetricsSnapshot {
  return snapshot.filter(({ type }) => type === 'counter' || type === 'histogram');
}

/** Name of the metric of untrusted proxies. */
export const UNTRUSTED_PROXIES = 'offhook_untrusted_proxies';

const latencyBuckets = [0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5];
const ringBuckets = [1, 2, 5, 10, 15, 20, 30, 45, 60, 90];
const callBuckets = [1, 5, 15, 30, 60, 120, 300, 600, 1800, 3600];
const jobBuckets = [0.05, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 300];

/** Creates a separate registry each time, so that tests and two gateways in one process do not share metrics. */
export function createMetrics(options: { readonly processMetrics?: boolean } = {}): Metrics {
  const registry = new Registry();
  const registers = [registry];
  if (options.processMetrics === true) collectDefaultMetrics({ register: registry });
  const counter = <Label extends string>(name: string, help: string, labelNames: readonly Label[]) =>
    new Counter<Label>({ name: `offhook_${name}`, help, labelNames: [...labelNames], registers });
  const histogram = <Label extends string>(name: string, help: string, labelNames: readonly Label[], buckets: number[]) =>
    new Histogram<Label>({ name: `offhook_${name}`, help, labelNames: [...labelNames], buckets, registers });

  let readCalls: () => ReadonlyMap<string, number> = () => new Map();
  const active = new Gauge({
    name: 'offhook_calls_active',
    help: 'Live calls',
    labelNames: ['carrier'],
    registers,
    collect: () => {
      active.reset();
      for (const [carrier, count] of readCalls()) active.set({ carrier }, count);
    },
  });
  const answered = counter('calls_answered_total', 'Inbound calls, by the answer they got', ['carrier', 'answer']);
  const refused = counter('calls_refused_total', 'Refused calls, by cause', ['carrier', 'cause']);
  const dials = counter('dials_total', 'Outbound calls that a carrier was asked for', ['carrier']);
  const dialsRefused = counter('dials_refused_total', 'Outbound calls that the dial gate refused, by refusal', ['refusal']);
  const dialJumps = counter(
    'dial_jumps_total',
    'Days on which a tenant began to call much more often than on the days before',
    [],
  );
  const dialsEnded = counter('dials_ended_total', 'Outbound calls that are over, by outcome', ['carrier', 'outcome']);
  const dialsAnswered = histogram('dial_answer_seconds', 'Time from the dial to the answer', ['carrier'], ringBuckets);
  let readDials: () => ReadonlyMap<string, number> = () => new Map();
  const dialsActive = new Gauge({
    name: 'offhook_dials_active',
    help: 'Outbound calls that this process places or follows',
    labelNames: ['carrier'],
    registers,
    collect: () => {
      dialsActive.reset();
      for (const [carrier, count] of readDials()) dialsActive.set({ carrier }, count);
    },
  });
  const ended = counter('calls_total', 'Ended calls, by outcome', ['carrier', 'outcome']);
  const durations = histogram('call_duration_seconds', 'Call duration', ['carrier'], callBuckets);
  const resumed = histogram(
    'call_resume_gap_seconds',
    'Calls that went on after their process died, by the time without it',
    ['carrier'],
    latencyBuckets,
  );
  const latency = histogram('turn_latency_seconds', 'Turn latency, by stage', ['stage'], latencyBuckets);
  const interruptions = counter(
    'interruptions_total',
    'Interruptions of the bot by the caller: held (paused, then resumed) or cleared (the reply ended)',
    ['kind', 'cause'],
  );
  const earlyAnswers = counter(
    'early_answers_total',
    'Answers prepared before the end of the turn: hit (used) or miss (discarded)',
    ['outcome'],
  );
  const underruns = counter('underruns_total', 'Playout underruns within a reply', ['cause']);
  const speechErrors = counter('speech_errors_total', 'Speech platform failures during calls', ['service', 'code']);
  const speechSwitches = counter('speech_switches_total', 'Changes of who recognises or speaks in a call', [
    'service',
    'from',
    'to',
    'reason',
  ]);
  const speechLatency = histogram(
    'speech_vendor_latency_seconds',
    'Time to the first audio of a sentence, and from a commit to its final, by speech vendor',
    ['vendor', 'stage'],
    latencyBuckets,
  );
  let readSlots: () => readonly SpeechSlots[] = () => [];
  const leasedSlots = new Gauge({
    name: 'offhook_speech_slots_leased',
    help: 'Of slots that several machines share, those that this machine may use now',
    labelNames: ['vendor', 'service'],
    registers,
    collect: () => {
      leasedSlots.reset();
      for (const { vendor = 'platform', service, leased } of readSlots())
        if (leased !== undefined) leasedSlots.set({ vendor, service }, leased);
    },
  });
  const slots = new Gauge({
    name: 'offhook_speech_slots',
    help: 'Slots of the speech platform and of speech vendors in use or waited for',
    labelNames: ['vendor', 'service', 'priority', 'state'],
    registers,
    collect: () => {
      slots.reset();
      for (const { vendor = 'platform', service, priority, held, waiting } of readSlots()) {
        slots.set({ vendor, service, priority, state: 'held' }, held);
        slots.set({ vendor, service, priority, state: 'waiting' }, waiting);
      }
    },
  });
  let readBreakers: () => readonly string[] = () => [];
  const breakers = new Gauge({
    name: 'offhook_speech_breakers_open',
    help: 'Processes in which the circuit breaker of a service of the speech platform is open',
    labelNames: ['service'],
    registers,
    collect: () => {
      breakers.reset();
      for (const service of readBreakers()) breakers.set({ service }, 1);
    },
  });
  const failOvers = counter(
    'bot_fail_overs_total',
    "What was done for callers of bots whose servers were down, by step of the bot's whenDown",
    ['bot', 'step'],
  );
  let readBotsDown: () => readonly { readonly bot: string; readonly state: string }[] = () => [];
  const botsDown = new Gauge({
    name: 'offhook_bots_down',
    help: 'Processes for which the server of a bot is down, or can be reached again and has not answered a call since (trial)',
    labelNames: ['bot', 'state'],
    registers,
    collect: () => {
      botsDown.reset();
      for (const outage of readBotsDown()) botsDown.set({ ...outage }, 1);
    },
  });
  let readLag: (() => { readonly lagMs: number; readonly shedding: boolean }) | undefined;
  const lag = new Gauge({
    name: 'offhook_event_loop_lag_seconds',
    help: 'Event loop lag, 99th percentile',
    aggregator: 'max',
    registers,
    collect: () => {
      lag.set((readLag?.().lagMs ?? 0) / 1000);
    },
  });
  const shedding = new Gauge({
    name: 'offhook_calls_shedding',
    help: '1 while new calls are refused because the event loop is late',
    aggregator: 'max',
    registers,
    collect: () => {
      shedding.set(readLag?.().shedding === true ? 1 : 0);
    },
  });
  const neuralFrames = counter(
    'neural_frames_total',
    'Frames sent to the neural voice detector: judged, or late (not judged in time)',
    ['result'],
  );
  const neuralCalls = counter('neural_calls_total', 'Calls that requested the neural voice detector: taken or refused', [
    'outcome',
  ]);
  const endOfTurns = counter('end_of_turn_total', 'Pauses told to the end-of-turn model: answered, or busy', ['outcome']);
  const outboundAnswered = counter('outbound_answered_total', 'Answered outbound calls, by who or what answered', ['by']);
  const jobs = counter('jobs_total', 'Job attempts, by outcome', ['job', 'outcome']);
  const jobDurations = histogram('job_duration_seconds', 'Duration of job attempts', ['job'], jobBuckets);
  const webhooks = counter('webhooks_refused_total', 'Refused carrier webhooks', ['carrier', 'reason']);
  const proxies = new Gauge({
    name: UNTRUSTED_PROXIES,
    help: '1 for a proxy that http.trustedProxies does not have: all its visitors count as one address',
    labelNames: ['address'],
    registers,
  });
  const streams = counter('streams_refused_total', 'Refused media sockets', ['carrier', 'reason']);
  const rejected = counter('media_messages_rejected_total', 'Invalid media messages, dropped', ['carrier']);
  const marks = new Gauge({
    name: 'offhook_carrier_marks_missing',
    help: '1 while the latest call of a carrier got too few of its playout marks back, so that what was heard is estimated',
    labelNames: ['carrier'],
    aggregator: 'max',
    registers,
  });
  const unknown = counter('media_messages_unknown_total', 'Media messages of unknown kind, dropped', ['carrier']);

  return {
    watchCalls: (read) => {
      readCalls = read;
    },
    callEnded(carrier, outcome, durationMs) {
      ended.inc({ carrier, outcome });
      durations.observe({ carrier }, durationMs / 1000);
    },
    callResumed: (carrier, gapMs) => resumed.observe({ carrier }, gapMs / 1000),
    outboundAnswered: (by) => outboundAnswered.inc({ by }),
    turnLatency: (stage, latencyMs) => latency.observe({ stage }, latencyMs / 1000),
    interruption: (kind, cause) => interruptions.inc({ kind, cause }),
    earlyAnswer: (outcome) => earlyAnswers.inc({ outcome }),
    underruns: (cause, count) => underruns.inc({ cause }, count),
    speechSwitched: (service, from, to, reason) => speechSwitches.inc({ service, from, to, reason }),
    speechLatency: (vendor, stage, latencyMs) => speechLatency.observe({ vendor, stage }, latencyMs / 1000),
    speechError: (service, code) => speechErrors.inc({ service, code }),
    failedOver: (bot, step) => failOvers.inc({ bot, step }),
    neuralFrames: (result, count) => neuralFrames.inc({ result }, count),
    neuralCall: (outcome) => neuralCalls.inc({ outcome }),
    endOfTurn: (outcome) => endOfTurns.inc({ outcome }),
    jobFinished(job, outcome, durationMs) {
      jobs.inc({ job, outcome });
      jobDurations.observe({ job }, durationMs / 1000);
    },
    webhookRefused: (carrier, reason) => webhooks.inc({ carrier, reason }),
    untrustedProxy: (address) => proxies.set({ address }, 1),
    streamRefused: (carrier, reason) => streams.inc({ carrier, reason }),
    messageRejected: (carrier) => rejected.inc({ carrier }),
    messageUnknown: (carrier) => unknown.inc({ carrier }),
    marksMissing: (carrier, isSo) => marks.set({ carrier }, isSo ? 1 : 0),
    callAnswered: (carrier, answer) => answered.inc({ carrier, answer }),
    callRefused: (carrier, cause) => refused.inc({ carrier, cause }),
    dialPlaced: (carrier) => dials.inc({ carrier }),
    dialRefused: (refusal) => dialsRefused.inc({ refusal }),
    dialsJumped: () => dialJumps.inc(),
    dialAnswered: (carrier, afterMs) => dialsAnswered.observe({ carrier }, afterMs / 1000),
    dialEnded: (carrier, outcome) => dialsEnded.inc({ carrier, outcome }),
    watchDials: (read) => {
      readDials = read;
    },
    watchSpeechSlots: (read) => {
      readSlots = read;
    },
    watchSharedState: (read) => {
      if (read() === undefined) return;
      const away: Gauge = new Gauge({
        name: 'offhook_shared_state_away',
        help: '1 while Redis, in which machines share their state, does not answer: each goes on alone',
        registers,
        collect: () => away.set(read()?.isAway === true ? 1 : 0),
      });
    },
    watchBreakers: (read) => {
      readBreakers = read;
    },
    watchBotsDown: (read) => {
      readBotsDown = read;
    },
    watchLoopLag: (read) => {
      readLag = read;
    },
    watchProcesses: (read) => {
      const gauge = (name: string, help: string, value: () => number): void => {
        const each: Gauge = new Gauge({
          name: `offhook_${name}`,
          help,
          registers,
          collect(): void {
            each.set(value());
          },
        });
      };
      gauge('processes_up', 'Media processes that accept calls', () => read().up);
      gauge('process_restarts', 'Restarts of media processes', () => read().restarts);
    },
    snapshot: async () => metricsSnapshot.parse(await registry.getMetricsAsJSON()),
    render: async (others = []) => {
      const all = others.length === 0 ? registry : AggregatorRegistry.aggregate([await registry.getMetricsAsJSON(), ...others]);
      return { contentType: registry.contentType, body: await all.metrics() };
    },
  };
}

/** The text of `GET /metrics`. */
export function renderMetrics(metrics: Metrics): Promise<{ readonly contentType: string; readonly body: string }> {
  return metrics.render();
}
