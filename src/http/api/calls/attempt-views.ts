import { z } from 'zod';
import { ANSWERED_BY } from '../../../config/answered-by.ts';
import { maskNumbersIn } from '../../../records/privacy/mask-number.ts';
import { type Attempt, ATTEMPT_STATES, DISPOSITIONS, PURPOSES } from '../../../records/dialling.ts';
import type { Principal } from '../system/api-keys.ts';

const wallTime = z.iso.datetime().nullable();
const texts = z.record(z.string(), z.string());

/** An outbound call, from the gate's decision to its result. */
export const attemptView = z.object({
  /** The call's id too. */
  id: z.string(),
  /** `placing`: the carrier was asked, and has reported no progress yet. */
  state: z.enum(ATTEMPT_STATES),
  bot: z.string(),
  carrier: z.string(),
  carrierCallId: z.string().nullable(),
  from: z.string(),
  /** Masked without the scope `numbers:read`; empty once erased. */
  to: z.string(),
  campaign: z.string().nullable(),
  contact: z.string().nullable(),
  /** Number of the attempt for its contact, from 1. */
  attempt: z.int(),
  profile: z.string(),
  purpose: z.enum(PURPOSES).nullable(),
  variables: texts,
  metadata: texts,
  ringTimeoutMs: z.int(),
  /** Entry of the gate's decision in its log. */
  decision: z.int(),
  createdAt: z.iso.datetime(),
  /** When the carrier was asked. */
  placedAt: wallTime,
  ringingAt: wallTime,
  answeredAt: wallTime,
  endedAt: wallTime,
  answeredBy: z.enum(ANSWERED_BY).nullable(),
  disposition: z.enum(DISPOSITIONS).nullable(),
  /** The carrier's own code or word for a failure, or the name of a refusal. */
  cause: z.string().nullable(),
  /** When the person asked to be called back. */
  callBackAt: wallTime,
});

export const attemptPageView = z.object({ attempts: z.array(attemptView), next: z.string().nullable() });

export function viewOfAttempt(attempt: Attempt, { scopes }: Pick<Principal, 'scopes'>): z.output<typeof attemptView> {
  const { from, to } = attempt;
  const masked = (text: string): string => (scopes.includes('numbers:read') ? text : maskNumbersIn(text, [from, to]));
  const maskedTexts = (given: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(Object.entries(given).map(([name, value]) => [masked(name), masked(value)]));
  return {
    id: attempt.id,
    state: attempt.state,
    bot: attempt.botName,
    carrier: attempt.carrier,
    carrierCallId: attempt.carrierCallId ?? null,
    from: masked(from),
    to: masked(to),
    campaign: attempt.campaignId ?? null,
    contact: attempt.contactId ?? null,
    attempt: attempt.index,
    profile: attempt.profile,
    purpose: attempt.purpose ?? null,
    variables: maskedTexts(attempt.variables),
    metadata: maskedTexts(attempt.metadata),
    ringTimeoutMs: attempt.ringTimeoutMs,
    decision: attempt.decisionSequence,
    createdAt: new Date(attempt.createdAtMs).toISOString(),
    placedAt: timeOf(attempt.placedAtMs),
    ringingAt: timeOf(attempt.ringingAtMs),
    answeredAt: timeOf(attempt.answeredAtMs),
    endedAt: timeOf(attempt.endedAtMs),
    answeredBy: attempt.answeredBy ?? null,
    disposition: attempt.disposition ?? null,
    cause: attempt.cause ?? null,
    callBackAt: timeOf(attempt.callBackAtMs),
  };
}

function timeOf(wallMs: number | undefined): string | null {
  return wallMs === undefined ? null : new Date(wallMs).toISOString();
}
