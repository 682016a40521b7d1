import { and, eq, type SQL, sql } from 'drizzle-orm';
import { z } from 'zod';
import type { CampaignContact, CampaignRef } from '../campaigns.ts';
import { DISPOSITIONS } from '../dialling.ts';
import type { CallKey } from './keys.ts';
import { present } from './query.ts';
import { campaigns, contacts } from './dialling-schema.ts';
import type { Session } from './tenancy.ts';

const PREFIX = 'contact_';

/** A literal, so that the planner can use the partial index of leasable contacts. */
export const WAITS = sql`state IN ('pending', 'waiting')`;

export function isCampaign({ tenantId, campaignId }: CampaignRef) {
  return and(eq(campaigns.tenantId, tenantId), eq(campaigns.id, campaignId));
}

export function ofCampaign({ tenantId, campaignId }: CampaignRef) {
  return and(eq(contacts.tenantId, tenantId), eq(contacts.campaignId, campaignId));
}

/**
 * Anonymises contacts. They are not called any longer; a running call goes on, and its result is recorded.
 * @returns how many were known before
 */
export async function blankContacts(session: Session, which: SQL | undefined): Promise<number> {
  const { rows } = await session.execute(sql`
    UPDATE ${contacts} SET personal = NULL, number_hash = NULL,
      disposition = CASE WHEN ${WAITS} THEN 'cancelled' ELSE disposition END,
      cause = CASE WHEN ${WAITS} THEN 'erased' ELSE cause END,
      state = CASE WHEN ${WAITS} THEN 'done' ELSE state END
    WHERE ${which} AND personal IS NOT NULL RETURNING ordinal`);
  return rows.length;
}

export function contactId(ordinal: number): string {
  return `${PREFIX}${ordinal}`;
}

/** @returns undefined for an invalid contact id */
export function ordinalOf(id: string): number | undefined {
  const [, digits] = /^contact_([1-9]\d{0,15})$/.exec(id) ?? [];
  return digits === undefined ? undefined : Number(digits);
}

/** Name under which a contact's personal values are sealed: the row's number is unknown before it is written. */
export function personalName(numberHash: string): string {
  return `contact/${numberHash}`;
}

const personal = z.object({
  number: z.string(),
  zone: z.string().optional(),
  variables: z.record(z.string(), z.string()),
});
const outcomes = z.partialRecord(z.enum(DISPOSITIONS), z.number());

/** @param key of the campaign; undefined once it was erased */
export function contactOf(row: typeof contacts.$inferSelect, key: CallKey | undefined): CampaignContact {
  const {
    numberHash,
    personal: sealed,
    priority: _priority,
    leaseOwner: _owner,
    carrier: _carrier,
    callerId: _from,
    ...facts
  } = row;
  const known =
    key === undefined || sealed === null || numberHash === null
      ? { number: '', zone: undefined, variables: {} }
      : personal.parse(key.open(personalName(numberHash), sealed));
  return {
    ...present(facts),
    ...known,
    id: contactId(row.ordinal),
    outcomes: outcomes.parse(row.outcomes),
    erased: known.number === '',
  };
}
