import type { ContactChange, ContactHistory } from '../records/campaigns.ts';
import type { Disposition } from '../records/dialling.ts';
import { type CampaignSettings, retryAfter } from './campaign.ts';
import { earliestOpen, isKnownZone, localMs, type DayWindow, DAY_MS, WEEKDAYS } from './gate/local-time.ts';

const MINUTE_MS = 60_000;
const NOON = 12 * 60;
const EVENING = 17 * 60;
const MIDNIGHT = 24 * 60;

/** An attempt that is over, as far as the next one depends on it. */
export interface EndedAttempt {
  readonly disposition: Disposition;
  readonly cause?: string | undefined;
  readonly endedAtMs: number;
  /** Undefined: never ordered at the carrier, so not a call. */
  readonly placedAtMs?: number | undefined;
  readonly callBackAtMs?: number | undefined;
}

/** Delay after an attempt was not placed, because a process died or had no place. */
const UNPLACED_RETRY_MS = 1_000;
/** Unplaced attempts after which a contact is given up. */
const MOST_UNPLACED = 1_000;

/**
 * Decides about a contact after an attempt: next call time, or finished.
 * @param contact with this attempt under way; `attempts` counts it
 * @param zones the person's possible zones; empty: unknown
 */
export function afterAttempt(
  settings: Pick<CampaignSettings, 'attempts' | 'endsAt'>,
  contact: Pick<ContactHistory, 'attempts' | 'outcomes' | 'messageLeft'>,
  attempt: EndedAttempt,
  zones: readonly string[],
): ContactChange {
  const { disposition, endedAtMs, placedAtMs } = attempt;
  // The dialler's cause for an order that certainly never reached the carrier, such as a dead process's.
  const isLost = disposition === 'failed' && attempt.cause === 'not-placed';
  const isUnplaced = placedAtMs === undefined && (isLost || disposition === 'cancelled' || disposition === 'refused');
  // An unplaced call does not use up further calls after an outcome.
  const counted = isUnplaced ? 'refused' : disposition;
  const count = (contact.outcomes[counted] ?? 0) + 1;
  const messageLeft = contact.messageLeft || disposition === 'message-left';
  const facts = {
    outcomes: { ...contact.outcomes, [counted]: count },
    messageLeft,
    ...(attempt.cause === undefined ? {} : { cause: attempt.cause }),
  };
  const done: ContactChange = { ...facts, state: 'done', disposition: doneAs(disposition, messageLeft) };
  const endsAtMs = settings.endsAt === undefined ? Infinity : Date.parse(settings.endsAt);
  const waiting = (dueAtMs: number, priority: 'retry' | 'call-back', callBackAtMs?: number): ContactChange =>
    dueAtMs >= endsAtMs
      ? done
      : { ...facts, state: 'waiting', disposition, dueAtMs, priority, ...(callBackAtMs === undefined ? {} : { callBackAtMs }) };

  if (isUnplaced) {
    return count <= MOST_UNPLACED ? waiting(endedAtMs + UNPLACED_RETRY_MS, 'retry') : done;
  }
  if (disposition === 'call-back') {
    const { most, afterMinutes } = settings.attempts.callBacks;
    const atMs = attempt.callBackAtMs ?? endedAtMs + afterMinutes * MINUTE_MS;
    return count <= most ? waiting(Math.max(atMs, endedAtMs), 'call-back', atMs) : done;
  }
  const retry = retryAfter(settings, disposition);
  if (retry === undefined || count > retry.most || callsOf(contact) >= settings.attempts.most) return done;
  const afterMs = (retry.afterMinutes[Math.min(count, retry.afterMinutes.length) - 1] ?? 0) * MINUTE_MS;
  const dueAtMs = endedAtMs + afterMs;
  return waiting(retry.otherTimeOfDay ? otherPartOfDay(placedAtMs ?? endedAtMs, dueAtMs, zones) : dueAtMs, 'retry');
}

/** Calls of our own accord: without requested call-backs, and without those that never reached the carrier. */
function callsOf({ attempts, outcomes }: Pick<ContactHistory, 'attempts' | 'outcomes'>): number {
  return attempts - (outcomes['call-back'] ?? 0) - (outcomes.cancelled ?? 0) - (outcomes.refused ?? 0);
}

/** A message that was left stays the result, whatever later calls bring. */
function doneAs(disposition: Disposition, messageLeft: boolean): Disposition {
  const saysNothing: readonly Disposition[] = ['busy', 'no-answer', 'rejected', 'failed', 'cancelled', 'mailbox', 'mailbox-full'];
  return messageLeft && saysNothing.includes(disposition) ? 'message-left' : disposition;
}

const PARTS = [
  { fromMinute: 0, toMinute: NOON },
  { fromMinute: NOON, toMinute: EVENING },
  { fromMinute: EVENING, toMinute: MIDNIGHT },
] as const;

/**
 * The earliest moment from `dueAtMs` on in another part of the day than `lastAtMs` (morning, afternoon, evening) in the first zone. Without a zone it
 * is `dueAtMs`.
 */
function otherPartOfDay(lastAtMs: number, dueAtMs: number, zones: readonly string[]): number {
  const zone = zones.find(isKnownZone);
  if (zone === undefined) return dueAtMs;
  const minute = (((localMs(zone, lastAtMs) % DAY_MS) + DAY_MS) % DAY_MS) / MINUTE_MS;
  const others: DayWindow[] = PARTS.filter(({ fromMinute, toMinute }) => minute < fromMinute || minute >= toMinute).map(
    (part) => ({
      ...part,
      days: WEEKDAYS,
    }),
  );
  return earliestOpen(zone, dueAtMs, others) ?? dueAtMs;
}
