import type { InferSelectModel } from 'drizzle-orm';
import { z } from 'zod';
import type { Attempt, AttemptLease, AttemptNews, NewAttempt } from '../dialling.ts';
import { storable } from '../record.ts';
import type { CallKey, CallKeys } from './keys.ts';
import type { attempts } from './dialling-schema.ts';
import { present } from './query.ts';

/** The part of an attempt sealed under its call's text key. */
const personalAttempt = z.object({
  to: z.string(),
  zone: z.string().optional(),
  variables: z.record(z.string(), z.string()),
  metadata: z.record(z.string(), z.string()),
});
const NOBODY: z.infer<typeof personalAttempt> = { to: '', variables: {}, metadata: {} };

const duties = z.array(z.object({ duty: z.string(), ms: z.number().optional() }));

/** An attempt as columns: personal data sealed, the rest plain. */
export function sealAttempt({ to, zone, variables, metadata, cause, ...plain }: NewAttempt, key: CallKey) {
  return {
    ...plain,
    ...inWholeMs(plain),
    createdAtMs: Math.round(plain.createdAtMs),
    placeByMs: Math.round(plain.placeByMs),
    ringTimeoutMs: Math.round(plain.ringTimeoutMs),
    cause: cause === undefined ? undefined : String(storable(cause)),
    personal: key.seal('attempt', storable({ to, zone, variables, metadata })),
  };
}

/** @param wrapped the text key of its call; null when it was destroyed */
export function attemptOf(keys: CallKeys, row: InferSelectModel<typeof attempts>, wrapped: Uint8Array | null): Attempt {
  const { personal, leaseUntilMs: _lease, textErasedAtMs: _erased, numberHash: _hash, ...facts } = row;
  const opened =
    personal === null || wrapped === null
      ? NOBODY
      : personalAttempt.parse(keys.open(row.tenantId, row.id, 'text', wrapped).open('attempt', personal));
  return { ...present(facts), ...opened, duties: duties.parse(row.duties) };
}

/** Lease columns; empty to leave the lease as it is. An ended attempt has no lease. */
export function leased({ state }: Pick<Attempt, 'state'>, lease: AttemptLease | undefined) {
  if (state === 'ended') return { leaseOwner: null, leaseUntilMs: null };
  return lease === undefined ? {} : { leaseOwner: lease.owner, leaseUntilMs: Math.round(lease.untilMs) };
}

const TIMES = ['placedAtMs', 'ringingAtMs', 'answeredAtMs', 'endedAtMs', 'callBackAtMs'] as const;

/** The same with whole milliseconds, as the columns are; absent ones stay absent. */
export function inWholeMs(news: AttemptNews): AttemptNews {
  const times = TIMES.map((name) => [name, news[name]] as const);
  const whole = times.flatMap(([name, ms]) => (ms === undefined ? [] : [[name, ms === null ? null : Math.round(ms)] as const]));
  return { ...news, ...Object.fromEntries(whole) };
}
