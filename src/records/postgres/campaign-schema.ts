import { sql } from 'drizzle-orm';
import {
  bigint,
  boolean,
  doublePrecision,
  index,
  integer,
  json,
  primaryKey,
  smallint,
  text,
  uniqueIndex,
} from 'drizzle-orm/pg-core';
import { CAMPAIGN_CHANGERS, CAMPAIGN_STATES, CONTACT_STATES } from '../campaigns.ts';
import { DISPOSITIONS } from '../dialling.ts';
import { ofTenant, offhook, sealed, tenant, wallMs } from './schema.ts';

/** The tables of campaigns. Numbers and variables of contacts are sealed under one key a campaign, in `call_keys` under the campaign's id. */

export const campaigns = offhook.table(
  'campaigns',
  {
    tenantId: tenant(),
    id: text('id').notNull(),
    name: text('name').notNull(),
    state: text('state', { enum: CAMPAIGN_STATES }).notNull(),
    reason: text('reason'),
    changedBy: text('changed_by', { enum: CAMPAIGN_CHANGERS }),
    settings: json('settings').notNull(),
    createdAtMs: wallMs('created_at_ms').notNull(),
    createdBy: text('created_by'),
    startedAtMs: wallMs('started_at_ms'),
    changedAtMs: wallMs('changed_at_ms').notNull(),
    endedAtMs: wallMs('ended_at_ms'),
    erasedAtMs: wallMs('erased_at_ms'),
    /** `changed_at_ms` of the last announced state. */
    announcedAtMs: wallMs('announced_at_ms'),
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.id] }),
    index('campaigns_recent').on(table.tenantId, table.createdAtMs.desc().nullsFirst(), table.id.desc().nullsFirst()),
    index('campaigns_by_state').on(table.state),
    index('campaigns_unannounced')
      .on(table.changedAtMs)
      .where(sql`state <> 'draft' AND announced_at_ms IS DISTINCT FROM changed_at_ms`),
    index('campaigns_with_contacts')
      .on(table.endedAtMs)
      .where(sql`erased_at_ms IS NULL`),
    ofTenant(),
  ],
);

export const contacts = offhook.table(
  'contacts',
  {
    tenantId: tenant(),
    campaignId: text('campaign_id').notNull(),
    /** The id is `contact_` and this number. */
    ordinal: bigint('ordinal', { mode: 'number' }).generatedAlwaysAsIdentity(),
    state: text('state', { enum: CONTACT_STATES }).notNull(),
    /** 0 is called first: see `PRIORITIES`. */
    priority: smallint('priority').notNull(),
    /** For a leased contact: the end of its lease. */
    dueAtMs: wallMs('due_at_ms').notNull(),
    attempts: integer('attempts').notNull(),
    /** Results of its attempts, counted. */
    outcomes: json('outcomes').notNull(),
    disposition: text('disposition', { enum: DISPOSITIONS }),
    cause: text('cause'),
    lastAttemptId: text('last_attempt_id'),
    callBackAtMs: wallMs('call_back_at_ms'),
    messageLeft: boolean('message_left').notNull(),
    /** Process asking the gate about it; null while its attempt is under way. */
    leaseOwner: text('lease_owner'),
    /** Carrier of the running call. */
    carrier: text('carrier'),
    callerId: text('caller_id'),
    /** Null once erased, like `personal`. */
    numberHash: text('number_hash'),
    personal: sealed('personal'),
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.campaignId, table.ordinal] }),
    uniqueIndex('contacts_by_number').on(table.tenantId, table.numberHash, table.campaignId),
    index('contacts_due')
      .on(table.tenantId, table.campaignId, table.priority, table.dueAtMs, table.ordinal)
      .where(sql`state IN ('pending', 'waiting')`),
    index('contacts_leased')
      .on(table.dueAtMs)
      .where(sql`state = 'leased'`),
    ofTenant(),
  ],
);

/** When each rate limit is free again: campaigns, carrier accounts, caller ids, of all tenants. */
export const paces = offhook.table('paces', { key: text('key').primaryKey(), freeAtMs: doublePrecision('free_at_ms').notNull() });
