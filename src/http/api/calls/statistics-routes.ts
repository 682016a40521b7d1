import { Readable } from 'node:stream';
import { z } from 'zod';
import { isTimeZone } from '../../../config/time-zone.ts';
import { csvLines } from '../../../records/analysis/table.ts';
import { periodStarts } from '../../../records/periods.ts';
import type { CountedCalls } from '../../../records/statistics.ts';
import { RequestRefused } from '../../problem.ts';
import { about, type ApiApp, type ApiDeps } from '../api-app.ts';
import { isoTime } from '../views.ts';
import {
  changesAmong,
  type Group,
  GROUPS,
  statisticsView,
  type StatisticsView,
  tableOf,
  viewOfFigures,
  viewOfPeriods,
  viewOfVersion,
} from './statistics-views.ts';

const DAY_MS = 86_400_000;
const BY_DEFAULT_MS = 7 * DAY_MS;
const MOST_MS = 366 * DAY_MS;
const MOST_BY_HOUR_MS = 32 * DAY_MS;
/** Versions of these days are compared. */
const CHANGES_MS = 30 * DAY_MS;

const time = z.iso.datetime({ offset: true });
const asked = z.strictObject({
  /** Start of the calls, from (included) to (excluded); the last seven days where absent, at most 366. */
  from: time.optional(),
  to: time.optional(),
  /** Also counts the period of the same length that begins here. */
  before: time.optional(),
  bot: z.string().min(1).max(100).optional(),
  version: z.string().min(1).max(64).optional(),
  /** Several with commas between. */
  by: z
    .string()
    .max(100)
    .transform((text) => text.split(','))
    .pipe(z.array(z.enum(GROUPS)).max(GROUPS.length))
    .default([]),
  /** IANA name of the time zone of hours and days. */
  zone: z.string().max(100).refine(isTimeZone, 'not the name of a time zone, such as Asia/Kolkata').default('UTC'),
  format: z.enum(['json', 'csv']).optional(),
});

/** Figures of calls, from the store's rollups. */
export function statisticsRoutes(app: ApiApp, { store, clock }: ApiDeps): void {
  app.get(
    '/statistics',
    about('bots:read', 'Figures of calls: how many, what became of them, how long callers waited; by hour, day, version or bot', {
      querystring: asked,
      response: { 200: { content: { 'application/json': { schema: statisticsView }, 'text/csv': { schema: z.unknown() } } } },
    }),
    async ({ principal: { tenantId }, query, headers }, reply) => {
      const { by, zone, before } = query;
      const calls = rangeOf(query, clock.wallMs());
      const isTable = query.format === 'csv' || (query.format === undefined && headers.accept?.startsWith('text/csv') === true);
      if (isTable && by.length > 1) throw new RequestRefused(400, 'A table has one group: give `by` one name.');
      const wants = (group: Group): boolean => by.includes(group);
      const { statistics } = store;
      const periods = async (each: 'hour' | 'day') => {
        const startsMs = periodStarts(calls.fromMs, calls.toMs, each, zone);
        return viewOfPeriods(await statistics.figuresByPeriod(tenantId, calls, startsMs), startsMs, calls.toMs, zone);
      };
      const groups = (group: 'bot' | 'version', range: CountedCalls = calls) => statistics.figuresByBot(tenantId, range, group);
      const answer: StatisticsView = {
        from: isoTime(calls.fromMs),
        to: isoTime(calls.toMs),
        zone,
        total: viewOfFigures(await statistics.figures(tenantId, calls)),
        before: before === undefined ? null : viewOfFigures(await statistics.figures(tenantId, rangeBefore(calls, before))),
        hours: wants('hour') ? (await periods('hour')).map(({ day: _day, ...hour }) => hour) : null,
        days: wants('day') ? await periods('day') : null,
        versions: wants('version') ? (await groups('version')).map(viewOfVersion) : null,
        bots: wants('bot') ? (await groups('bot')).map((group) => ({ bot: group.botName, ...viewOfFigures(group) })) : null,
        dispositions: wants('disposition')
          ? (await statistics.dispositions(tenantId, calls)).map(({ disposition, calls: some }) => ({
              disposition: disposition ?? null,
              calls: some,
            }))
          : null,
        changes: wants('change')
          ? changesAmong(await groups('version', { botName: calls.botName, fromMs: calls.toMs - CHANGES_MS, toMs: calls.toMs }))
          : null,
      };
      if (!isTable) return reply.type('application/json; charset=utf-8').send(answer);
      return reply
        .type('text/csv; charset=utf-8; header=present')
        .header('content-disposition', 'attachment; filename="statistics.csv"')
        .send(Readable.from([csvLines(tableOf(answer, by[0]))]));
    },
  );
}

/** @throws RequestRefused 400 */
function rangeOf({ from, to, bot, version, by }: z.output<typeof asked>, nowMs: number): CountedCalls {
  const toMs = to === undefined ? nowMs + 1 : Date.parse(to);
  const fromMs = from === undefined ? toMs - BY_DEFAULT_MS : Date.parse(from);
  if (fromMs >= toMs) throw new RequestRefused(400, 'from must be before to.');
  if (toMs - fromMs > MOST_MS) throw new RequestRefused(400, 'from and to may be 366 days apart at most.');
  if (by.includes('hour') && toMs - fromMs > MOST_BY_HOUR_MS)
    throw new RequestRefused(400, 'from and to may be 32 days apart at most where hours are asked for.');
  return { botName: bot, botVersion: version, fromMs, toMs };
}

function rangeBefore(calls: CountedCalls, before: string): CountedCalls {
  const fromMs = Date.parse(before);
  return { ...calls, fromMs, toMs: fromMs + calls.toMs - calls.fromMs };
}
