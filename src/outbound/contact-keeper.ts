import type { Clock } from '../kernel/clock.ts';
import type { Logger } from '../observability/logger.ts';
import type {
  CampaignContact,
  CampaignRepository,
  ContactChange,
  ContactRepository,
  OverdueContact,
  StoredCampaign,
  ContactHistory,
} from '../records/campaigns.ts';
import type { Attempt, AttemptRepository, Disposition } from '../records/dialling.ts';
import { type Campaign, readCampaign, type CampaignSettings, retryAfter } from './campaign.ts';
import { zonesOf } from './calling-hours.ts';
import type { NumberZones } from './number.ts';
import { earliestOpen, isKnownZone, localMs, type DayWindow, DAY_MS, WEEKDAYS } from './gate/local-time.ts';

export interface ContactKeeperParts {
  readonly campaigns: Pick<CampaignRepository, 'get' | 'stoppedWithOpenContacts'>;
  readonly contacts: Pick<ContactRepository, 'get' | 'settle' | 'overdue' | 'reclaim' | 'cancelOpen'>;
  readonly attempts: Pick<AttemptRepository, 'get' | 'page'>;
  readonly zones: NumberZones;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** How long a contact with a running attempt is left alone before it is checked. */
export const CHECK_AFTER_MS = 60_000;
const OVERDUE_AT_ONCE = 200;
const CANCELLED_AT_ONCE = 5_000;
/** Most attempts of a contact examined, newest first; refused ones count. */
const ATTEMPTS_LOOKED_AT = 200;

/**
 * Applies the results of attempts to contacts, and finds those left by dead processes. The store alone has a contact's state, and each change is a
 * conditional write that happens once.
 */
export class ContactKeeper {
  readonly #parts: ContactKeeperParts;
  /** Recently running campaigns by id, to save reading them for each contact; the sweep handles ones stopped since. */
  known: ReadonlyMap<string, StoredCampaign> = new Map();

  constructor(parts: ContactKeeperParts) {
    this.#parts = parts;
  }

  /**
   * An attempt ended, here or elsewhere. Repeated news change nothing.
   * @throws StoreUnavailableError: `sweep` will find the contact
   */
  async settle(attempt: Attempt): Promise<void> {
    const { tenantId, id, campaignId, contactId, index, disposition } = attempt;
    if (campaignId === undefined || contactId === undefined || disposition === undefined || isRefusal(attempt)) return;
    const { campaigns, contacts } = this.#parts;
    const ref = { tenantId, campaignId };
    const stored = this.known.get(campaignId) ?? (await campaigns.get(tenantId, campaignId));
    const contact = await contacts.get(ref, contactId);
    const isCorrected = contact?.state === 'done' && contact.disposition === 'unknown' && disposition !== 'unknown';
    if (stored === undefined || contact === undefined || (contact.state !== 'leased' && !isCorrected)) return;
    const { unknown = 0, ...others } = contact.outcomes;
    const outcomes = isCorrected ? { ...others, ...(unknown > 1 ? { unknown: unknown - 1 } : {}) } : contact.outcomes;
    const change = this.#changeOf(readCampaign(stored), { ...contact, outcomes }, attempt);
    await contacts.settle(ref, contactId, { id, index }, change);
  }

  /** Checks contacts with expired leases, and cancels those of stopped campaigns. */
  async sweep(): Promise<void> {
    const { contacts, campaigns, clock, logger } = this.#parts;
    for (;;) {
      const nowMs = clock.wallMs();
      const untilMs = nowMs + CHECK_AFTER_MS;
      const overdue = await contacts.overdue({ nowMs, untilMs, limit: OVERDUE_AT_ONCE });
      for (const contact of overdue) await this.#lookAfter(contact, untilMs);
      if (overdue.length < OVERDUE_AT_ONCE) break;
    }
    for (const ref of await campaigns.stoppedWithOpenContacts(CANCELLED_AT_ONCE)) {
      let cancelled = 0;
      for (;;) {
        const count = await contacts.cancelOpen(ref, 'stopped', CANCELLED_AT_ONCE);
        cancelled += count;
        if (count < CANCELLED_AT_ONCE) break;
      }
      logger.info({ campaignId: ref.campaignId, contacts: cancelled }, 'contacts of a stopped campaign cancelled');
    }
  }

  async #lookAfter(contact: OverdueContact, untilMs: number): Promise<void> {
    const { contacts, clock } = this.#parts;
    const attempt = await this.#attemptOf(contact);
    if (attempt === undefined) await contacts.reclaim(contact, contact.id, untilMs, clock.wallMs());
    else if (attempt.state === 'ended') await this.settle(attempt);
  }

  /** The attempt a contact is leased for, if one was made. */
  async #attemptOf({ tenantId, id, attached, attempts: made, lastAttemptId }: OverdueContact): Promise<Attempt | undefined> {
    const { attempts } = this.#parts;
    const known = attached && lastAttemptId !== undefined ? await attempts.get(tenantId, lastAttemptId) : undefined;
    if (known !== undefined) return known;
    const index = attached ? made : made + 1;
    const page = await attempts.page(tenantId, { contactId: id, limit: ATTEMPTS_LOOKED_AT });
    return page.attempts.find((attempt) => attempt.index === index && !isRefusal(attempt));
  }

  #changeOf({ settings, state }: Campaign, contact: CampaignContact, attempt: Attempt): ContactChange {
    const { disposition = 'unknown', cause, createdAtMs, endedAtMs = createdAtMs, placedAtMs, callBackAtMs } = attempt;
    const zones = zonesOf(contact, settings, this.#parts.zones);
    const ended = { disposition, cause, endedAtMs, placedAtMs, callBackAtMs };
    const change = afterAttempt(settings, { ...contact, attempts: attempt.index }, ended, zones);
    if (change.state === 'done' || (state !== 'stopped' && state !== 'finished')) return change;
    // Contacts of an ended campaign are not called again.
    const { outcomes = {}, messageLeft = false } = change;
    return { outcomes, messageLeft, ...(cause === undefined ? {} : { cause }), state: 'done', disposition };
  }
}

/** Whether the gate refused it: such an attempt has the index of the next allowed one. */
function isRefusal({ state, disposition, placedAtMs }: Attempt): boolean {
  return state === 'ended' && disposition === 'refused' && placedAtMs === undefined;
}

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
