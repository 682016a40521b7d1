import { type InferSelectModel, and, asc, eq, inArray, sql, isNull } from 'drizzle-orm';
import { z } from 'zod';
import {
  type Suppression,
  type SuppressionEntry,
  type SuppressionRepository,
  type Consent,
  type ConsentRepository,
  EVIDENCE_KINDS,
} from '../dialling.ts';
import type { BlindIndex } from '../privacy/blind-index.ts';
import { storable } from '../record.ts';
import type { CallKeys } from './keys.ts';
import { checkLimit, equals, insertRows, pageOf, pastCursor, present } from './query.ts';
import { suppressionLists, suppressions, consents } from './dialling-schema.ts';
import { Repository } from './repository.ts';
import type { Session } from './tenancy.ts';
import { randomUUID } from 'node:crypto';

const MAX_PAGE = 1000;

const personalEntry = z.object({ number: z.string(), note: z.string().optional() });

type SuppressionRow = InferSelectModel<typeof suppressions>;
type Addition = SuppressionEntry & { readonly number: string };

export class PostgresSuppressions extends Repository implements SuppressionRepository {
  async add(tenantId: string, entries: readonly Addition[]): Promise<number> {
    const index = await this.index(tenantId);
    // In one order, to avoid deadlocks between writers of the same numbers.
    const rows = [...this.#merged(tenantId, entries, index)].sort(([one], [other]) => (one < other ? -1 : 1));
    const written = await this.ask(tenantId, (session) =>
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
        personal: this.keys.sealEntry(suppressionName(tenantId, { list, numberHash }), { number, note }),
      });
    }
    return rows;
  }

  async remove(tenantId: string, list: string, number: string): Promise<boolean> {
    const numberHash = hashOf(await this.index(tenantId), number);
    const removed = await this.ask(tenantId, (session) =>
      session
        .delete(suppressions)
        .where(and(eq(suppressions.tenantId, tenantId), eq(suppressions.numberHash, numberHash), eq(suppressions.list, list)))
        .returning({ list: suppressions.list }),
    );
    return removed.length > 0;
  }

  async of(tenantId: string, number: string): Promise<readonly SuppressionEntry[]> {
    const numberHash = hashOf(await this.index(tenantId), number);
    const rows = await this.ask(tenantId, (session) =>
      session
        .select()
        .from(suppressions)
        .where(and(eq(suppressions.tenantId, tenantId), eq(suppressions.numberHash, numberHash)))
        .orderBy(asc(suppressions.addedAtMs), asc(suppressions.list)),
    );
    return rows.map((row) => this.#entryOf(row));
  }

  async page(
    tenantId: string,
    query: Parameters<SuppressionRepository['page']>[1],
  ): Promise<{ entries: readonly SuppressionEntry[]; next: string | undefined }> {
    const { list, limit } = query;
    checkLimit(limit, MAX_PAGE);
    const order = [suppressions.addedAtMs, suppressions.numberHash, suppressions.list];
    const rows = await this.ask(tenantId, (session) =>
      session
        .select()
        .from(suppressions)
        .where(and(eq(suppressions.tenantId, tenantId), equals(suppressions, { list }), pastCursor(query.after, order, '>')))
        .orderBy(...order.map((column) => asc(column)))
        .limit(limit + 1),
    );
    const { page, next } = pageOf(rows, limit, (row) => [row.addedAtMs, row.numberHash, row.list]);
    return { entries: page.map((row) => this.#entryOf(row)), next };
  }

  async obtained(tenantId: string, list: string, atMs: number): Promise<void> {
    const obtainedAtMs = Math.round(atMs);
    await this.ask(tenantId, (session) =>
      session
        .insert(suppressionLists)
        .values({ tenantId, list, obtainedAtMs })
        .onConflictDoUpdate({
          target: [suppressionLists.tenantId, suppressionLists.list],
          set: { obtainedAtMs: sql`GREATEST(${suppressionLists.obtainedAtMs}, ${obtainedAtMs}::bigint)` },
        }),
    );
  }

  async lists(tenantId: string): Promise<Readonly<Record<string, number>>> {
    return this.ask(tenantId, (session) => listsOf(session, tenantId));
  }

  #entryOf(row: SuppressionRow): SuppressionEntry {
    const { tenantId, personal, source, callId } = row;
    const { number, note } =
      personal === null ? {} : personalEntry.partial().parse(this.keys.openEntry(suppressionName(tenantId, row), personal));
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

function suppressionOf({ list, addedAtMs, untilMs }: Pick<SuppressionRow, 'list' | 'addedAtMs' | 'untilMs'>): Suppression {
  return { list, addedAtMs, untilMs: untilMs ?? undefined };
}

/** Name under which an entry's number is sealed. */
function suppressionName(tenantId: string, { list, numberHash }: { list: string; numberHash: string }): string[] {
  return ['suppression', tenantId, list, numberHash];
}

/** The sealed part; fields missing in earlier versions are optional. */
const personalConsent = z.object({
  number: z.string(),
  evidence: z.string(),
  evidenceKind: z.enum(EVIDENCE_KINDS).optional(),
  evidenceSource: z.string().optional(),
  writtenBy: z.string().optional(),
  writtenAtMs: z.number().optional(),
  registeredId: z.string().optional(),
});
const ERASED: Partial<z.output<typeof personalConsent>> & { readonly evidence: string } = { evidence: '' };

type ConsentRow = InferSelectModel<typeof consents>;

export class PostgresConsents extends Repository implements ConsentRepository {
  async put(tenantId: string, number: string, given: readonly Consent[]): Promise<void> {
    await this.putMany(
      tenantId,
      given.map((consent) => ({ ...consent, number })),
    );
  }

  async putMany(tenantId: string, given: readonly (Consent & { readonly number: string })[]): Promise<number> {
    const index = await this.index(tenantId);
    const rows = new Map<string, typeof consents.$inferInsert>();
    for (const { id, level, purposes, givenAtMs, expiresAtMs, withdrawnAtMs, ...personal } of given) {
      const { number } = personal;
      const numberHash = hashOf(index, number);
      const reference = randomUUID();
      rows.set(JSON.stringify([numberHash, id]), {
        tenantId,
        reference,
        numberHash,
        id,
        level,
        purposes: [...purposes],
        givenAtMs: Math.round(givenAtMs),
        expiresAtMs: rounded(expiresAtMs),
        withdrawnAtMs: rounded(withdrawnAtMs),
        personal: this.keys.sealEntry(consentName(tenantId, reference), storable(personalConsent.parse(personal))),
      });
    }
    // In one order, to avoid deadlocks between writers of the same numbers.
    const sorted = [...rows].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, row]) => row);
    const columns = ['reference', 'level', 'purposes', 'given_at_ms', 'expires_at_ms', 'personal'];
    const changes = sql.raw(columns.map((column) => `${column} = excluded.${column}`).join(', '));
    const withdrawn = sql`withdrawn_at_ms = COALESCE(consents.withdrawn_at_ms, excluded.withdrawn_at_ms)`;
    const more = sql`ON CONFLICT (tenant_id, number_hash, id) DO UPDATE SET ${changes}, ${withdrawn} RETURNING (xmax = 0) AS inserted`;
    const written = await this.ask(tenantId, (session) => insertRows(session, consents, sorted, more));
    return written.filter(({ inserted }) => inserted === true).length;
  }

  async withdraw(tenantId: string, number: string, id: string, atMs: number): Promise<boolean> {
    const numberHash = hashOf(await this.index(tenantId), number);
    const isThis = and(eq(consents.tenantId, tenantId), eq(consents.numberHash, numberHash), eq(consents.id, id));
    return this.ask(tenantId, async (session) => {
      await session
        .update(consents)
        .set({ withdrawnAtMs: Math.round(atMs) })
        .where(and(isThis, isNull(consents.withdrawnAtMs)));
      return (await session.select({ id: consents.id }).from(consents).where(isThis)).length > 0;
    });
  }

  async of(tenantId: string, number: string): Promise<readonly Consent[]> {
    const numberHash = hashOf(await this.index(tenantId), number);
    const found = await this.ask(tenantId, (session) => consentsOf(session, this.keys, tenantId, [numberHash]));
    return found.get(numberHash) ?? [];
  }

  async page(tenantId: string, query: Parameters<ConsentRepository['page']>[1]): ReturnType<ConsentRepository['page']> {
    const { limit } = query;
    checkLimit(limit, MAX_PAGE);
    const order = [consents.givenAtMs, consents.reference];
    const rows = await this.ask(tenantId, (session) =>
      session
        .select()
        .from(consents)
        .where(and(eq(consents.tenantId, tenantId), pastCursor(query.after, order, '>')))
        .orderBy(...order.map((column) => asc(column)))
        .limit(limit + 1),
    );
    const { page, next } = pageOf(rows, limit, (row) => [row.givenAtMs, row.reference]);
    return { consents: page.map((row) => consentOf(this.keys, row)), next };
  }
}

/** The consents of each of these numbers, oldest first. */
export async function consentsOf(
  session: Session,
  keys: CallKeys,
  tenantId: string,
  numberHashes: readonly string[],
): Promise<Map<string, Consent[]>> {
  const rows = await session
    .select()
    .from(consents)
    .where(and(eq(consents.tenantId, tenantId), inArray(consents.numberHash, [...numberHashes])))
    .orderBy(asc(consents.givenAtMs), asc(consents.reference));
  const found = new Map<string, Consent[]>();
  for (const row of rows) {
    const { number: _number, ...consent } = consentOf(keys, row);
    if (row.numberHash !== null) found.set(row.numberHash, [...(found.get(row.numberHash) ?? []), consent]);
  }
  return found;
}

function consentOf(keys: CallKeys, row: ConsentRow): Consent & { readonly number: string | undefined } {
  const { tenantId, reference, numberHash: _, personal, ...facts } = row;
  const opened = personal === null ? ERASED : personalConsent.parse(keys.openEntry(consentName(tenantId, reference), personal));
  return { ...present(facts), ...opened, number: opened.number };
}

function rounded(ms: number | undefined): number | null {
  return ms === undefined ? null : Math.round(ms);
}

/** Name under which a consent's number and evidence are sealed. */
function consentName(tenantId: string, reference: string): string[] {
  return ['consent', tenantId, reference];
}
