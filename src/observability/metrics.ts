import { AggregatorRegistry, collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { z } from 'zod';

/** How a call ended, as the metric's label. */
export type CallOutcome = 'caller-hangup' | 'bot-hangup' | 'refused' | 'lost' | 'failed' | 'time-limit' | 'shutdown';

/** Stages of a turn's latency, from the caller's last voiced sample to the first frame of the reply. */
export type LatencyStage = 'endpointing' | 'asr-final' | 'dialog' | 'tts-first-byte' | 'first-frame' | 'total';

export type SpeechService = 'auth' | 'asr' | 'tts' | 'batch';

/** Why a call was not taken. `late`: there was no answer in time; `failed`: making one failed; `process`: none was there for it. */
export const REFUSAL_CAUSES = [
  'no-bot',
  'calls',
  'loop-lag',
  'speech-down',
  'speech-slots',
  'lease',
  'process',
  'stopping',
  'late',
  'failed',
] as const;
export type RefusalCause = (typeof REFUSAL_CAUSES)[number];

/** How many slots of a speech service are held or waited for, by who wants them. */
export interface SpeechSlots {
  readonly service: SpeechService;
  readonly priority: 'live' | 'batch';
  readonly held: number;
  readonly waiting: number;
}

/** The numbers kept for Prometheus. Label values come from fixed lists or from our own code, never from outside. */
export interface Metrics {
  setCallsActive(carrier: string, count: number): void;
  callEnded(carrier: string, outcome: CallOutcome, durationMs: number): void;
  turnLatency(stage: LatencyStage, latencyMs: number): void;
  /** `held` was resumed, `cleared` ended the reply. */
  interruption(kind: 'held' | 'cleared', cause: string): void;
  earlyAnswer(outcome: 'hit' | 'miss'): void;
  underruns(cause: string, count: number): void;
  speechError(service: SpeechService, code: string): void;
  /** `late` frames the neural voice detector had no time for. */
  neuralFrames(result: 'judged' | 'late', count: number): void;
  neuralCall(outcome: 'taken' | 'refused'): void;
  jobFinished(job: string, outcome: 'done' | 'failed' | 'retried', durationMs: number): void;
  webhookRefused(carrier: string, reason: string): void;
  streamRefused(carrier: string, reason: string): void;
  messageRejected(carrier: string): void;
  messageUnknown(carrier: string): void;
  /** Answers the admission gave: whether a call was taken. */
  callAnswered(carrier: string, answer: 'accepted' | 'refused'): void;
  callRefused(carrier: string, cause: RefusalCause): void;
  /** Reads the slots of the speech platform at each scrape. */
  watchSpeechSlots(read: () => readonly SpeechSlots[]): void;
  /** Reads the lag of the event loop, in ms, at each scrape. */
  watchLoopLag(read: () => { readonly lagMs: number; readonly shedding: boolean }): void;
  /** Reads how many processes take calls, at each scrape; a gateway of one process has no such number. */
  watchProcesses(read: () => { readonly up: number; readonly restarts: number }): void;
  /** All numbers as data, to be told to another process. */
  snapshot(): Promise<MetricsSnapshot>;
  /** Everything in Prometheus' text format. @param others of other processes, to be added to these */
  render(others?: readonly MetricsSnapshot[]): Promise<{ readonly contentType: string; readonly body: string }>;
}

export const metricsSnapshot = z.array(z.looseObject({ name: z.string(), type: z.string() }));
/** The numbers of one process. */
export type MetricsSnapshot = z.infer<typeof metricsSnapshot>;

/** The numbers of several processes as those of one. */
export async function addUp(snapshots: readonly MetricsSnapshot[]): Promise<MetricsSnapshot> {
  return metricsSnapshot.parse(await AggregatorRegistry.aggregate([...snapshots]).getMetricsAsJSON());
}

/** What is left of a process that is gone: what it counted, so that no sum falls, and nothing of how it stood. */
export function countsOf(snapshot: MetricsSnapshot): MetricsSnapshot {
  return snapshot.filter(({ type }) => type === 'counter' || type === 'histogram');
}

const latencyBuckets = [0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5];
const callBuckets = [1, 5, 15, 30, 60, 120, 300, 600, 1800, 3600];
const jobBuckets = [0.05, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 300];

/** A registry of its own for each call, so that tests and two gateways in one process do not share numbers. */
export function createMetrics(options: { readonly processMetrics?: boolean } = {}): Metrics {
  const registry = new Registry();
  const registers = [registry];
  if (options.processMetrics === true) collectDefaultMetrics({ register: registry });
  const counter = <Label extends string>(name: string, help: string, labelNames: readonly Label[]) =>
    new Counter<Label>({ name: `offhook_${name}`, help, labelNames: [...labelNames], registers });
  const histogram = <Label extends string>(name: string, help: string, labelNames: readonly Label[], buckets: number[]) =>
    new Histogram<Label>({ name: `offhook_${name}`, help, labelNames: [...labelNames], buckets, registers });

  const active = new Gauge({ name: 'offhook_calls_active', help: 'Live calls', labelNames: ['carrier'], registers });
  const answered = counter('calls_answered_total', 'Calls that asked to be taken', ['carrier', 'answer']);
  const refused = counter('calls_refused_total', 'Calls that were not taken, by what stood in the way', ['carrier', 'cause']);
  const ended = counter('calls_total', 'Calls that ended', ['carrier', 'outcome']);
  const durations = histogram('call_duration_seconds', 'Length of calls', ['carrier'], callBuckets);
  const latency = histogram('turn_latency_seconds', 'Latency of a turn by stage', ['stage'], latencyBuckets);
  const interruptions = counter('interruptions_total', 'Callers talking over the bot', ['kind', 'cause']);
  const earlyAnswers = counter('early_answers_total', 'Answers made before the caller had finished, by use', ['outcome']);
  const underruns = counter('underruns_total', 'Playout that ran dry in mid-reply', ['cause']);
  const speechErrors = counter('speech_errors_total', 'Failures of the speech platform', ['service', 'code']);
  let readSlots: () => readonly SpeechSlots[] = () => [];
  const slots = new Gauge({
    name: 'offhook_speech_slots',
    help: 'Slots of the speech platform that are held or waited for',
    labelNames: ['service', 'priority', 'state'],
    registers,
    collect: () => {
      for (const { service, priority, held, waiting } of readSlots()) {
        slots.set({ service, priority, state: 'held' }, held);
        slots.set({ service, priority, state: 'waiting' }, waiting);
      }
    },
  });
  let readLag: (() => { readonly lagMs: number; readonly shedding: boolean }) | undefined;
  const lag = new Gauge({
    name: 'offhook_event_loop_lag_seconds',
    help: 'How late the event loop runs what is due, 99th percentile',
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
  const neuralFrames = counter('neural_frames_total', 'Frames that the neural voice detector was asked about', ['result']);
  const neuralCalls = counter('neural_calls_total', 'Calls that asked for the neural voice detector', ['outcome']);
  const jobs = counter('jobs_total', 'Attempts at jobs', ['job', 'outcome']);
  const jobDurations = histogram('job_duration_seconds', 'Length of job attempts', ['job'], jobBuckets);
  const webhooks = counter('webhooks_refused_total', 'Carrier webhooks refused', ['carrier', 'reason']);
  const streams = counter('streams_refused_total', 'Media sockets refused', ['carrier', 'reason']);
  const rejected = counter('media_messages_rejected_total', 'Media messages that could not be used', ['carrier']);
  const unknown = counter('media_messages_unknown_total', 'Media messages of an unknown kind, dropped', ['carrier']);

  return {
    setCallsActive: (carrier, count) => active.set({ carrier }, count),
    callEnded(carrier, outcome, durationMs) {
      ended.inc({ carrier, outcome });
      durations.observe({ carrier }, durationMs / 1000);
    },
    turnLatency: (stage, latencyMs) => latency.observe({ stage }, latencyMs / 1000),
    interruption: (kind, cause) => interruptions.inc({ kind, cause }),
    earlyAnswer: (outcome) => earlyAnswers.inc({ outcome }),
    underruns: (cause, count) => underruns.inc({ cause }, count),
    speechError: (service, code) => speechErrors.inc({ service, code }),
    neuralFrames: (result, count) => neuralFrames.inc({ result }, count),
    neuralCall: (outcome) => neuralCalls.inc({ outcome }),
    jobFinished(job, outcome, durationMs) {
      jobs.inc({ job, outcome });
      jobDurations.observe({ job }, durationMs / 1000);
    },
    webhookRefused: (carrier, reason) => webhooks.inc({ carrier, reason }),
    streamRefused: (carrier, reason) => streams.inc({ carrier, reason }),
    messageRejected: (carrier) => rejected.inc({ carrier }),
    messageUnknown: (carrier) => unknown.inc({ carrier }),
    callAnswered: (carrier, answer) => answered.inc({ carrier, answer }),
    callRefused: (carrier, cause) => refused.inc({ carrier, cause }),
    watchSpeechSlots: (read) => {
      readSlots = read;
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
      gauge('processes_up', 'Media processes that take calls', () => read().up);
      gauge('process_restarts', 'Times that a media process was started again', () => read().restarts);
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
