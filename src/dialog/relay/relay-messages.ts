import { z } from 'zod';
import { keysToPress, soundSource } from '../../config/bots.ts';
import { MOST_LOOPS } from '../action-schema.ts';
import type { CallFacts } from '../port.ts';

/** What a ConversationRelay server sends (the carrier's page "ConversationRelay WebSocket messages"). Unknown types are undefined. */
const serverMessage = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('text'),
    token: z.string().max(10_000),
    last: z.boolean().default(false),
    lang: z.string().min(2).max(35).optional(),
    interruptible: z.boolean().optional(),
  }),
  z.object({
    type: z.literal('play'),
    source: soundSource,
    /** 0: on and on. */
    loop: z.int().min(0).max(MOST_LOOPS).default(1),
    preemptible: z.boolean().default(false),
    interruptible: z.boolean().default(true),
  }),
  z.object({ type: z.literal('sendDigits'), digits: keysToPress }),
  z.object({
    type: z.literal('language'),
    ttsLanguage: z.string().min(2).max(35).optional(),
    transcriptionLanguage: z.string().min(2).max(35).optional(),
  }),
  z.object({ type: z.literal('end'), handoffData: z.string().max(10_000).optional() }),
]);

export type ServerMessage = z.infer<typeof serverMessage>;

/** @returns undefined for a frame that is no message of the protocol */
export function readServerMessage(frame: string): ServerMessage | undefined {
  let value: unknown;
  try {
    value = JSON.parse(frame);
  } catch {
    return undefined;
  }
  const parsed = serverMessage.safeParse(value);
  return parsed.success ? parsed.data : undefined;
}

/** Whether nothing belongs to the same answer behind it. */
export function endsAnswer(message: ServerMessage): boolean {
  return message.type === 'end' || (message.type === 'text' && message.last);
}

/** The first message on a socket: who calls whom. */
export function setupMessage(sessionId: string, call: CallFacts, parameters: Readonly<Record<string, string>>): object {
  return {
    type: 'setup',
    sessionId,
    callSid: call.carrierCallId ?? call.callId,
    parentCallSid: '',
    from: call.from,
    to: call.to,
    forwardedFrom: '',
    callerName: '',
    direction: call.direction,
    callType: 'PSTN',
    callStatus: 'IN-PROGRESS',
    accountSid: '',
    applicationSid: null,
    customParameters: parameters,
  };
}
