import type { Clock } from '../kernel/clock.ts';
import type { Logger } from '../observability/logger.ts';
import type {
  CampaignContact,
  CampaignRepository,
  ContactChange,
  ContactRepository,
  OverdueContact,
  StoredCampaign,
} from '../records/campaigns.ts';
import type { Attempt, AttemptRepository } from '../records/dialling.ts';
import { afterAttempt } from './attempt-policy.ts';
import { type Campaign, readCampaign } from './campaign.ts';
import { zonesOf } from './contact-request.ts';
import type { NumberZones } from './number.ts';

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
