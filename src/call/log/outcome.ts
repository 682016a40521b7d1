import type { BusinessEvents } from '../../observability/events.ts';
import type { CallOutcome, LatencyStage } from '../../observability/metrics.ts';
import type { LineRecord } from '../inbound/line-quality.ts';
import type { OutboundAudio } from '../outbound/outbound-audio.ts';
import type { Recording } from '../recording/recording.ts';
import type { CallRecord } from './call-record.ts';
import type { TurnLatency } from './timeline.ts';

/** The outcome that metrics count, from the end reason in the record. */
export function outcomeOf(endReason: string): CallOutcome {
  switch (endReason) {
    case 'caller-hangup':
      return 'caller-hangup';
    case 'carrier-lost':
      return 'lost';
    case 'max-duration':
    case 'spend-limit':
      return 'time-limit';
    case 'shutdown':
      return 'shutdown';
    case 'speech-unavailable':
    case 'dialog-failed':
    case 'transfer-failed':
    case 'internal-error':
    case 'process-died':
      return 'failed';
    default:
      return 'bot-hangup';
  }
}

/** How calls end; shows where a bot loses its callers. */
export const ENDINGS = [
  'finished',
  'transferred',
  'hung-up',
  'no-input',
  'not-understood',
  'opted-out',
  'failed',
  'cut-short',
] as const;
export type Ending = (typeof ENDINGS)[number];

/** The ending of a call, from the end reason in its record; a reason set by the bot counts as the bot's choice. */
export function endingOf(endReason: string): Ending {
  switch (endReason) {
    case 'transferred':
    case 'no-input':
      return endReason;
    case 'caller-said-goodbye':
    case 'caller-hung-up':
      return 'hung-up';
    case 'not-understood':
    case 'too-many-corrections':
      return 'not-understood';
    case 'opt-out':
    case 'wrong-number':
      return 'opted-out';
    case 'flow-lost':
      return 'failed';
    case 'operator-hangup':
    case 'cancelled':
    case '':
      return 'cut-short';
    default:
      return ENDING_OF[outcomeOf(endReason)];
  }
}

const ENDING_OF: Readonly<Record<CallOutcome, Ending>> = {
  'bot-hangup': 'finished',
  'caller-hangup': 'hung-up',
  lost: 'cut-short',
  'time-limit': 'cut-short',
  shutdown: 'cut-short',
  failed: 'failed',
};

/** A turn's latencies under their metric names; stages that did not happen are left out. */
export function stageLatencies(latency: TurnLatency): Partial<Record<LatencyStage, number>> {
  const stages: readonly (readonly [LatencyStage, number | undefined])[] = [
    ['endpointing', latency.endpointing],
    ['asr-final', latency.asrFinal],
    ['dialog', latency.dialog],
    ['tts-first-byte', latency.ttsFirstByte],
    ['first-frame', latency.firstFrame],
    ['total', latency.total],
  ];
  return Object.fromEntries(stages.filter(([, valueMs]) => valueMs !== undefined));
}

/** Counts the end of a call, and logs it. */
export function reportEnd(callId: string, record: CallRecord, events: BusinessEvents): void {
  const { botName: bot, carrier, durationMs, endReason: reason, playout, outbound, turns } = record;
  for (const [cause, count] of Object.entries({ source: playout.starvedBySource, gateway: playout.starvedByGateway })) {
    if (count > 0) events.underruns({ callId, cause, count });
  }
  events.callEnded({ carrier, callId, bot, outcome: outcomeOf(reason), reason, durationMs, turns: turns.length });
  if ((playout.marksReturned ?? 0) > 0 && playout.heardEstimated === undefined) events.marksReturned({ carrier });
  if (outbound?.answeredBy !== undefined) events.outboundAnswered({ by: outbound.answeredBy });
}

const NO_PLAYOUT = { starvedBySource: 0, starvedByGateway: 0, marksUnknown: 0, longestHoleMs: 0 };

/** What a call has of sound; nothing before its first socket. */
export interface CallSound {
  readonly outbound?: OutboundAudio | undefined;
  readonly recording?: Recording | undefined;
  readonly line?: LineRecord | undefined;
}

/** The record's part on sound. @param isLive names the future file even before the first audio, so that another process can end the call */
export function soundRecord(
  { outbound, recording, line }: CallSound,
  isLive: boolean,
): Pick<CallRecord, 'recordingPath' | 'recordingFailure' | 'recordingGaps' | 'playout' | 'line'> {
  return {
    recordingPath: recording?.started === true || isLive ? recording?.path : undefined,
    recordingFailure: recording?.failure,
    recordingGaps: recording?.gaps ?? [],
    playout: outbound === undefined ? NO_PLAYOUT : outbound.playout.summary,
    line,
  };
}
