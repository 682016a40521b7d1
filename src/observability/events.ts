import type { Clock } from '../kernel/clock.ts';
import type { Logger } from './logger.ts';
import type { CallOutcome, LatencyStage, Metrics, RefusalCause, SpeechService } from './metrics.ts';
import type { Traces, TurnStage } from './traces.ts';
import { throttleLines } from './log-throttle.ts';

/** Milliseconds by stage; a stage that did not happen is left out. */
export type TurnLatency = Readonly<Partial<Record<LatencyStage, number>>>;

/** One function a business event; each writes its log line, its metrics and its spans, and nothing else does. */
export interface BusinessEvents {
  callAnswered(event: { carrier: string; callId: string; carrierCallId: string; bot?: string; from: string; to: string }): void;
  callRefused(event: {
    carrier: string;
    carrierCallId: string;
    cause: RefusalCause;
    reason: string;
    from: string;
    to: string;
  }): void;
  /** The dial gate refused an outbound call. */
  dialRefused(event: { callId: string; carrier: string; campaignId?: string; refusal: string }): void;
  /** A tenant calls much more often today than usual. @param event.usual calls on an average day of the week before */
  dialsJumped(event: { tenantId: string; calls: number; usual: number }): void;
  dialPlaced(event: { callId: string; carrier: string; campaignId?: string; from: string; to: string }): void;
  dialRinging(event: { callId: string; carrier: string; campaignId?: string }): void;
  /** @param event.afterMs since the carrier was asked */
  dialAnswered(event: { callId: string; carrier: string; campaignId?: string; afterMs: number }): void;
  dialEnded(event: { callId: string; carrier: string; campaignId?: string; outcome: string; cause?: string }): void;
  callStarted(event: { carrier: string; callId: string }): void;
  /** A crashed process's call continues in this one. @param event.gapMs how long the caller was without it */
  callResumed(event: { carrier: string; callId: string; turn: number; gapMs: number }): void;
  callEnded(event: {
    carrier: string;
    callId: string;
    bot: string;
    outcome: CallOutcome;
    reason: string;
    durationMs: number;
    turns: number;
  }): void;
  /** An outbound call is over, with the kind of party that answered. */
  outboundAnswered(event: { by: string }): void;
  /** @param event `inbound` and `outbound` are wire formats: encoding and rate */
  attached(event: {
    carrier: string;
    callId: string;
    attachmentId: string;
    streamId: string;
    inbound: string;
    outbound: string;
  }): void;
  detached(event: { carrier: string; callId: string; attachmentId: string; code: number; reason: string }): void;
  /** @param event `stages` is only set for traces */
  turnCompleted(event: {
    callId: string;
    index: number;
    inputKind: string;
    latencyMs: TurnLatency;
    text?: string;
    stages?: () => readonly TurnStage[];
  }): void;
  /** `held`: the bot paused for a sound and went on; `cleared`: its reply ended. */
  interrupted(event: { callId: string; turn: number; kind: 'held' | 'cleared'; cause: string }): void;
  earlyAnswer(event: { callId: string; turn: number; hit: boolean }): void;
  /** Gaps in the replies of one call, reported once with their count: an overloaded machine makes thousands. */
  underruns(event: { callId: string; cause: string; count: number }): void;
  /** The carrier of a call returns too few marks. */
  marksMissing(event: { carrier: string; callId: string }): void;
  /** All marks of an ended call returned. */
  marksReturned(event: { carrier: string }): void;
  /** The recogniser or synthesizer of a call was switched. */
  speechSwitched(event: {
    callId: string;
    service: 'recognition' | 'synthesis';
    by: string;
    before: string;
    reason: string;
  }): void;
  /** A sentence that was not cached began to sound. */
  firstAudio(event: { vendor: string; afterMs: number }): void;
  finalAfterCommit(event: { vendor: string; afterMs: number }): void;
  speechFailed(event: { callId: string; service: SpeechService; code: string; error: unknown }): void;
  /** A call asked for the neural voice detector, and got it or not. */
  neuralDetectorRequested(event: { taken: boolean }): void;
  /** Frames of one call sent to the neural voice detector, reported once with their counts. */
  neuralFramesJudged(event: { judged: number; late: number }): void;
  /** The end-of-turn model was asked about a pause, and answered or was not free. */
  endOfTurnAsked(event: { answered: boolean }): void;
  dialogFailed(event: { callId: string; turn: number; error: unknown }): void;
  /** A fallback serves the caller of a bot whose server is down; `to`: another bot. */
  failedOver(event: { callId: string; turn: number; bot: string; step: string; to?: string }): void;
  /** The bot's answer to a turn was empty. */
  dialogEmpty(event: { callId: string; turn: number }): void;
  webhookRefused(event: { carrier: string; reason: string; status: number; address: string }): void;
  streamRefused(event: { carrier: string; reason: string; status: number; callId?: string; address: string }): void;
  messageRejected(event: { carrier: string; callId?: string; problem: string; count: number }): void;
  messageUnknown(event: { carrier: string; callId?: string; name: string }): void;
  jobDone(event: { job: string; jobId: string; callId?: string; durationMs: number }): void;
  jobFailed(event: { job: string; jobId: string; callId?: string; durationMs: number; final: boolean; error: unknown }): void;
}

/**
 * @param clock times the log throttle for events that outsiders can cause without limit
 * @param traces gets the spans of calls and jobs; no spans when absent
 */
export function createEvents(
  logger: Logger,
  metrics: Metrics,
  clock: Pick<Clock, 'nowMs'>,
  traces?: Pick<Traces, 'turn' | 'call' | 'job'>,
): BusinessEvents {
  const throttle = throttleLines(clock);
  return {
    callAnswered({ from, to, ...event }) {
      metrics.callAnswered(event.carrier, 'accepted');
      logger.info({ ...event, pii: { from, to } }, 'call answered');
    },
    callRefused({ from, to, ...event }) {
      metrics.callAnswered(event.carrier, 'refused');
      metrics.callRefused(event.carrier, event.cause);
      logger.warn({ ...event, pii: { from, to } }, 'call refused');
    },
    dialRefused(event) {
      metrics.dialRefused(event.refusal);
      logger.info(event, 'outbound call refused by the dial gate');
    },
    dialsJumped(event) {
      metrics.dialsJumped();
      logger.warn(event, 'many more outbound calls today than on the days before');
    },
    dialPlaced({ from, to, ...event }) {
      metrics.dialPlaced(event.carrier);
      logger.info({ ...event, pii: { from, to } }, 'outbound call placed');
    },
    dialRinging: (event) => logger.info(event, 'outbound call ringing'),
    dialAnswered(event) {
      metrics.dialAnswered(event.carrier, event.afterMs);
      logger.info(event, 'outbound call answered');
    },
    dialEnded(event) {
      metrics.dialEnded(event.carrier, event.outcome);
      logger[event.outcome === 'unknown' ? 'warn' : 'info'](event, 'outbound call over');
    },
    callStarted: (event) => logger.info(event, 'call started'),
    callResumed(event) {
      metrics.callResumed(event.carrier, event.gapMs);
      logger.warn(event, 'call resumed: its process died');
    },
    callEnded(event) {
      metrics.callEnded(event.carrier, event.outcome, event.durationMs);
      traces?.call(event);
      logger.info(event, 'call ended');
    },
    outboundAnswered: ({ by }) => metrics.outboundAnswered(by),
    attached: (event) => logger.info(event, 'media attached'),
    detached: (event) => logger.info(event, 'media detached'),
    turnCompleted({ text, stages: stagesOf, ...event }) {
      for (const [stage, latencyMs] of latencyEntries(event.latencyMs)) metrics.turnLatency(stage, latencyMs);
      logger.info({ ...event, pii: { text } }, 'turn completed');
      traces?.turn({ ...event, stages: stagesOf?.() ?? [] });
    },
    interrupted(event) {
      metrics.interruption(event.kind, event.cause);
      if (event.kind === 'cleared') logger.info(event, 'bot interrupted');
      else logger.debug(event, 'bot paused and resumed');
    },
    earlyAnswer({ hit, ...event }) {
      metrics.earlyAnswer(hit ? 'hit' : 'miss');
      logger.debug({ ...event, hit }, 'dialog requested early');
    },
    underruns(event) {
      metrics.underruns(event.cause, event.count);
      logger.warn(event, 'playout underrun');
    },
    marksMissing(event) {
      metrics.marksMissing(event.carrier, true);
      logger.warn(event, 'carrier returns too few playout marks: what was heard is estimated');
    },
    marksReturned: ({ carrier }) => metrics.marksMissing(carrier, false),
    speechSwitched(event) {
      metrics.speechSwitched(event.service, event.before, event.by, event.reason);
      if (event.reason === 'language') logger.info(event, 'speech vendor of another language');
      else logger.warn(event, 'speech vendor switched');
    },
    firstAudio: ({ vendor, afterMs }) => metrics.speechLatency(vendor, 'first-audio', afterMs),
    finalAfterCommit: ({ vendor, afterMs }) => metrics.speechLatency(vendor, 'final', afterMs),
    speechFailed(event) {
      metrics.speechError(event.service, event.code);
      logger.warn(event, 'speech platform failed');
    },
    neuralDetectorRequested: ({ taken }) => metrics.neuralCall(taken ? 'taken' : 'refused'),
    neuralFramesJudged({ judged, late }) {
      metrics.neuralFrames('judged', judged);
      metrics.neuralFrames('late', late);
    },
    endOfTurnAsked: ({ answered }) => metrics.endOfTurn(answered ? 'answered' : 'busy'),
    dialogFailed: (event) => logger.warn(event, 'dialog failed'),
    failedOver(event) {
      metrics.failedOver(event.bot, event.step);
      logger.warn(event, 'fallback for a bot whose server is down');
    },
    dialogEmpty: (event) => logger.warn(event, 'empty bot answer: the caller hears silence'),
    webhookRefused(event) {
      metrics.webhookRefused(event.carrier, event.reason);
      // Normal for a carrier that sends credentials only after a challenge.
      if (event.reason === 'challenged') return;
      const line = throttle(`webhook ${event.carrier} ${event.reason}`);
      if (line !== undefined) logger.warn({ ...event, ...line }, 'webhook refused');
    },
    streamRefused(event) {
      metrics.streamRefused(event.carrier, event.reason);
      const line = throttle(`stream ${event.carrier} ${event.reason}`);
      if (line !== undefined) logger.warn({ ...event, ...line }, 'media socket refused');
    },
    messageRejected(event) {
      metrics.messageRejected(event.carrier);
      // One bad frame usually has thousands of siblings: the first ten, then every thousandth.
      if (event.count <= 10 || event.count % 1000 === 0) logger.warn(event, 'media message rejected');
    },
    messageUnknown(event) {
      metrics.messageUnknown(event.carrier);
      logger.debug(event, 'media message of an unknown kind');
    },
    jobDone(event) {
      metrics.jobFinished(event.job, 'done', event.durationMs);
      traces?.job({ ...event, outcome: 'done' });
      logger.info(event, 'job done');
    },
    jobFailed(event) {
      const outcome = event.final ? 'failed' : 'retried';
      metrics.jobFinished(event.job, outcome, event.durationMs);
      traces?.job({ ...event, outcome });
      logger[event.final ? 'error' : 'warn'](event, event.final ? 'job failed' : 'job will be retried');
    },
  };
}

const stages: readonly LatencyStage[] = ['endpointing', 'asr-final', 'dialog', 'tts-first-byte', 'first-frame', 'total'];

function latencyEntries(latency: TurnLatency): [LatencyStage, number][] {
  return stages.flatMap((stage) => {
    const value = latency[stage];
    return value === undefined ? [] : [[stage, value] satisfies [LatencyStage, number]];
  });
}
