import { type InferSelectModel, and, asc, eq, inArray, sql } from 'drizzle-orm';
import { z } from 'zod';
import type { Suppression, SuppressionEntry, SuppressionRepository } from '../dialling.ts';
import type { BlindIndex } from '../privacy/blind-index.ts';
import { storable } from '../storable.ts';
import type { CallKeys } from './call-keys.ts';
import { checkLimit, readCursor, writeCursor } from './cursor.ts';
import { suppressionLists, suppressions } from './dialling-schema.ts';
import { insertRows } from './insert-rows.ts';
import { type Session, type Tenancy, inStoreErrors } from './tenancy.ts';

const MAX_PAGE = 1000;

const personalEntry = z.object({ number: z.string(), note: z.string().optional() });

type Row = InferSelectModel<typeof suppressions>;
type Addition = SuppressionEntry & { readonly number: string };

export class PostgresSuppressions implements SuppressionRepository {
  readonly #tenancy: Tenancy;
  readonly #keys: CallKeys;

  constructor(tenancy: Tenancy, keys: CallKeys) {
    this.#tenancy = tenancy;
    this.#keys = keys;
  }

  async add(tenantId: string, entries: readonly Addition[]): Promise<number> {
    const index = await inStoreErrors(this.#keys.index(tenantId));
    // In one order, to avoid deadlocks between writers of the same numbers.
    const rows = [...this.#merged(tenantId, entries, index)].sort(([one], [other]) => (one < other ? -1 : 1));
    const written = await inStoreErrors(
      this.#tenancy.ask(tenantId, (session) =>
        insertRows(
          session,
          suppressions,
          rows.map(([, row]) => row),
          // An opt-out in a call outranks earlier entries; an erased number is not written again.
          sql`ON CONFLICT (tenant_id, number_hash, list) DO UPDATE SET
            added_at_ms = LEAST(suppressions.added_at_ms, excluded.added_at_ms),
            until_ms = CASE WHEN suppressions.until_ms IS NULL OR excluded.until_ms IS NULL THEN NULL ELSE GREATEST(suppressions.until_ms, excluded.until_ms) END,
            source = CASE WHEN excluded.source = 'caller' THEN excluded.source ELSE suppressions.source END,
            call_id = CASE WHEN excluded.source = 'caller' THEN excluded.call_id ELSE suppressions.call_id END,
            personal = CASE WHEN suppressions.erased_at_ms IS NULL THEN excluded.personal END
            RETURNING (xmax = 0) AS inserted`,
        ),
      ),
    );
    return written.filter(({ inserted }) => inserted === true).length;
  }

  /** Rows by key, merging entries of the same number and list. */
  #merged(tenantId: string, entries: readonly Addition[], index: BlindIndex): Map<string, typeof suppressions.$inferInsert> {
    const rows = new Map<string, typeof suppressions.$inferInsert>();
    for (const { number, list, addedAtMs, untilMs = null, source, callId, note } of entries) {
      const numberHash = hashOf(index, number);
      const key = JSON.stringify([numberHash, list]);
      const known = rows.get(key);
      const until = known?.untilMs === null || untilMs === null ? null : Math.max(known?.untilMs ?? 0, untilMs);
      rows.set(key, {
        tenantId,
        numberHash,
        list,
        addedAtMs: Math.round(Math.min(known?.addedAtMs ?? Infinity, addedAtMs)),
        untilMs: until === null ? null : Math.round(until),
        source: String(storable(source)),
        callId: callId ?? known?.callId ?? null,
        erasedAtMs: null,
        personal: this.#keys.sealEntry(entryName(tenantId, { list, numberHash }), { number, note }),
      });
    }
    return rows;
  }

  async remove(tenantId: string, list: string, number: string): Promise<boolean> {
    const numberHash = hashOf(await inStoreErrors(this.#keys.index(tenantId)), number);
    const removed = await inStoreErrors(
      this.#tenancy.ask(tenantId, (session) =>
        session
          .delete(suppressions)
          .where(and(eq(suppressions.tenantId, tenantId), eq(suppressions.numberHash, numberHash), eq(suppressions.list, list)))
          .returning({ list: suppressions.list }),
      ),
    );
    return removed.length > 0;
  }

  async of(tenantId: string, number: string): Promise<readonly SuppressionEntry[]> {
    const numberHash = hashOf(await inStoreErrors(this.#keys.index(tenantId)), number);
    const rows = await inStoreErrors(
      this.#tenancy.ask(tenantId, (session) =>
        session
          .select()
          .from(suppressions)
          .where(and(eq(suppressions.tenantId, tenantId), eq(suppressions.numberHash, numberHash)))
          .orderBy(asc(suppressions.addedAtMs), asc(suppressions.list)),
      ),
    );
    return rows.map((row) => this.#entryOf(row));
  }

  async page(
    tenantId: string,
    query: Parameters<SuppressionRepository['page']>[1],
  ): Promise<{ entries: readonly SuppressionEntry[]; next: string | undefined }> {
    const { list, limit } = query;
    checkLimit(limit, MAX_PAGE);
    const after = readCursor(query.after);
    const rows = await inStoreErrors(
      this.#tenancy.ask(tenantId, (session) =>
        session
          .select()
          .from(suppressions)
          .where(
            and(
              eq(suppressions.tenantId, tenantId),
              list === undefined ? undefined : eq(suppressions.list, list),
              after === undefined
                ? undefined
                : sql`(${suppressions.addedAtMs}, ${suppressions.numberHash}, ${suppressions.list}) > (${after[0]}, ${after[1]}, ${after[2] ?? ''})`,
            ),
          )
          .orderBy(asc(suppressions.addedAtMs), asc(suppressions.numberHash), asc(suppressions.list))
          .limit(limit + 1),
      ),
    );
    const page = rows.slice(0, limit);
    const last = rows.length > limit ? page.at(-1) : undefined;
    return {
      entries: page.map((row) => this.#entryOf(row)),
      next: last === undefined ? undefined : writeCursor([last.addedAtMs, last.numberHash, last.list]),
    };
  }

  async obtained(tenantId: string, list: string, atMs: number): Promise<void> {
    const obtainedAtMs = Math.round(atMs);
    await inStoreErrors(
      this.#tenancy.ask(tenantId, (session) =>
        session
          .insert(suppressionLists)
          .values({ tenantId, list, obtainedAtMs })
          .onConflictDoUpdate({
            target: [suppressionLists.tenantId, suppressionLists.list],
            set: { obtainedAtMs: sql`GREATEST(${suppressionLists.obtainedAtMs}, ${obtainedAtMs}::bigint)` },
          }),
      ),
    );
  }

  async lists(tenantId: string): Promise<Readonly<Record<string, number>>> {
    return inStoreErrors(this.#tenancy.ask(tenantId, (session) => listsOf(session, tenantId)));
  }

  #entryOf(row: Row): SuppressionEntry {
    const { tenantId, personal, source, callId } = row;
    const { number, note } =
      personal === null ? {} : personalEntry.partial().parse(this.#keys.openEntry(entryName(tenantId, row), personal));
    return { ...suppressionOf(row), number, source, callId: callId ?? undefined, note };
  }
}

/** When each list of a tenant was obtained. */
export async function listsOf(session: Session, tenantId: string): Promise<Record<string, number>> {
  const rows = await session.select().from(suppressionLists).where(eq(suppressionLists.tenantId, tenantId));
  return Object.fromEntries(rows.map(({ list, obtainedAtMs }) => [list, obtainedAtMs]));
}

/** The lists that each of these numbers is on. */
export async function suppressionsOf(
  session: Session,
  tenantId: string,
  numberHashes: readonly string[],
): Promise<Map<string, Suppression[]>> {
  const { numberHash, list, addedAtMs, untilMs } = suppressions;
  const rows = await session
    .select({ numberHash, list, addedAtMs, untilMs })
    .from(suppressions)
    .where(and(eq(suppressions.tenantId, tenantId), inArray(numberHash, [...numberHashes])));
  const found = new Map<string, Suppression[]>();
  for (const row of rows) found.set(row.numberHash, [...(found.get(row.numberHash) ?? []), suppressionOf(row)]);
  return found;
}

/** @throws TypeError for a text without digits and letters */
export function hashOf(index: BlindIndex, number: string): string {
  const hash = index.number(number);
  if (hash === undefined) throw new TypeError(`${JSON.stringify(number)} is no number`);
  return hash;
}

function suppressionOf({ list, addedAtMs, untilMs }: Pick<Row, 'list' | 'addedAtMs' | 'untilMs'>): Suppression {
  return { list, addedAtMs, untilMs: untilMs ?? undefined };
}

/** Name under which an entry's number is sealed. */
function entryName(tenantId: string, { list, numberHash }: { list: string; numberHash: string }): string[] {
  return ['suppression', tenantId, list, numberHash];
}
