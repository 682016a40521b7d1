import { z } from 'zod';
import { ANSWERED_BY } from '../../../config/answered-by.ts';
import { maskNumbersIn } from '../../../records/privacy/mask-number.ts';
import { type Attempt, ATTEMPT_STATES, DISPOSITIONS, PURPOSES } from '../../../records/dialling.ts';
import type { Principal } from '../system/api-keys.ts';

const wallTime = z.iso.datetime().nullable();
const texts = z.record(z.string(), z.string());

/** One outbound call, from the gate's answer to what came of it. */
export const attemptView = z.object({
  /** The call's id too. */
  id: z.string(),
  /** `placing`: the carrier is being asked, or has not said yet how far the call is. */
  state: z.enum(ATTEMPT_STATES),
  bot: z.string(),
  carrier: z.string(),
  carrierCallId: z.string().nullable(),
  from: z.string(),
  /** Masked without the scope `numbers:read`; empty once erased. */
  to: z.string(),
  campaign: z.string().nullable(),
  contact: z.string().nullable(),
  /** 1 for the first of its contact. */
  attempt: z.int(),
  profile: z.string(),
  purpose: z.enum(PURPOSES).nullable(),
  variables: texts,
  metadata: texts,
  ringTimeoutMs: z.int(),
  /** Of the gate's decision, in its log. */
  decision: z.int(),
  createdAt: z.iso.datetime(),
  /** When the carrier was asked. */
  placedAt: wallTime,
  ringingAt: wallTime,
  answeredAt: wallTime,
  endedAt: wallTime,
  answeredBy: z.enum(ANSWERED_BY).nullable(),
  disposition: z.enum(DISPOSITIONS).nullable(),
  /** The carrier's own code or word for a failure; of a refusal, its name. */
  cause: z.string().nullable(),
  /** When the person asked to be called. */
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
