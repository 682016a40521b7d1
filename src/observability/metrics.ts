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
  'spend',
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

/** The Prometheus metrics. Label values come from fixed lists or our own code, never from outside. */
export type Metrics = ReturnType<typeof createMetrics>;

/** Creates a separate registry each time, so that tests and two gateways in one process do not share metrics. */
export function createMetrics(options: { readonly processMetrics?: boolean } = {}) {
  const registry = new Registry();
  if (options.processMetrics === true) collectDefaultMetrics({ register: registry });
  const make = makersIn(registry);
  return {
    ...callMetrics(make),
    ...turnMetrics(make),
    ...dialMetrics(make),
    ...speechMetrics(make),
    ...botMetrics(make),
    ...carrierMetrics(make),
    ...processMetrics(make),
    /** All metrics as data, to send to another process. */
    snapshot: async (): Promise<MetricsSnapshot> => metricsSnapshot.parse(await registry.getMetricsAsJSON()),
    /** All metrics in Prometheus' text format. @param others snapshots of other processes, added to these */
    render: async (others: readonly MetricsSnapshot[] = []): Promise<{ readonly contentType: string; readonly body: string }> => {
      const all = others.length === 0 ? registry : AggregatorRegistry.aggregate([await registry.getMetricsAsJSON(), ...others]);
      return { contentType: registry.contentType, body: await all.metrics() };
    },
  };
}

type Labels<Label extends string> = Partial<Record<Label, string>>;
type SetGauge<Label extends string> = (labels: Labels<Label>, value: number) => void;

type Makers = ReturnType<typeof makersIn>;

function makersIn(registry: Registry) {
  const registers = [registry];
  /** @param aggregator how the gauges of several processes are combined */
  const gauge = <Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[],
    aggregator: 'sum' | 'max' = 'sum',
    collect: () => void = () => undefined,
  ) => new Gauge<Label>({ name: `offhook_${name}`, help, labelNames: [...labelNames], aggregator, registers, collect });
  return {
    counter: <Label extends string>(name: string, help: string, labelNames: readonly Label[]) =>
      new Counter<Label>({ name: `offhook_${name}`, help, labelNames: [...labelNames], registers }),
    histogram: <Label extends string>(name: string, help: string, labelNames: readonly Label[], buckets: number[]) =>
      new Histogram<Label>({ name: `offhook_${name}`, help, labelNames: [...labelNames], buckets, registers }),
    gauge,
    /** A gauge that is read at each scrape. @returns sets what it is read from; it is empty before */
    watched: <Source, Label extends string = never>(
      name: string,
      help: string,
      labelNames: readonly Label[],
      tell: (source: Source, set: SetGauge<Label>) => void,
      aggregator?: 'max',
    ): ((read: () => Source) => void) => {
      let readSource: (() => Source) | undefined;
      const made: Gauge<Label> = gauge(name, help, labelNames, aggregator, () => {
        made.reset();
        if (readSource !== undefined) tell(readSource(), (labels, value) => made.set(labels, value));
      });
      return (read) => {
        readSource = read;
      };
    },
  };
}

function countsByCarrier(counts: ReadonlyMap<string, number>, set: SetGauge<'carrier'>): void {
  for (const [carrier, count] of counts) set({ carrier }, count);
}

function callMetrics({ counter, histogram, watched }: Makers) {
  const answered = counter('calls_answered_total', 'Inbound calls, by the answer they got', ['carrier', 'answer']);
  const refused = counter('calls_refused_total', 'Refused calls, by cause', ['carrier', 'cause']);
  const ended = counter('calls_total', 'Ended calls, by outcome', ['carrier', 'outcome']);
  const durations = histogram('call_duration_seconds', 'Call duration', ['carrier'], callBuckets);
  const resumed = histogram(
    'call_resume_gap_seconds',
    'Calls that went on after their process died, by the time without it',
    ['carrier'],
    latencyBuckets,
  );
  return {
    /** Reads the live calls of this process, by carrier. */
    watchCalls: watched('calls_active', 'Live calls', ['carrier'], countsByCarrier),
    callAnswered: (carrier: string, answer: 'accepted' | 'refused'): void => answered.inc({ carrier, answer }),
    callRefused: (carrier: string, cause: RefusalCause): void => refused.inc({ carrier, cause }),
    /** A crashed process's call continues in this one. @param gapMs how long the caller was without it */
    callResumed: (carrier: string, gapMs: number): void => resumed.observe({ carrier }, gapMs / 1000),
    callEnded(carrier: string, outcome: CallOutcome, durationMs: number): void {
      ended.inc({ carrier, outcome });
      durations.observe({ carrier }, durationMs / 1000);
    },
  };
}

function turnMetrics({ counter, histogram }: Makers) {
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
  return {
    turnLatency: (stage: LatencyStage, latencyMs: number): void => latency.observe({ stage }, latencyMs / 1000),
    /** `held`: the bot paused for a sound and went on; `cleared`: its reply ended. */
    interruption: (kind: 'held' | 'cleared', cause: string): void => interruptions.inc({ kind, cause }),
    earlyAnswer: (outcome: 'hit' | 'miss'): void => earlyAnswers.inc({ outcome }),
    underruns: (cause: string, count: number): void => underruns.inc({ cause }, count),
  };
}

function dialMetrics({ counter, histogram, watched }: Makers) {
  const placed = counter('dials_total', 'Outbound calls that a carrier was asked for', ['carrier']);
  const refused = counter('dials_refused_total', 'Outbound calls that the dial gate refused, by refusal', ['refusal']);
  const jumps = counter('dial_jumps_total', 'Days on which a tenant began to call much more often than on the days before', []);
  const ended = counter('dials_ended_total', 'Outbound calls that are over, by outcome', ['carrier', 'outcome']);
  const answered = histogram('dial_answer_seconds', 'Time from the dial to the answer', ['carrier'], ringBuckets);
  const answeredBy = counter('outbound_answered_total', 'Answered outbound calls, by who or what answered', ['by']);
  const activeHelp = 'Outbound calls that this process places or follows';
  return {
    /** Reads the attempts that this process is busy with, by carrier. */
    watchDials: watched('dials_active', activeHelp, ['carrier'], countsByCarrier),
    /** An outbound call was asked of a carrier. */
    dialPlaced: (carrier: string): void => placed.inc({ carrier }),
    /** The dial gate said no, by the refusal's name. */
    dialRefused: (refusal: string): void => refused.inc({ refusal }),
    /** A tenant calls much more often today than it used to. */
    dialsJumped: (): void => jumps.inc(),
    /** @param afterMs since the carrier was asked */
    dialAnswered: (carrier: string, afterMs: number): void => answered.observe({ carrier }, afterMs / 1000),
    /** An attempt is over. @param outcome its disposition */
    dialEnded: (carrier: string, outcome: string): void => ended.inc({ carrier, outcome }),
    /** @param by kind of party that answered an outbound call */
    outboundAnswered: (by: string): void => answeredBy.inc({ by }),
  };
}

function speechMetrics({ counter, histogram, watched }: Makers) {
  const errors = counter('speech_errors_total', 'Speech platform failures during calls', ['service', 'code']);
  const switchLabels = ['service', 'from', 'to', 'reason'] as const;
  const switches = counter('speech_switches_total', 'Changes of who recognises or speaks in a call', switchLabels);
  const latency = histogram(
    'speech_vendor_latency_seconds',
    'Time to the first audio of a sentence, and from a commit to its final, by speech vendor',
    ['vendor', 'stage'],
    latencyBuckets,
  );
  const frames = counter(
    'neural_frames_total',
    'Frames sent to the neural voice detector: judged, or late (not judged in time)',
    ['result'],
  );
  const calls = counter('neural_calls_total', 'Calls that requested the neural voice detector: taken or refused', ['outcome']);
  const pauses = counter('end_of_turn_total', 'Pauses told to the end-of-turn model: answered, or busy', ['outcome']);
  const watchLeased = watched(
    'speech_slots_leased',
    'Of slots that several machines share, those that this machine may use now',
    ['vendor', 'service'],
    (slots: readonly SpeechSlots[], set) => {
      for (const { vendor = 'platform', service, leased } of slots) if (leased !== undefined) set({ vendor, service }, leased);
    },
  );
  const watchUsed = watched(
    'speech_slots',
    'Slots of the speech platform and of speech vendors in use or waited for',
    ['vendor', 'service', 'priority', 'state'],
    (slots: readonly SpeechSlots[], set) => {
      for (const { vendor = 'platform', service, priority, held, waiting } of slots) {
        set({ vendor, service, priority, state: 'held' }, held);
        set({ vendor, service, priority, state: 'waiting' }, waiting);
      }
    },
  );
  return {
    /** Reads the slots of the speech platform and of vendors. */
    watchSpeechSlots(read: () => readonly SpeechSlots[]): void {
      watchLeased(read);
      watchUsed(read);
    },
    /** Reads the services that are not asked for some seconds because they failed again and again. */
    watchBreakers: watched(
      'speech_breakers_open',
      'Processes in which the circuit breaker of a service of the speech platform is open',
      ['service'],
      (open: readonly string[], set) => {
        for (const service of open) set({ service }, 1);
      },
    ),
    /** The recogniser or synthesizer of a call was switched. */
    speechSwitched: (service: 'recognition' | 'synthesis', from: string, to: string, reason: string): void =>
      switches.inc({ service, from, to, reason }),
    /** `first-audio`: of a requested sentence; `final`: after a commit. */
    speechLatency: (vendor: string, stage: 'first-audio' | 'final', latencyMs: number): void =>
      latency.observe({ vendor, stage }, latencyMs / 1000),
    speechError: (service: SpeechService, code: string): void => errors.inc({ service, code }),
    /** `late`: frames that the neural voice detector could not judge in time. */
    neuralFrames: (result: 'judged' | 'late', count: number): void => frames.inc({ result }, count),
    neuralCall: (outcome: 'taken' | 'refused'): void => calls.inc({ outcome }),
    endOfTurn: (outcome: 'answered' | 'busy'): void => pauses.inc({ outcome }),
  };
}

function botMetrics({ counter, watched }: Makers) {
  const failOvers = counter(
    'bot_fail_overs_total',
    "What was done for callers of bots whose servers were down, by step of the bot's whenDown",
    ['bot', 'step'],
  );
  return {
    /** A fallback serves the caller of a bot whose server is down. @param step of the bot's `whenDown` */
    failedOver: (bot: string, step: string): void => failOvers.inc({ bot, step }),
    /** Reads the bots whose servers are down. */
    watchBotsDown: watched(
      'bots_down',
      'Processes for which the server of a bot is down, or can be reached again and has not answered a call since (trial)',
      ['bot', 'state'],
      (outages: readonly { readonly bot: string; readonly state: string }[], set) => {
        for (const outage of outages) set({ ...outage }, 1);
      },
    ),
  };
}

function carrierMetrics({ counter, gauge }: Makers) {
  const webhooks = counter('webhooks_refused_total', 'Refused carrier webhooks', ['carrier', 'reason']);
  const proxies = gauge(
    'untrusted_proxies',
    '1 for a proxy that http.trustedProxies does not have: all its visitors count as one address',
    ['address'],
  );
  const streams = counter('streams_refused_total', 'Refused media sockets', ['carrier', 'reason']);
  const rejected = counter('media_messages_rejected_total', 'Invalid media messages, dropped', ['carrier']);
  const unknown = counter('media_messages_unknown_total', 'Media messages of unknown kind, dropped', ['carrier']);
  const marks = gauge(
    'carrier_marks_missing',
    '1 while the latest call of a carrier got too few of its playout marks back, so that what was heard is estimated',
    ['carrier'],
    'max',
  );
  return {
    webhookRefused: (carrier: string, reason: string): void => webhooks.inc({ carrier, reason }),
    /** Requests came through a proxy that `http.trustedProxies` does not have. @param address a private one */
    untrustedProxy: (address: string): void => proxies.set({ address }, 1),
    streamRefused: (carrier: string, reason: string): void => streams.inc({ carrier, reason }),
    messageRejected: (carrier: string): void => rejected.inc({ carrier }),
    messageUnknown: (carrier: string): void => unknown.inc({ carrier }),
    /** Whether the latest call of a carrier got too few of its playout marks back. */
    marksMissing: (carrier: string, isSo: boolean): void => marks.set({ carrier }, isSo ? 1 : 0),
  };
}

/** How late the event loop is, and whether calls are refused for it. */
interface Load {
  readonly lagMs: number;
  readonly shedding: boolean;
}

function processMetrics({ counter, histogram, watched }: Makers) {
  const jobs = counter('jobs_total', 'Job attempts, by outcome', ['job', 'outcome']);
  const jobDurations = histogram('job_duration_seconds', 'Duration of job attempts', ['job'], jobBuckets);
  const watchLag = watched(
    'event_loop_lag_seconds',
    'Event loop lag, 99th percentile',
    [],
    ({ lagMs }: Load, set) => set({}, lagMs / 1000),
    'max',
  );
  const watchShedding = watched(
    'calls_shedding',
    '1 while new calls are refused because the event loop is late',
    [],
    ({ shedding }: Load, set) => set({}, shedding ? 1 : 0),
    'max',
  );
  const watchNumber = (name: string, help: string, read: () => number): void =>
    watched(name, help, [], (value: number, set) => set({}, value))(read);
  return {
    jobFinished(job: string, outcome: 'done' | 'failed' | 'retried', durationMs: number): void {
      jobs.inc({ job, outcome });
      jobDurations.observe({ job }, durationMs / 1000);
    },
    /** Reads the lag of the event loop, in ms. */
    watchLoopLag(read: () => Load): void {
      watchLag(read);
      watchShedding(read);
    },
    /** Reads whether the state that several machines share is away; a gateway of one machine has no such metric. */
    watchSharedState(read: () => { readonly isAway: boolean } | undefined): void {
      const help = '1 while Redis, in which machines share their state, does not answer: each goes on alone';
      if (read() !== undefined) watchNumber('shared_state_away', help, () => (read()?.isAway === true ? 1 : 0));
    },
    /** Reads the processes that accept calls; a single-process gateway has no such metric. */
    watchProcesses(read: () => { readonly up: number; readonly restarts: number }): void {
      watchNumber('processes_up', 'Media processes that accept calls', () => read().up);
      watchNumber('process_restarts', 'Restarts of media processes', () => read().restarts);
    },
  };
}
