import { sql } from 'drizzle-orm';
import {
  bigint,
  boolean,
  index,
  integer,
  json,
  primaryKey,
  text,
  uniqueIndex,
  doublePrecision,
  smallint,
} from 'drizzle-orm/pg-core';
import { ANSWERED_BY } from '../../config/answered-by.ts';
import { ATTEMPT_STATES, DISPOSITIONS, PURPOSES } from '../dialling.ts';
import { ofTenant, offhook, sealed, tenant, wallMs } from './schema.ts';
import { CAMPAIGN_CHANGERS, CAMPAIGN_STATES, CONTACT_STATES } from '../campaigns.ts';

/** The tables of dials. A person is found by the keyed hash of their number (see blind-index.ts). */

const sequence = (name: string) => bigint(name, { mode: 'number' }).notNull();
const numberHash = () => text('number_hash');

/** Do-not-call numbers, by list. Once the person is erased, the entry stays in force by its hash. */
export const suppressions = offhook.table(
  'suppressions',
  {
    tenantId: tenant(),
    numberHash: numberHash().notNull(),
    list: text('list').notNull(),
    addedAtMs: wallMs('added_at_ms').notNull(),
    untilMs: wallMs('until_ms'),
    source: text('source').notNull(),
    callId: text('call_id'),
    erasedAtMs: wallMs('erased_at_ms'),
    /** Number and note, sealed under the master key for this entry. */
    personal: sealed('personal'),
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.numberHash, table.list] }),
    index('suppressions_by_time').on(table.tenantId, table.addedAtMs, table.numberHash, table.list),
    index('suppressions_of_list').on(table.tenantId, table.list, table.addedAtMs, table.numberHash),
    ofTenant(),
  ],
);

/** When a list was obtained, or all numbers were checked against it. */
export const suppressionLists = offhook.table(
  'suppression_lists',
  { tenantId: tenant(), list: text('list').notNull(), obtainedAtMs: wallMs('obtained_at_ms').notNull() },
  (table) => [primaryKey({ columns: [table.tenantId, table.list] }), ofTenant()],
);

export const consents = offhook.table(
  'consents',
  {
    tenantId: tenant(),
    /** Our own id, since an erased consent has no number. */
    reference: text('reference').notNull(),
    numberHash: numberHash(),
    id: text('id').notNull(),
    level: text('level', { enum: ['express', 'written'] }).notNull(),
    purposes: text('purposes', { enum: PURPOSES }).array().notNull(),
    givenAtMs: wallMs('given_at_ms').notNull(),
    expiresAtMs: wallMs('expires_at_ms'),
    withdrawnAtMs: wallMs('withdrawn_at_ms'),
    /** Number, evidence and registered id, sealed under the master key for this entry. */
    personal: sealed('personal'),
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.reference] }),
    uniqueIndex('consents_of_number').on(table.tenantId, table.numberHash, table.id),
    index('consents_by_time').on(table.tenantId, table.givenAtMs, table.reference),
    ofTenant(),
  ],
);

/** Random id of a number in the log of decisions: deleting the row anonymises the log's entries. */
export const dialSubjects = offhook.table(
  'dial_subjects',
  { tenantId: tenant(), numberHash: numberHash().notNull(), subject: text('subject').notNull() },
  (table) => [primaryKey({ columns: [table.tenantId, table.numberHash] }), ofTenant()],
);

/** The log of decisions. The tenants' role can add and read rows, but not change or delete them. */
export const dialDecisions = offhook.table(
  'dial_decisions',
  {
    tenantId: tenant(),
    sequence: sequence('sequence'),
    atMs: wallMs('at_ms').notNull(),
    /** The exact hashed JSON: `jsonb` would refuse some texts. */
    body: text('body').notNull(),
    previousHash: text('previous_hash').notNull(),
    hash: text('hash').notNull(),
  },
  (table) => [primaryKey({ columns: [table.tenantId, table.sequence] }), ofTenant()],
);

/** The end of each tenant's log. Every decision locks it first, which serialises a tenant's decisions. */
export const dialHeads = offhook.table(
  'dial_heads',
  { tenantId: text('tenant_id').primaryKey(), sequence: sequence('sequence'), hash: text('hash').notNull() },
  () => [ofTenant()],
);

/** Calls the gate allowed by UTC day: one row for the tenant (an empty `asker`), and one for each requesting key or person. */
export const dialDays = offhook.table(
  'dial_days',
  {
    tenantId: tenant(),
    dayMs: wallMs('day_ms').notNull(),
    asker: text('asker').notNull(),
    calls: integer('calls').notNull(),
    /** Estimate, in millionths of the price list's currency. */
    costMicros: bigint('cost_micros', { mode: 'number' }).notNull(),
    /** Whether the unusual day was already reported. */
    isTold: boolean('is_told').notNull(),
  },
  (table) => [primaryKey({ columns: [table.tenantId, table.dayMs, table.asker] }), ofTenant()],
);

/** Dials, by the id of the call each places. The called number, variables and metadata are sealed under the call's text key. */
export const attempts = offhook.table(
  'attempts',
  {
    tenantId: tenant(),
    id: text('id').notNull(),
    state: text('state', { enum: ATTEMPT_STATES }).notNull(),
    botName: text('bot_name').notNull(),
    carrier: text('carrier').notNull(),
    carrierCallId: text('carrier_call_id'),
    campaignId: text('campaign_id'),
    contactId: text('contact_id'),
    index: integer('index').notNull(),
    /** The tenant's own number, which the log of decisions names too. */
    from: text('caller_id').notNull(),
    ringTimeoutMs: integer('ring_timeout_ms').notNull(),
    purpose: text('purpose', { enum: PURPOSES }),
    profile: text('profile').notNull(),
    duties: json('duties').notNull(),
    decisionSequence: sequence('decision_sequence'),
    placeByMs: wallMs('place_by_ms').notNull(),
    createdAtMs: wallMs('created_at_ms').notNull(),
    placedAtMs: wallMs('placed_at_ms'),
    ringingAtMs: wallMs('ringing_at_ms'),
    answeredAtMs: wallMs('answered_at_ms'),
    endedAtMs: wallMs('ended_at_ms'),
    answeredBy: text('answered_by', { enum: ANSWERED_BY }),
    disposition: text('disposition', { enum: DISPOSITIONS }),
    cause: text('cause'),
    callBackAtMs: wallMs('call_back_at_ms'),
    leaseOwner: text('lease_owner'),
    leaseUntilMs: wallMs('lease_until_ms'),
    textErasedAtMs: wallMs('text_erased_at_ms'),
    numberHash: numberHash(),
    personal: sealed('personal'),
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.id] }),
    index('attempts_recent').on(table.tenantId, table.createdAtMs.desc().nullsFirst(), table.id.desc().nullsFirst()),
    index('attempts_of_number').on(table.tenantId, table.numberHash, table.createdAtMs.desc().nullsFirst()),
    index('attempts_of_campaign')
      .on(table.tenantId, table.campaignId, table.createdAtMs.desc().nullsFirst(), table.id.desc().nullsFirst())
      .where(sql`campaign_id IS NOT NULL`),
    // One attempt per index: a process that lost a contact's lease changes nothing by asking the gate.
    uniqueIndex('attempts_once')
      .on(table.tenantId, table.contactId, table.index)
      .where(sql`contact_id IS NOT NULL AND disposition IS DISTINCT FROM 'refused'`),
    index('attempts_ended')
      .on(table.tenantId, table.campaignId, table.endedAtMs, table.disposition)
      .where(sql`campaign_id IS NOT NULL`),
    index('attempts_placed')
      .on(table.tenantId, table.campaignId, table.placedAtMs)
      .where(sql`campaign_id IS NOT NULL AND placed_at_ms IS NOT NULL`),
    index('attempts_of_contact')
      .on(table.tenantId, table.contactId)
      .where(sql`contact_id IS NOT NULL`),
    index('attempts_by_carrier_id')
      .on(table.tenantId, table.carrier, table.carrierCallId)
      .where(sql`carrier_call_id IS NOT NULL`),
    index('attempts_live')
      .on(table.leaseOwner, table.leaseUntilMs)
      .where(sql`state <> 'ended'`),
    index('attempts_with_text')
      .on(table.botName, table.endedAtMs)
      .where(sql`text_erased_at_ms IS NULL`),
    ofTenant(),
  ],
);

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
