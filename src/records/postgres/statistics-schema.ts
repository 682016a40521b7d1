import { bigint, index, integer, jsonb, primaryKey, text } from 'drizzle-orm/pg-core';
import { ENDINGS } from '../../call/log/outcome.ts';
import { BUCKETS } from '../reply-times.ts';
import { offhook, ofTenant, sealed, tenant, wallMs } from './schema.ts';

const count = (name: string) => integer(name).notNull().default(0);
const named = <Column>(names: readonly string[], column: (name: string) => Column): Record<string, Column> =>
  Object.fromEntries(names.map((name) => [name, column(name)]));

/** Columns with the number of replies in each bucket of `reply-times.ts`: sums of columns are quicker than sums over arrays. */
export const BUCKET_COLUMNS: readonly string[] = Array.from({ length: BUCKETS }, (_, at) => `replies_${at}`);
/** Columns with the number of calls of each ending. */
export const ENDING_COLUMNS: readonly string[] = ENDINGS.map((ending) => `ended_${ending.replaceAll('-', '_')}`);

/** Columns that are summed, without cost. */
export const FIGURE_COLUMNS = [
  'calls',
  'answered',
  'contained',
  'transferred',
  'given_up',
  'opted_out',
  'cut_off_calls',
  'cut_offs',
  'not_understood_calls',
  'not_understood',
  'duration_s',
] as const;

/**
 * Figures of a bot's calls that began in one quarter of an hour: no zone's hours or days begin elsewhere. Recomputed from the calls, never added to.
 */
export const rollups = offhook.table(
  'rollups',
  {
    tenantId: tenant(),
    slotMs: wallMs('slot_ms').notNull(),
    botName: text('bot_name').notNull(),
    /** Empty for calls without one. */
    botVersion: text('bot_version').notNull(),
    direction: text('direction', { enum: ['inbound', 'outbound'] }).notNull(),
    /** Of the cost; empty for calls without one. */
    currency: text('currency').notNull(),
    costMicros: wallMs('cost_micros').notNull().default(0),
    ...named(FIGURE_COLUMNS, count),
    ...named(ENDING_COLUMNS, count),
    ...named(BUCKET_COLUMNS, count),
    /** Calls by disposition, those without one left out; null where there are none. */
    dispositions: jsonb('dispositions'),
  },
  (table) => [
    primaryKey({
      name: 'rollups_pk',
      columns: [table.tenantId, table.slotMs, table.botName, table.botVersion, table.direction, table.currency],
    }),
    ofTenant(),
  ],
);

/** Quarters of an hour whose figures are to be computed again: a row for each change of a call, so that no two writers wait for each other. */
export const staleSlots = offhook.table(
  'stale_slots',
  {
    id: bigint('id', { mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    tenantId: tenant(),
    slotMs: wallMs('slot_ms').notNull(),
  },
  (table) => [index('stale_slots_of_tenant').on(table.tenantId, table.slotMs), ofTenant()],
);

/** Calls that deserve a look, and what people noted about any call. */
export const reviews = offhook.table(
  'reviews',
  {
    tenantId: tenant(),
    callId: text('call_id').notNull(),
    startedAtMs: wallMs('started_at_ms').notNull(),
    botName: text('bot_name').notNull(),
    /** What was found, most urgent first: `{reason, atMs, turn}`; those of an analysis come with it. */
    found: jsonb('found').notNull(),
    judged: jsonb('judged').notNull(),
    /** Names of all of them. */
    reasons: text('reasons').array().notNull(),
    state: text('state', { enum: ['open', 'done'] }).notNull(),
    labels: text('labels').array().notNull(),
    assignee: text('assignee'),
    changedBy: text('changed_by'),
    changedAtMs: wallMs('changed_at_ms'),
  },
  (table) => [
    primaryKey({ columns: [table.tenantId, table.callId] }),
    index('reviews_recent').on(
      table.tenantId,
      table.state,
      table.startedAtMs.desc().nullsFirst(),
      table.callId.desc().nullsFirst(),
    ),
    index('reviews_by_reason').using('gin', table.reasons),
    ofTenant(),
  ],
);

/** Comments on calls, sealed as the calls' words are. */
export const comments = offhook.table(
  'comments',
  {
    tenantId: tenant(),
    callId: text('call_id').notNull(),
    id: text('id').notNull(),
    by: text('by').notNull(),
    atMs: wallMs('at_ms').notNull(),
    personal: sealed('personal').notNull(),
  },
  (table) => [primaryKey({ columns: [table.tenantId, table.callId, table.id] }), ofTenant()],
);
