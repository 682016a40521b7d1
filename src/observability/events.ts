import type { Clock } from '../kernel/clock.ts';
import type { Logger } from './logger.ts';
import type { CallOutcome, LatencyStage, Metrics, RefusalCause, SpeechService } from './metrics.ts';
import type { Traces, TurnStage } from './traces.ts';
import { throttleLines } from './log-throttle.ts';

/** Milliseconds by stage; a stage that did not happen is left out. */
export type TurnLatency = Readonly<Partial<Record<LatencyStage, number>>>;

interface EventParts {
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Gets the spans of calls and jobs; no spans when absent. */
  readonly traces: Pick<Traces, 'turn' | 'call' | 'job'> | undefined;
  /** Limits the lines of events that outsiders can cause without limit. */
  readonly throttle: ReturnType<typeof throttleLines>;
}

// Types, since an interface is not assignable to the logger's record of fields.
type OfCall = {
  carrier: string;
  callId: string;
};

type OfTurn = {
  callId: string;
  turn: number;
};

type OfDial = OfCall & {
  campaignId?: string;
};

type OfJob = {
  job: string;
  jobId: string;
  callId?: string;
  durationMs: number;
};

/** The numbers of a call. */
type Parties = {
  from: string;
  to: string;
};

type RefusedCall = {
  carrier: string;
  carrierCallId: string;
  cause: RefusalCause;
  reason: string;
};

type EndedCall = OfCall & {
  bot: string;
  outcome: CallOutcome;
  reason: string;
  durationMs: number;
  turns: number;
};

type CompletedTurn = {
  callId: string;
  index: number;
  inputKind: string;
  latencyMs: TurnLatency;
  text?: string;
  /** Only set for traces. */
  stages?: () => readonly TurnStage[];
};

type SwitchedSpeech = {
  callId: string;
  service: 'recognition' | 'synthesis';
  by: string;
  before: string;
  reason: string;
};

/** One function a business event; each writes its log line, its metrics and its spans, and nothing else does. */
export type BusinessEvents = ReturnType<typeof createEvents>;

/**
 * @param clock times the log throttle for events that outsiders can cause without limit
 * @param traces gets the spans of calls and jobs; no spans when absent
 */
export function createEvents(logger: Logger, metrics: Metrics, clock: Pick<Clock, 'nowMs'>, traces?: EventParts['traces']) {
  const parts: EventParts = { logger, metrics, traces, throttle: throttleLines(clock) };
  return {
    ...callEvents(parts),
    ...dialEvents(parts),
    ...turnEvents(parts),
    ...speechEvents(parts),
    ...wireEvents(parts),
    ...jobEvents(parts),
  };
}

function callEvents({ logger, metrics, traces }: EventParts) {
  return {
    callAnswered({ from, to, ...event }: OfCall & Parties & { carrierCallId: string; bot?: string }): void {
      metrics.callAnswered(event.carrier, 'accepted');
      logger.info({ ...event, pii: { from, to } }, 'call answered');
    },
    callRefused({ from, to, ...event }: RefusedCall & Parties): void {
      metrics.callAnswered(event.carrier, 'refused');
      metrics.callRefused(event.carrier, event.cause);
      logger.warn({ ...event, pii: { from, to } }, 'call refused');
    },
    callStarted: (event: OfCall): void => logger.info(event, 'call started'),
    /** A crashed process's call continues in this one. @param event.gapMs how long the caller was without it */
    callResumed(event: OfCall & { turn: number; gapMs: number }): void {
      metrics.callResumed(event.carrier, event.gapMs);
      logger.warn(event, 'call resumed: its process died');
    },
    callEnded(event: EndedCall): void {
      metrics.callEnded(event.carrier, event.outcome, event.durationMs);
      traces?.call(event);
      logger.info(event, 'call ended');
    },
    /** @param event `inbound` and `outbound` are wire formats: encoding and rate */
    attached: (event: OfCall & { attachmentId: string; streamId: string; inbound: string; outbound: string }): void =>
      logger.info(event, 'media attached'),
    detached: (event: OfCall & { attachmentId: string; code: number; reason: string }): void =>
      logger.info(event, 'media detached'),
    /** The carrier of a call returns too few marks. */
    marksMissing(event: OfCall): void {
      metrics.marksMissing(event.carrier, true);
      logger.warn(event, 'carrier returns too few playout marks: what was heard is estimated');
    },
    /** All marks of an ended call returned. */
    marksReturned: ({ carrier }: { carrier: string }): void => metrics.marksMissing(carrier, false),
  };
}

function dialEvents({ logger, metrics }: EventParts) {
  return {
    /** The dial gate refused an outbound call. */
    dialRefused(event: OfDial & { refusal: string }): void {
      metrics.dialRefused(event.refusal);
      logger.info(event, 'outbound call refused by the dial gate');
    },
    /** A tenant calls much more often today than usual. @param event.usual calls on an average day of the week before */
    dialsJumped(event: { tenantId: string; calls: number; usual: number }): void {
      metrics.dialsJumped();
      logger.warn(event, 'many more outbound calls today than on the days before');
    },
    dialPlaced({ from, to, ...event }: OfDial & Parties): void {
      metrics.dialPlaced(event.carrier);
      logger.info({ ...event, pii: { from, to } }, 'outbound call placed');
    },
    dialRinging: (event: OfDial): void => logger.info(event, 'outbound call ringing'),
    /** @param event.afterMs since the carrier was asked */
    dialAnswered(event: OfDial & { afterMs: number }): void {
      metrics.dialAnswered(event.carrier, event.afterMs);
      logger.info(event, 'outbound call answered');
    },
    dialEnded(event: OfDial & { outcome: string; cause?: string }): void {
      metrics.dialEnded(event.carrier, event.outcome);
      logger[event.outcome === 'unknown' ? 'warn' : 'info'](event, 'outbound call over');
    },
    /** An outbound call is over, with the kind of party that answered. */
    outboundAnswered: ({ by }: { by: string }): void => metrics.outboundAnswered(by),
  };
}

function turnEvents({ logger, metrics, traces }: EventParts) {
  return {
    /** @param event `stages` is only set for traces */
    turnCompleted({ text, stages: stagesOf, ...event }: CompletedTurn): void {
      for (const [stage, latencyMs] of latencyEntries(event.latencyMs)) metrics.turnLatency(stage, latencyMs);
      logger.info({ ...event, pii: { text } }, 'turn completed');
      traces?.turn({ ...event, stages: stagesOf?.() ?? [] });
    },
    /** `held`: the bot paused for a sound and went on; `cleared`: its reply ended. */
    interrupted(event: OfTurn & { kind: 'held' | 'cleared'; cause: string }): void {
      metrics.interruption(event.kind, event.cause);
      if (event.kind === 'cleared') logger.info(event, 'bot interrupted');
      else logger.debug(event, 'bot paused and resumed');
    },
    earlyAnswer({ hit, ...event }: OfTurn & { hit: boolean }): void {
      metrics.earlyAnswer(hit ? 'hit' : 'miss');
      logger.debug({ ...event, hit }, 'dialog requested early');
    },
    /** Gaps in the replies of one call, reported once with their count: an overloaded machine makes thousands. */
    underruns(event: { callId: string; cause: string; count: number }): void {
      metrics.underruns(event.cause, event.count);
      logger.warn(event, 'playout underrun');
    },
    dialogFailed: (event: OfTurn & { error: unknown }): void => logger.warn(event, 'dialog failed'),
    /** A fallback serves the caller of a bot whose server is down; `to`: another bot. */
    failedOver(event: OfTurn & { bot: string; step: string; to?: string }): void {
      metrics.failedOver(event.bot, event.step);
      logger.warn(event, 'fallback for a bot whose server is down');
    },
    /** The bot's answer to a turn was empty. */
    dialogEmpty: (event: OfTurn): void => logger.warn(event, 'empty bot answer: the caller hears silence'),
  };
}

function speechEvents({ logger, metrics }: EventParts) {
  return {
    /** The recogniser or synthesizer of a call was switched. */
    speechSwitched(event: SwitchedSpeech): void {
      metrics.speechSwitched(event.service, event.before, event.by, event.reason);
      if (event.reason === 'language') logger.info(event, 'speech vendor of another language');
      else logger.warn(event, 'speech vendor switched');
    },
    /** A sentence that was not cached began to sound. */
    firstAudio: ({ vendor, afterMs }: { vendor: string; afterMs: number }): void =>
      metrics.speechLatency(vendor, 'first-audio', afterMs),
    finalAfterCommit: ({ vendor, afterMs }: { vendor: string; afterMs: number }): void =>
      metrics.speechLatency(vendor, 'final', afterMs),
    speechFailed(event: { callId: string; service: SpeechService; code: string; error: unknown }): void {
      metrics.speechError(event.service, event.code);
      logger.warn(event, 'speech platform failed');
    },
    /** A call asked for the neural voice detector, and got it or not. */
    neuralDetectorRequested: ({ taken }: { taken: boolean }): void => metrics.neuralCall(taken ? 'taken' : 'refused'),
    /** Frames of one call sent to the neural voice detector, reported once with their counts. */
    neuralFramesJudged({ judged, late }: { judged: number; late: number }): void {
      metrics.neuralFrames('judged', judged);
      metrics.neuralFrames('late', late);
    },
    /** The end-of-turn model was asked about a pause, and answered or was not free. */
    endOfTurnAsked: ({ answered }: { answered: boolean }): void => metrics.endOfTurn(answered ? 'answered' : 'busy'),
  };
}

function wireEvents({ logger, metrics, throttle }: EventParts) {
  return {
    webhookRefused(event: { carrier: string; reason: string; status: number; address: string }): void {
      metrics.webhookRefused(event.carrier, event.reason);
      // Normal for a carrier that sends credentials only after a challenge.
      if (event.reason === 'challenged') return;
      const line = throttle(`webhook ${event.carrier} ${event.reason}`);
      if (line !== undefined) logger.warn({ ...event, ...line }, 'webhook refused');
    },
    streamRefused(event: { carrier: string; reason: string; status: number; callId?: string; address: string }): void {
      metrics.streamRefused(event.carrier, event.reason);
      const line = throttle(`stream ${event.carrier} ${event.reason}`);
      if (line !== undefined) logger.warn({ ...event, ...line }, 'media socket refused');
    },
    messageRejected(event: { carrier: string; callId?: string; problem: string; count: number }): void {
      metrics.messageRejected(event.carrier);
      // One bad frame usually has thousands of siblings: the first ten, then every thousandth.
      if (event.count <= 10 || event.count % 1000 === 0) logger.warn(event, 'media message rejected');
    },
    messageUnknown(event: { carrier: string; callId?: string; name: string }): void {
      metrics.messageUnknown(event.carrier);
      logger.debug(event, 'media message of an unknown kind');
    },
  };
}

function jobEvents({ logger, metrics, traces }: EventParts) {
  return {
    jobDone(event: OfJob): void {
      metrics.jobFinished(event.job, 'done', event.durationMs);
      traces?.job({ ...event, outcome: 'done' });
      logger.info(event, 'job done');
    },
    jobFailed(event: OfJob & { final: boolean; error: unknown }): void {
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
