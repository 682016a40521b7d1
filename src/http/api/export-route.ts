import { Readable } from 'node:stream';
import { z } from 'zod';
import { csvLines } from '../../jobs/analysis/table.ts';
import type { ApiDeps } from './api-deps.ts';
import type { Principal } from './api-route.ts';
import { type ApiRoute, apiRoute } from './api-route.ts';
import { callFilters, searchOf } from './call-filters.ts';
import { callSummaryView, summaryView } from './call-views.ts';

const PAGE = 200;
type Row = z.output<typeof callSummaryView>;
const COLUMNS = callSummaryView.keyof().options;

/** All calls of a search, streamed page by page, whatever their number. */
export function exportRoute({ store }: ApiDeps): ApiRoute {
  return apiRoute({
    path: '/calls/export',
    scope: 'calls:read',
    summary: 'All calls of a search as CSV or JSONL, streamed',
    params: z.strictObject({}),
    query: callFilters.extend({ format: z.enum(['csv', 'jsonl']).default('jsonl') }),
    contentType: 'application/x-ndjson',
    async serve({ key, query: { format, ...asked }, signal }, reply) {
      const pages = summaries(key);
      const type = format === 'csv' ? 'text/csv; charset=utf-8; header=present' : 'application/x-ndjson';
      return reply
        .type(type)
        .header('content-disposition', `attachment; filename="calls.${format}"`)
        .send(Readable.from(format === 'csv' ? csvOf(pages) : jsonlOf(pages)));

      async function* summaries(owner: Principal): AsyncIterable<Row[]> {
        let before: string | undefined;
        do {
          signal.throwIfAborted();
          const page = await store.calls.search(owner.tenantId, { ...searchOf(asked), limit: PAGE, before });
          yield page.calls.map((call) => summaryView(call, owner));
          before = page.next;
        } while (before !== undefined);
      }
    },
  });
}

async function* jsonlOf(pages: AsyncIterable<Row[]>): AsyncIterable<string> {
  for await (const page of pages) yield page.map((row) => `${JSON.stringify(row)}\n`).join('');
}

async function* csvOf(pages: AsyncIterable<Row[]>): AsyncIterable<string> {
  yield csvLines([COLUMNS]);
  for await (const page of pages) yield csvLines(page.map((row) => COLUMNS.map((column) => cellOf(row[column]))));
}

/** Variables are a JSON object, notes a line each. */
function cellOf(value: Row[keyof Row]): string {
  if (Array.isArray(value)) return value.join('\n');
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value ?? '');
}
