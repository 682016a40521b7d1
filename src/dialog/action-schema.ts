import { z } from 'zod';
import { OffhookError } from '../kernel/errors.ts';
import { keysToPress, soundSource } from '../config/bots.ts';
import { ringMs, transferTarget } from '../config/transfer-target.ts';
import { answerContract } from '../language/index.ts';
import type { DialogAction } from './port.ts';

/** How often a sound may be played in a row. */
export const MOST_LOOPS = 1_000;

/** A moment, or one on the person's own clock. */
const CALL_BACK_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?(?:Z|[+-]\d{2}:\d{2})?$/u;
export const callBackTime = z.string().refine((at) => CALL_BACK_TIME.test(at) && !Number.isNaN(Date.parse(at)), {
  error: "a date and time such as 2026-03-05T17:00 (the person's own time), 2026-03-05T17:00+05:30 or 2026-03-05T11:30Z",
});
const stepName = z
  .string()
  .regex(/^[\p{L}\p{N}][\p{L}\p{N} ._/-]{0,126}$/u, 'a name of letters, digits, blanks and . _ / -, at most 127');
const texts = z.record(z.string(), z.string());

const warmTransfer = z.object({
  brief: z.string().min(1).max(1000),
  language: z.string().min(2).max(35).optional(),
  voice: z.string().min(1).max(200).optional(),
  ringMs: ringMs.optional(),
  queue: z
    .object({ maxWaitMs: z.int().min(5000).max(3_600_000).default(600_000), say: z.string().min(1).max(1000).optional() })
    .optional(),
});

/** The actions a bot may answer with. Unknown fields are dropped; an unknown action is an error. */
export const actionSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('say'),
    text: z.string().min(1).max(10_000),
    more: z.boolean().optional(),
    interruptible: z.enum(['always', 'keypad', 'never']).optional(),
    language: z.string().min(2).max(35).optional(),
    voice: z.string().min(1).max(200).optional(),
  }),
  z.object({
    type: z.literal('play'),
    source: soundSource,
    text: z.string().min(1).max(10_000).optional(),
    loop: z.int().min(1).max(MOST_LOOPS).optional(),
    preemptible: z.boolean().optional(),
    interruptible: z.enum(['always', 'keypad', 'never']).optional(),
  }),
  z.object({
    type: z.literal('gather'),
    hints: z.array(z.string().min(1).max(100)).max(100).optional(),
    endpointingMs: z.int().min(200).max(5000).optional(),
    noInputMs: z.int().min(1000).max(120_000).optional(),
    maxDigits: z.int().min(1).max(64).optional(),
    contract: answerContract.optional(),
  }),
  z.object({ type: z.literal('set'), variables: texts }),
  z.object({ type: z.literal('language'), language: z.string().min(2).max(35), voice: z.string().min(1).max(200).optional() }),
  z.object({ type: z.literal('bot'), name: z.string().min(1).max(63) }),
  z.object({ type: z.literal('note'), text: z.string().min(1).max(2000) }),
  z.object({ type: z.literal('step'), name: stepName, through: z.array(stepName).max(50).optional() }),
  z.object({ type: z.literal('call-back'), at: callBackTime.optional() }),
  z.object({ type: z.literal('recording'), on: z.boolean() }),
  z.object({ type: z.literal('hangup'), reason: z.string().min(1).max(200) }),
  z.object({ type: z.literal('transfer'), to: transferTarget, warm: warmTransfer.optional() }),
  z.object({ type: z.literal('cancel-transfer') }),
  z.object({ type: z.literal('digits'), digits: keysToPress }),
]);

/** Actions of the gateway itself, which bots cannot send. */
const ownAction = z.union([
  z.object({
    type: z.literal('fail-over'),
    from: z.string(),
    step: z.enum(['bot', 'transfer', 'message', 'callback']),
    to: z.string().optional(),
  }),
  z.object({ type: z.literal('usage'), vendor: z.string(), model: z.string(), units: z.record(z.string(), z.number()) }),
  z.object({
    type: z.literal('gather'),
    endpointingMs: z.int(),
    noInputMs: z.int().optional(),
    message: z.object({ maxMs: z.int(), record: z.literal(true).optional() }),
  }),
]);

/** Parses a recorded action. @throws DialogAnswerError */
export function parseKeptAction(given: unknown): DialogAction {
  const own = ownAction.safeParse(given);
  return own.success ? withoutUndefined(own.data) : parseAction(given);
}

/** A bot's answer is not a valid action. The message names the field, never the bot's words. */
export class DialogAnswerError extends OffhookError {
  readonly code = 'OFFHOOK_DIALOG_ANSWER';
  readonly retryable = false;
}

/**
 * Checks one action of a bot's answer; a plain text is a `say`.
 * @throws DialogAnswerError for anything else
 */
export function parseAction(given: unknown): DialogAction {
  const parsed = actionSchema.safeParse(typeof given === 'string' ? { type: 'say', text: given } : given);
  if (!parsed.success) {
    const complaints = parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'action'}: ${message}`);
    throw new DialogAnswerError(`the bot's answer has an action that cannot be used: ${complaints.join('; ')}`);
  }
  return withoutUndefined(parsed.data);
}

/** Optional fields that were not given stay absent, as `exactOptionalPropertyTypes` requires. */
function withoutUndefined(action: object): DialogAction {
  return Object.fromEntries(Object.entries(action).filter(([, value]) => value !== undefined)) as unknown as DialogAction;
}
