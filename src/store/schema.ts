import { bigint, boolean, foreignKey, index, integer, jsonb, pgSchema, primaryKey, text } from 'drizzle-orm/pg-core';

/**
 * The tables. Every one begins with the tenant, in its rows and in its keys. Times are whole milliseconds since the Unix
 * epoch, as everywhere else here: no time zone to get wrong on the way.
 */
export const offhook = pgSchema('offhook');

const tenant = () => text('tenant_id').notNull();
const wallMs = (name: string) => bigint(name, { mode: 'number' });

export const calls = offhook.table(
  'calls',
  {
    tenantId: tenant(),
    id: text('id').notNull(),
    revision: integer('revision').notNull(),
    botName: text('bot_name').notNull(),
    carrier: text('carrier').notNull(),
    carrierCallId: text('carrier_call_id').notNull(),
    from: text('from_number').notNull(),
    to: text('to_number').notNull(),
    direction: text('direction', { enum: ['inbound', 'outbound'] }).notNull(),
    language: text('language').notNull(),
    startedAtMs: wallMs('started_at_ms').notNull(),
    answeredAtMs: wallMs('answered_at_ms'),
    endedAtMs: wallMs('ended_at_ms'),
    endReason: text('end_reason'),
    digits: text('digits').notNull(),
    recordingPath: text('recording_path'),
    recordingSidecarPath: text('recording_sidecar_path'),
    recordingStartedAtMs: wallMs('recording_started_at_ms'),
    turnCount: integer('turn_count').notNull(),
    summary: jsonb('summary').notNull(),
    timeline: jsonb('timeline').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.id] }),
    index('calls_recent').on(table.tenantId, table.startedAtMs.desc(), table.id.desc()),
    index('calls_by_carrier_id').on(table.tenantId, table.carrier, table.carrierCallId),
  ],
);

const callId = () => text('call_id').notNull();

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
  ],
);

export const turns = offhook.table(
  'turns',
  {
    tenantId: tenant(),
    callId: callId(),
    index: integer('index').notNull(),
    inputKind: text('input_kind', { enum: ['start', 'spoken', 'keyed', 'no-input'] }).notNull(),
    callerText: text('caller_text').notNull(),
    botText: text('bot_text').notNull(),
    botHeardText: text('bot_heard_text').notNull(),
    interrupted: boolean('interrupted').notNull(),
    latencies: jsonb('latencies').notNull(),
    startedAtMs: wallMs('started_at_ms').notNull(),
    botStartedAtMs: wallMs('bot_started_at_ms'),
    botEndedAtMs: wallMs('bot_ended_at_ms'),
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.callId, table.index] }),
    foreignKey({ columns: [table.tenantId, table.callId], foreignColumns: [calls.tenantId, calls.id] }).onDelete('cascade'),
  ],
);

export const analyses = offhook.table(
  'analyses',
  {
    tenantId: tenant(),
    callId: callId(),
    version: integer('version').notNull(),
    createdAtMs: wallMs('created_at_ms').notNull(),
    document: jsonb('document').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.callId, table.version] }),
    foreignKey({ columns: [table.tenantId, table.callId], foreignColumns: [calls.tenantId, calls.id] }).onDelete('cascade'),
  ],
);
