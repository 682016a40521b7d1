import { sql } from 'drizzle-orm';
import {
  bigint,
  boolean,
  customType,
  doublePrecision,
  foreignKey,
  index,
  integer,
  jsonb,
  pgPolicy,
  pgSchema,
  primaryKey,
  text,
  uniqueIndex,
} from 'drizzle-orm/pg-core';
import { COMPRESSED_FORMATS } from '../../audio/recording-format.ts';
import { ENDINGS } from '../../call/log/outcome.ts';
import { ROLES } from '../../config/console-roles.ts';
import { ANSWERED_BY } from '../../config/answered-by.ts';
import { RESULTS } from '../figures.ts';
import type { CallCost, CostPart } from '../../costs/cost.ts';

/**
 * The tables. Every one begins with the tenant, in rows and keys. Times are whole milliseconds since the Unix epoch, without time zones. Indexes put
 * nulls first as `ORDER BY … DESC` does, so that they can be used for it. Words and personal numbers are in sealed columns only (see seal.ts):
 * erasing a call means destroying its rows of `call_keys`.
 */
export const offhook = pgSchema('offhook');

export const tenant = () => text('tenant_id').notNull();
const callId = () => text('call_id').notNull();
export const wallMs = (name: string) => bigint(name, { mode: 'number' });
/** Sealed bytes. */
export const sealed = customType<{ data: Buffer }>({ dataType: () => 'bytea' });
/** Hashed words: see blind-index.ts. */
const words = (name: string) =>
  bigint(name, { mode: 'bigint' })
    .array()
    .notNull()
    .default(sql`'{}'`);

/**
 * Row-level security: the tenants' role sees the rows of the tenant named by its transaction, and none without a name. The tables' owner, who
 * migrates and sweeps, sees all. See tenancy.ts.
 */
export const ofTenant = () => {
  const named = sql`tenant_id = current_setting('app.tenant', true)`;
  return pgPolicy('of_tenant', { using: named, withCheck: named });
};

export const calls = offhook.table(
  'calls',
  {
    tenantId: tenant(),
    id: text('id').notNull(),
    revision: integer('revision').notNull(),
    botName: text('bot_name').notNull(),
    /** Version of the bot's files when the call began. */
    botVersion: text('bot_version'),
    carrier: text('carrier').notNull(),
    carrierCallId: text('carrier_call_id').notNull(),
    direction: text('direction', { enum: ['inbound', 'outbound'] }).notNull(),
    language: text('language').notNull(),
    startedAtMs: wallMs('started_at_ms').notNull(),
    answeredAtMs: wallMs('answered_at_ms'),
    endedAtMs: wallMs('ended_at_ms'),
    endReason: text('end_reason'),
    recordingPath: text('recording_path'),
    recordingSidecarPath: text('recording_sidecar_path'),
    recordingStartedAtMs: wallMs('recording_started_at_ms'),
    /** Key of the sealed recording in the object store. */
    recordingObject: text('recording_object'),
    /** Current format; null for the original WAV. */
    recordingFormat: text('recording_format', { enum: COMPRESSED_FORMATS }),
    /** Format to convert it to. */
    recordingWanted: text('recording_wanted', { enum: COMPRESSED_FORMATS }),
    turnCount: integer('turn_count').notNull(),
    /** The dialog's steps, oldest first, for path statistics. */
    path: text('path').array(),
    durationMs: wallMs('duration_ms'),
    /** From the caller's last voiced sample to the first frame of the reply, over the turns that a caller waited for. */
    worstReplyMs: wallMs('worst_reply_ms'),
    medianReplyMs: wallMs('median_reply_ms'),
    /** Set for outbound calls; both are erased with the words. */
    campaignId: text('campaign_id'),
    answeredBy: text('answered_by', { enum: ANSWERED_BY }),
    summary: jsonb('summary').notNull(),
    /** What the call counts as in statistics: see `figures.ts`. Null for calls that are not counted. */
    ending: text('ending', { enum: ENDINGS }),
    result: text('result', { enum: RESULTS }),
    answered: boolean('answered').notNull().default(false),
    optedOut: boolean('opted_out').notNull().default(false),
    cutOffs: integer('cut_offs').notNull().default(0),
    notUnderstood: integer('not_understood').notNull().default(0),
    /** In millionths of `cost_currency`, with its analysis; null where a part is unknown. */
    costMicros: bigint('cost_micros', { mode: 'number' }),
    /** Sum of the parts whose cost is known. */
    knownCostMicros: bigint('known_cost_micros', { mode: 'number' }),
    costCurrency: text('cost_currency'),
    /** The call's cost as it ended, with its parts. */
    cost: jsonb('cost').$type<CallCost>(),
    /** Parts from after the call, by job. */
    laterCost: jsonb('later_cost').$type<Record<string, readonly CostPart[]>>(),
    disposition: text('disposition'),
    /** State of the analysis of an ended call. */
    analysisState: text('analysis_state', { enum: ['none', 'pending', 'done', 'failed'] })
      .notNull()
      .default('none'),
    legalHold: boolean('legal_hold').notNull().default(false),
    audioErasedAtMs: wallMs('audio_erased_at_ms'),
    textErasedAtMs: wallMs('text_erased_at_ms'),
    /** Hashes of the caller's or called person's number and of the bot's own. */
    partyHash: text('party_hash'),
    lineHash: text('line_hash'),
    /** Hashes of words that were said, set and noted; and one for each variable with its value. */
    words: words('words'),
    analysisWords: words('analysis_words'),
    /** Numbers, digits and variables. */
    /** Numbers, digits and variables. */
    personal: sealed('personal'),
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.id] }),
    index('calls_recent').on(table.tenantId, table.startedAtMs.desc().nullsFirst(), table.id.desc().nullsFirst()),
    index('calls_by_carrier_id').on(table.tenantId, table.carrier, table.carrierCallId),
    index('calls_by_bot').on(table.tenantId, table.botName, table.startedAtMs.desc().nullsFirst(), table.id.desc().nullsFirst()),
    index('calls_by_disposition').on(
      table.tenantId,
      table.disposition,
      table.startedAtMs.desc().nullsFirst(),
      table.id.desc().nullsFirst(),
    ),
    index('calls_by_party').on(table.tenantId, table.partyHash, table.startedAtMs.desc().nullsFirst()),
    index('calls_by_line').on(table.tenantId, table.lineHash, table.startedAtMs.desc().nullsFirst()),
    index('calls_by_end_reason').on(
      table.tenantId,
      table.endReason,
      table.startedAtMs.desc().nullsFirst(),
      table.id.desc().nullsFirst(),
    ),
    index('calls_by_campaign')
      .on(table.tenantId, table.campaignId, table.startedAtMs.desc().nullsFirst(), table.id.desc().nullsFirst())
      .where(sql`campaign_id IS NOT NULL`),
    index('calls_by_answered_by')
      .on(table.tenantId, table.answeredBy, table.startedAtMs.desc().nullsFirst(), table.id.desc().nullsFirst())
      .where(sql`answered_by IS NOT NULL`),
    index('calls_by_reply')
      .on(table.tenantId, table.worstReplyMs)
      .where(sql`worst_reply_ms IS NOT NULL`),
    index('calls_by_duration').on(table.tenantId, table.durationMs),
    index('calls_by_result').on(
      table.tenantId,
      table.result,
      table.startedAtMs.desc().nullsFirst(),
      table.id.desc().nullsFirst(),
    ),
    index('calls_cut_off')
      .on(table.tenantId, table.startedAtMs.desc().nullsFirst(), table.id.desc().nullsFirst())
      .where(sql`cut_offs > 0`),
    index('calls_not_understood')
      .on(table.tenantId, table.startedAtMs.desc().nullsFirst(), table.id.desc().nullsFirst())
      .where(sql`not_understood > 0`),
    index('calls_by_words').using('gin', table.words),
    index('calls_by_analysis_words').using('gin', table.analysisWords),
    index('calls_to_analyse')
      .on(table.endedAtMs)
      .where(sql`analysis_state = 'pending'`),
    index('calls_to_compress')
      .on(table.endedAtMs)
      .where(sql`recording_wanted IS NOT NULL AND NOT legal_hold`),
    index('calls_with_audio')
      .on(table.botName, table.endedAtMs)
      .where(sql`audio_erased_at_ms IS NULL AND NOT legal_hold`),
    index('calls_with_text')
      .on(table.botName, table.endedAtMs)
      .where(sql`text_erased_at_ms IS NULL AND NOT legal_hold`),
    ofTenant(),
  ],
);

export const legs = offhook.table(
  'legs',
  {
    tenantId: tenant(),
    callId: callId(),
    index: integer('index').notNull(),
    id: text('id').notNull(),
    startedAtMs: wallMs('started_at_ms').notNull(),
    endedAtMs: wallMs('ended_at_ms'),
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.callId, table.id] }),
    foreignKey({ columns: [table.tenantId, table.callId], foreignColumns: [calls.tenantId, calls.id] }).onDelete('cascade'),
    ofTenant(),
  ],
);

export const attachments = offhook.table(
  'attachments',
  {
    tenantId: tenant(),
    callId: callId(),
    legId: text('leg_id').notNull(),
    index: integer('index').notNull(),
    id: text('id').notNull(),
    streamId: text('stream_id').notNull(),
    startedAtMs: wallMs('started_at_ms').notNull(),
    endedAtMs: wallMs('ended_at_ms'),
    endReason: text('end_reason'),
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.callId, table.id] }),
    foreignKey({ columns: [table.tenantId, table.callId], foreignColumns: [calls.tenantId, calls.id] }).onDelete('cascade'),
    ofTenant(),
  ],
);

export const turns = offhook.table(
  'turns',
  {
    tenantId: tenant(),
    callId: callId(),
    index: integer('index').notNull(),
    inputKind: text('input_kind', { enum: ['start', 'spoken', 'keyed', 'no-input', 'tool-result', 'transfer'] }).notNull(),
    interrupted: boolean('interrupted').notNull(),
    latencies: jsonb('latencies').notNull(),
    startedAtMs: wallMs('started_at_ms').notNull(),
    botStartedAtMs: wallMs('bot_started_at_ms'),
    botEndedAtMs: wallMs('bot_ended_at_ms'),
    /** The caller's words, the bot's intended words, and their heard part. */
    personal: sealed('personal'),
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.callId, table.index] }),
    foreignKey({ columns: [table.tenantId, table.callId], foreignColumns: [calls.tenantId, calls.id] }).onDelete('cascade'),
    ofTenant(),
  ],
);

/** A call's timeline in one row: only read as a whole. */
export const events = offhook.table(
  'events',
  { tenantId: tenant(), callId: callId(), count: integer('count').notNull(), timeline: sealed('timeline').notNull() },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.callId] }),
    foreignKey({ columns: [table.tenantId, table.callId], foreignColumns: [calls.tenantId, calls.id] }).onDelete('cascade'),
    ofTenant(),
  ],
);

export const analyses = offhook.table(
  'analyses',
  {
    tenantId: tenant(),
    callId: callId(),
    profile: text('profile').notNull().default('default'),
    version: integer('version').notNull(),
    createdAtMs: wallMs('created_at_ms').notNull(),
    disposition: text('disposition'),
    score: doublePrecision('score'),
    sealedDocument: sealed('sealed_document'),
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.callId, table.profile, table.version] }),
    index('analyses_recent').on(table.tenantId, table.createdAtMs.desc().nullsFirst(), table.callId.desc().nullsFirst()),
    foreignKey({ columns: [table.tenantId, table.callId], foreignColumns: [calls.tenantId, calls.id] }).onDelete('cascade'),
    ofTenant(),
  ],
);

/** The keys of a call, one for words and one for sound, sealed under the master key. Destroying a key destroys everything sealed under it. */
export const callKeys = offhook.table(
  'call_keys',
  {
    tenantId: tenant(),
    callId: callId(),
    kind: text('kind', { enum: ['text', 'audio'] }).notNull(),
    wrapped: sealed('wrapped').notNull(),
  },
  (table) => [primaryKey({ columns: [table.tenantId, table.callId, table.kind] }), ofTenant()],
);

/** The key for hashing a tenant's words and numbers, sealed under the master key. */
export const tenantKeys = offhook.table(
  'tenant_keys',
  { tenantId: text('tenant_id').primaryKey(), wrapped: sealed('wrapped').notNull() },
  () => [ofTenant()],
);

/** Erased calls, of which nothing is written again, including late copies. */
export const erasures = offhook.table(
  'erasures',
  { tenantId: tenant(), callId: callId(), erasedAtMs: wallMs('erased_at_ms').notNull() },
  (table) => [primaryKey({ columns: [table.tenantId, table.callId] }), ofTenant()],
);

/** A delivery of one event to one endpoint. */
export const webhookDeliveries = offhook.table(
  'webhook_deliveries',
  {
    tenantId: tenant(),
    /** The `webhook-id`: the same for every try. */
    id: text('id').notNull(),
    callId: callId(),
    endpoint: text('endpoint').notNull(),
    type: text('type').notNull(),
    state: text('state', { enum: ['pending', 'delivered', 'failed'] }).notNull(),
    attempts: integer('attempts').notNull(),
    /** The last answer's status, and why it was no success. */
    status: integer('status'),
    reason: text('reason'),
    createdAtMs: wallMs('created_at_ms').notNull(),
    updatedAtMs: wallMs('updated_at_ms').notNull(),
    body: sealed('body').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.id] }),
    index('webhook_deliveries_recent').on(table.tenantId, table.createdAtMs.desc().nullsFirst(), table.id.desc().nullsFirst()),
    index('webhook_deliveries_of_call').on(table.tenantId, table.callId),
    index('webhook_deliveries_pending')
      .on(table.updatedAtMs)
      .where(sql`state = 'pending'`),
    ofTenant(),
  ],
);

/** Answers to requests with an idempotency key, for the key's life: ids and states, nothing personal. */
export const idempotencyKeys = offhook.table(
  'idempotency_keys',
  {
    tenantId: tenant(),
    /** A hash of the key and its client. */
    key: text('key').notNull(),
    /** The call concerned; the row is removed with its erasure. */
    callId: text('call_id'),
    /** A hash of method, address, body and scopes. */
    fingerprint: text('fingerprint').notNull(),
    createdAtMs: wallMs('created_at_ms').notNull(),
    /** Null while the first request is still being served. */
    status: integer('status'),
    location: text('location'),
    answer: jsonb('answer'),
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.key] }),
    index('idempotency_keys_old').on(table.createdAtMs),
    index('idempotency_keys_call')
      .on(table.tenantId, table.callId)
      .where(sql`call_id IS NOT NULL`),
    ofTenant(),
  ],
);

/** API keys of several machines, as hashes. Looked up before the tenant is known. */
export const apiKeys = offhook.table(
  'api_keys',
  {
    tenantId: tenant(),
    id: text('id').primaryKey(),
    name: text('name').notNull(),
    scopes: text('scopes').array().notNull(),
    hash: text('hash').notNull().unique(),
    createdAtMs: wallMs('created_at_ms').notNull(),
  },
  () => [ofTenant()],
);

/** People who were added to the console. */
export const members = offhook.table(
  'members',
  {
    tenantId: tenant(),
    id: text('id').notNull(),
    name: text('name').notNull(),
    role: text('role', { enum: ROLES }).notNull(),
    createdBy: text('created_by').notNull(),
    createdAtMs: wallMs('created_at_ms').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.id] }),
    uniqueIndex('members_by_name').on(table.tenantId, sql`lower(name)`),
    ofTenant(),
  ],
);
