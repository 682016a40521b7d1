import { randomUUID } from 'node:crypto';
import { type InferSelectModel, and, asc, eq, inArray, isNull, sql } from 'drizzle-orm';
import { z } from 'zod';
import { type Consent, type ConsentRepository, EVIDENCE_KINDS } from '../dialling.ts';
import { storable } from '../storable.ts';
import type { CallKeys } from './call-keys.ts';
import { checkLimit, readCursor, writeCursor } from './cursor.ts';
import { consents } from './dialling-schema.ts';
import { insertRows } from './insert-rows.ts';
import { hashOf } from './suppressions.ts';
import { type Session, type Tenancy, inStoreErrors } from './tenancy.ts';

const MAX_PAGE = 1000;

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

type Row = InferSelectModel<typeof consents>;

export class PostgresConsents implements ConsentRepository {
  readonly #tenancy: Tenancy;
  readonly #keys: CallKeys;

  constructor(tenancy: Tenancy, keys: CallKeys) {
    this.#tenancy = tenancy;
    this.#keys = keys;
  }

  async put(tenantId: string, number: string, given: readonly Consent[]): Promise<void> {
    await this.putMany(
      tenantId,
      given.map((consent) => ({ ...consent, number })),
    );
  }

  async putMany(tenantId: string, given: readonly (Consent & { readonly number: string })[]): Promise<number> {
    const index = await inStoreErrors(this.#keys.index(tenantId));
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
        personal: this.#keys.sealEntry(entryName(tenantId, reference), storable(personalConsent.parse(personal))),
      });
    }
    // In one order, to avoid deadlocks between writers of the same numbers.
    const sorted = [...rows].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, row]) => row);
    const columns = ['reference', 'level', 'purposes', 'given_at_ms', 'expires_at_ms', 'personal'];
    const changes = sql.raw(columns.map((column) => `${column} = excluded.${column}`).join(', '));
    const withdrawn = sql`withdrawn_at_ms = COALESCE(consents.withdrawn_at_ms, excluded.withdrawn_at_ms)`;
    const more = sql`ON CONFLICT (tenant_id, number_hash, id) DO UPDATE SET ${changes}, ${withdrawn} RETURNING (xmax = 0) AS inserted`;
    const written = await inStoreErrors(this.#tenancy.ask(tenantId, (session) => insertRows(session, consents, sorted, more)));
    return written.filter(({ inserted }) => inserted === true).length;
  }

  async withdraw(tenantId: string, number: string, id: string, atMs: number): Promise<boolean> {
    const numberHash = hashOf(await inStoreErrors(this.#keys.index(tenantId)), number);
    const isThis = and(eq(consents.tenantId, tenantId), eq(consents.numberHash, numberHash), eq(consents.id, id));
    return inStoreErrors(
      this.#tenancy.ask(tenantId, async (session) => {
        await session
          .update(consents)
          .set({ withdrawnAtMs: Math.round(atMs) })
          .where(and(isThis, isNull(consents.withdrawnAtMs)));
        return (await session.select({ id: consents.id }).from(consents).where(isThis)).length > 0;
      }),
    );
  }

  async of(tenantId: string, number: string): Promise<readonly Consent[]> {
    const numberHash = hashOf(await inStoreErrors(this.#keys.index(tenantId)), number);
    const found = await inStoreErrors(
      this.#tenancy.ask(tenantId, (session) => consentsOf(session, this.#keys, tenantId, [numberHash])),
    );
    return found.get(numberHash) ?? [];
  }

  async page(tenantId: string, query: Parameters<ConsentRepository['page']>[1]): ReturnType<ConsentRepository['page']> {
    const { limit } = query;
    checkLimit(limit, MAX_PAGE);
    const after = readCursor(query.after);
    const rows = await inStoreErrors(
      this.#tenancy.ask(tenantId, (session) =>
        session
          .select()
          .from(consents)
          .where(
            and(
              eq(consents.tenantId, tenantId),
              after === undefined ? undefined : sql`(${consents.givenAtMs}, ${consents.reference}) > (${after[0]}, ${after[1]})`,
            ),
          )
          .orderBy(asc(consents.givenAtMs), asc(consents.reference))
          .limit(limit + 1),
      ),
    );
    const page = rows.slice(0, limit);
    const last = rows.length > limit ? page.at(-1) : undefined;
    return {
      consents: page.map((row) => consentOf(this.#keys, row)),
      next: last === undefined ? undefined : writeCursor([last.givenAtMs, last.reference]),
    };
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

function consentOf(keys: CallKeys, row: Row): Consent & { readonly number: string | undefined } {
  const { tenantId, reference, id, level, purposes, givenAtMs, expiresAtMs, withdrawnAtMs, personal } = row;
  const opened = personal === null ? ERASED : personalConsent.parse(keys.openEntry(entryName(tenantId, reference), personal));
  return {
    id,
    level,
    purposes,
    givenAtMs,
    expiresAtMs: expiresAtMs ?? undefined,
    withdrawnAtMs: withdrawnAtMs ?? undefined,
    ...opened,
    number: opened.number,
  };
}

function rounded(ms: number | undefined): number | null {
  return ms === undefined ? null : Math.round(ms);
}

/** Name under which a consent's number and evidence are sealed. */
function entryName(tenantId: string, reference: string): string[] {
  return ['consent', tenantId, reference];
}
