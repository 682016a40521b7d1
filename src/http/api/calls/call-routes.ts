import { Readable } from 'node:stream';
import { z } from 'zod';
import { RECORDING_TYPES } from '../../../audio/recording-format.ts';
import { ANSWERED_BY } from '../../../config/answered-by.ts';
import { REASONS } from '../../../records/attention.ts';
import { RESULTS } from '../../../records/figures.ts';
import { csvLines } from '../../../records/analysis/table.ts';
import type { CallQuery } from '../../../records/port.ts';
import { RequestRefused } from '../../problem.ts';
import { about, type ApiApp, type ApiDeps } from '../api-app.ts';
import {
  callCountView,
  callPageView,
  callSummaryView,
  callView,
  detailView,
  dialledView,
  refuseNumberSearch,
  summaryView,
} from './call-views.ts';

const callId = z.strictObject({ callId: z.string().min(1).max(200) });

const milliseconds = z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER);
const variable = z
  .string()
  .max(1000)
  .regex(/^[^:]+:[^]/u, 'write name:value');

const isTrue = z.enum(['true', 'false']).transform((text) => text === 'true');

/** Search filters of calls; all given ones must match. */
const callFilters = z.strictObject({
  number: z.string().min(1).max(100).optional(),
  bot: z.string().min(1).max(100).optional(),
  /** Version of the bot's files, and the language in which the call ended. */
  version: z.string().min(1).max(64).optional(),
  language: z.string().min(1).max(35).optional(),
  carrier: z.string().min(1).max(100).optional(),
  direction: z.enum(['inbound', 'outbound']).optional(),
  /** Start of the call, from (included) and to (excluded). */
  from: z.iso.datetime({ offset: true }).optional(),
  to: z.iso.datetime({ offset: true }).optional(),
  /** Whole words, all required. */
  text: z.string().min(1).max(500).optional(),
  disposition: z.string().min(1).max(100).optional(),
  endReason: z.string().min(1).max(100).optional(),
  /** Outbound calls of this campaign. */
  campaign: z.string().min(1).max(200).optional(),
  answeredBy: z.enum(ANSWERED_BY).optional(),
  /** What became of the call, and whether a person answered, as in statistics. */
  result: z.enum(RESULTS).optional(),
  answered: isTrue.optional(),
  optedOut: isTrue.optional(),
  /** Whether the caller interrupted the bot; whether the bot spoke into the caller's words; whether it did not understand a turn. */
  interrupted: isTrue.optional(),
  cutOff: isTrue.optional(),
  notUnderstood: isTrue.optional(),
  /** Calls that deserve a look for this reason. */
  attention: z.enum(REASONS).optional(),
  /** Both ends included; calls that go on have no duration. */
  minDurationMs: milliseconds.optional(),
  maxDurationMs: milliseconds.optional(),
  /** Longest wait for a reply in a call, both ends included. */
  minReplyMs: milliseconds.optional(),
  maxReplyMs: milliseconds.optional(),
  /** Least known cost, in whole units of the currency. */
  minCost: z.coerce.number().min(0).max(1_000_000).optional(),
  /** `name:value`, repeatable; matches the whole value, in any case. */
  variable: z
    .union([variable, z.array(variable).max(10)])
    .transform((given) => (typeof given === 'string' ? [given] : given))
    .optional(),
});
const listQuery = callFilters.extend({
  limit: z.coerce.number().int().min(1).max(200).default(50),
  cursor: z.string().max(500).optional(),
});

const MICROS = 1_000_000;
/** More calls than this are not counted. */
const MOST_COUNTED = 50_000;

/** Calls of an export read at once. */
const PAGE = 200;
type Row = z.output<typeof callSummaryView>;
const COLUMNS = callSummaryView.keyof().options;
/** For answers other than JSON. */
const bytes = { schema: z.unknown() };
const recordingAnswer = { content: Object.fromEntries(Object.values(RECORDING_TYPES).map((type) => [type, bytes])) };

export function callRoutes(app: ApiApp, { store, recordings }: ApiDeps): void {
  const found = async (tenantId: string, id: string) => {
    const call = await store.calls.get(tenantId, id);
    if (call === undefined) throw new RequestRefused(404, 'There is no such call.');
    return call;
  };
  app.get(
    '/calls',
    about('calls:read', 'List and search calls, newest first', { querystring: listQuery, response: { 200: callPageView } }),
    async ({ principal, query: { limit, cursor, ...asked } }) => {
      refuseNumberSearch(principal, asked);
      const page = await store.calls.search(principal.tenantId, { ...searchOf(asked), limit, before: cursor });
      return { calls: page.calls.map((call) => summaryView(call, principal)), next: page.next ?? null };
    },
  );
  app.get(
    '/calls/count',
    about('calls:read', 'How many calls a search finds', { querystring: callFilters, response: { 200: callCountView } }),
    async ({ principal, query: asked }) => {
      refuseNumberSearch(principal, asked);
      const count = await store.calls.count(principal.tenantId, searchOf(asked), MOST_COUNTED);
      return { count, more: count === MOST_COUNTED };
    },
  );
  app.get(
    '/calls/export',
    about('calls:read', 'All calls of a search as CSV or JSONL, streamed', {
      querystring: callFilters.extend({ format: z.enum(['csv', 'jsonl']).default('jsonl') }),
      response: { 200: { content: { 'application/x-ndjson': bytes, 'text/csv': bytes } } },
    }),
    async ({ principal, query: { format, ...asked }, signal }, reply) => {
      refuseNumberSearch(principal, asked);
      const type = format === 'csv' ? 'text/csv; charset=utf-8; header=present' : 'application/x-ndjson';
      return reply
        .type(type)
        .header('content-disposition', `attachment; filename="calls.${format}"`)
        .send(Readable.from(format === 'csv' ? csvOf(pages()) : jsonlOf(pages())));

      async function* pages(): AsyncIterable<Row[]> {
        let before: string | undefined;
        do {
          signal.throwIfAborted();
          const page = await store.calls.search(principal.tenantId, { ...searchOf(asked), limit: PAGE, before });
          yield page.calls.map((call) => summaryView(call, principal));
          before = page.next;
        } while (before !== undefined);
      }
    },
  );
  app.get(
    '/calls/:callId',
    about('calls:read', 'One call with its turns and its timeline', { params: callId, response: { 200: callView } }),
    async ({ principal, params: { callId: id } }) => {
      const { tenantId } = principal;
      const call = await store.calls.get(tenantId, id);
      const attempt = call?.direction === 'inbound' ? undefined : await store.attempts.get(tenantId, id);
      if (call !== undefined) return detailView(call, principal, attempt);
      if (attempt === undefined) throw new RequestRefused(404, 'There is no such call.');
      return dialledView(attempt, principal);
    },
  );
  app.get(
    '/calls/:callId/audio',
    about('recordings:read', 'The recording as WAV, or what it was turned into after the call, or a range of it', {
      params: callId,
      response: { 200: recordingAnswer, 206: recordingAnswer },
    }),
    async ({ principal, params, headers, signal }, reply) => {
      const call = await found(principal.tenantId, params.callId);
      const recording = await recordings.open(call);
      if (recording === undefined) throw new RequestRefused(404, 'The call has no recording.');
      const { bytes: size } = recording;
      const format = call.keeping.recordingFormat;
      // A player that continues after the recording was compressed must not mix both files.
      const etag = `"${format}-${size}"`;
      const isSame = (headers['if-range'] ?? etag) === etag;
      const range = isSame ? byteRange(headers['range'], size) : undefined;
      if (range === 'unsatisfiable') {
        reply.header('content-range', `bytes */${size}`);
        throw new RequestRefused(416, `The recording has ${size} bytes, and none of them were asked for.`);
      }
      reply.header('accept-ranges', 'bytes').header('cache-control', 'private, no-store').header('etag', etag);
      reply.type(RECORDING_TYPES[format]);
      const { start, end } = range ?? { start: 0, end: size };
      if (range !== undefined) reply.code(206).header('content-range', `bytes ${start}-${end - 1}/${size}`);
      return reply.header('content-length', end - start).send(Readable.from(recording.read(start, end, signal)));
    },
  );
}

/** Translates filters to the store's query. */
function searchOf(asked: z.output<typeof callFilters>): Omit<CallQuery, 'limit' | 'before'> {
  const { bot, version, campaign, from, to, minCost, variable: named, ...rest } = asked;
  return {
    ...rest,
    botName: bot,
    botVersion: version,
    campaignId: campaign,
    variables: named?.map((each) => [each.slice(0, each.indexOf(':')), each.slice(each.indexOf(':') + 1)] as const),
    fromMs: from === undefined ? undefined : Date.parse(from),
    toMs: to === undefined ? undefined : Date.parse(to),
    minCostMicros: minCost === undefined ? undefined : Math.round(minCost * MICROS),
  };
}

async function* jsonlOf(pages: AsyncIterable<Row[]>): AsyncIterable<string> {
  for await (const page of pages) yield page.map((row) => `${JSON.stringify(row)}\n`).join('');
}

async function* csvOf(pages: AsyncIterable<Row[]>): AsyncIterable<string> {
  yield csvLines([COLUMNS]);
  for await (const page of pages) yield csvLines(page.map((row) => COLUMNS.map((column) => cellOf(row[column]))));
}

/** Variables are a JSON object, notes one line each. */
function cellOf(value: Row[keyof Row]): string {
  if (Array.isArray(value)) return value.join('\n');
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value ?? '');
}

/** Byte range of a file. */
interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * Parses a `Range` header (RFC 9110, section 14).
 * @returns undefined for the whole file: without a header, or for an invalid one, another unit, or several ranges, which need not be obeyed;
 * `unsatisfiable` for an empty range
 */
function byteRange(header: string | undefined, bytes: number): ByteRange | 'unsatisfiable' | undefined {
  const match = /^bytes=(\d*)-(\d*)$/u.exec(header?.trim() ?? '');
  const [, first = '', last = ''] = match ?? [];
  if (match === null || (first === '' && last === '')) return undefined;
  if (first === '') {
    const length = Math.min(Number(last), bytes);
    return length === 0 ? 'unsatisfiable' : { start: bytes - length, end: bytes };
  }
  const start = Number(first);
  const end = last === '' ? bytes : Math.min(Number(last) + 1, bytes);
  // A range that ends before it begins is invalid.
  if (last !== '' && Number(last) < start) return undefined;
  return start >= bytes ? 'unsatisfiable' : { start, end };
}
