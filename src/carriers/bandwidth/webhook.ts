import { z } from 'zod';
import type { CarrierStatus } from '../carrier.ts';
import { ownValue, unansweredEnd } from '../dialling.ts';
import type { CarrierWitness, DialEnd, DialProgress, InboundCall } from '../port.ts';

const text = z.string().max(1000);
const callId = z.string().min(1).max(128);
const voiceBody = z.object({ eventType: z.enum(['initiate', 'redirect']), callId, from: text.default(''), to: text.default('') });

/** A webhook of an incoming call, or asking what comes next; undefined for any other event. */
export function readInitiate(body: unknown, botName: string | undefined): InboundCall | undefined {
  const parsed = voiceBody.safeParse(body);
  if (!parsed.success) return undefined;
  const { callId: carrierCallId, from, to } = parsed.data;
  return { carrier: 'bandwidth', carrierCallId, from, to, direction: 'inbound', botName };
}

const eventBody = z.object({
  eventType: z.string().min(1).max(100),
  callId,
  answerTime: text.nullish().catch(undefined),
  cause: text.nullish(),
  machineDetectionResult: text.nullish(),
  digit: z
    .string()
    .regex(/^[\d*#A-D]$/u)
    .nullish()
    .catch(undefined),
});

/** Undefined when the event names no call. */
export function readEvent(body: unknown): CarrierStatus | undefined {
  const parsed = eventBody.safeParse(body);
  if (!parsed.success) return undefined;
  const { eventType: status, callId: carrierCallId, answerTime, cause, machineDetectionResult, digit } = parsed.data;
  const told = { carrierCallId, status, terminal: false, streamError: undefined };
  switch (status) {
    case 'answer':
      return { ...told, progress: { state: 'answered' } };
    case 'disconnect':
      return { ...told, terminal: true, progress: endOf(cause, answerTime) };
    case 'machineDetectionComplete':
      return { ...told, witness: witnessOf(machineDetectionResult) };
    case 'dtmf':
      return { ...told, digit: digit ?? undefined };
    case 'mediaStreamRejected':
      return { ...told, streamError: cause ?? status };
    case 'mediaStreamStopped':
      return cause === null || cause === undefined || cause === 'closed' ? told : { ...told, streamError: cause };
    default:
      return told;
  }
}

/** Other values, such as silence, are not evidence. */
const WITNESSES: Readonly<Record<string, CarrierWitness>> = {
  human: 'person',
  'answering-machine': 'machine',
  'tone-detected': 'machine-done',
};

function witnessOf(result: string | null | undefined): CarrierWitness {
  return ownValue(WITNESSES, result ?? '') ?? 'unknown';
}

/** Ends of unanswered calls. */
const CAUSES: Readonly<Record<string, Exclude<DialEnd, 'completed'>>> = {
  hangup: 'cancelled',
  cancel: 'cancelled',
  busy: 'busy',
  timeout: 'no-answer',
  rejected: 'rejected',
};

/** @param cause the carrier's; may be one outside its documented list @param answerTime absent for an unanswered call */
export function endOf(cause: string | null | undefined, answerTime: string | null | undefined): DialProgress {
  if (typeof answerTime === 'string' && answerTime !== '') return { state: 'ended', outcome: 'completed' };
  const code = cause ?? 'unknown';
  return unansweredEnd(ownValue(CAUSES, code) ?? 'failed', { code: code.slice(0, 100) });
}
