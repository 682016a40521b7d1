import { and, desc, eq, sql } from 'drizzle-orm';
import { checkLimit, readCursor, writeCursor } from './query.ts';
import { StoreRecordError } from '../errors.ts';
import type { Analysis, AnalysisPage, AnalysisRepository, NewAnalysis } from '../port.ts';
import { type CallKey, type CallKeys, wrappedTextKey, wasErased } from './keys.ts';
import { analyses, calls } from './schema.ts';
import { storable } from '../record.ts';
import { type Tenancy, inStoreErrors } from './tenancy.ts';

const DEFAULT_PROFILE = 'default';

export class PostgresAnalyses implements AnalysisRepository {
  readonly #tenancy: Tenancy;
  readonly #keys: CallKeys;

  constructor(tenancy: Tenancy, keys: CallKeys) {
    this.#tenancy = tenancy;
    this.#keys = keys;
  }

  async put(analysis: NewAnalysis): Promise<void> {
    const { tenantId, callId, version, profile = DEFAULT_PROFILE, searchText = '' } = analysis;
    const document = storable(analysis.document);
    const index = await inStoreErrors(this.#keys.index(tenantId));
    const disposition = analysis.disposition ?? null;
    await inStoreErrors(
      this.#tenancy.atOnce(tenantId, async (tx) => {
        const key = await this.#keys.obtain(tx, tenantId, callId, 'text');
        if (await wasErased(tx, tenantId, callId, 'text')) {
          throw new StoreRecordError('the call was erased', { facts: { callId } });
        }
        const row = {
          createdAtMs: Math.round(analysis.createdAtMs),
          disposition,
          score: analysis.score ?? null,
          sealedDocument: key.seal(`analysis/${profile}/${version}`, document),
        };
        await tx
          .insert(analyses)
          .values({ tenantId, callId, profile, version, ...row })
          .onConflictDoUpdate({
            target: [analyses.tenantId, analyses.callId, analyses.profile, analyses.version],
            set: row,
          });
        await tx
          .update(calls)
          .set({
            analysisState: 'done',
            ...(disposition === null ? {} : { disposition }),
            ...(searchText === '' ? {} : { analysisWords: index.words(searchText) }),
          })
          .where(and(eq(calls.tenantId, tenantId), eq(calls.id, callId)));
      }),
    );
  }

  async get(tenantId: string, callId: string, version: number, profile = DEFAULT_PROFILE): Promise<Analysis | undefined> {
    const all = await this.list(tenantId, callId);
    return all.find((analysis) => analysis.version === version && analysis.profile === profile);
  }

  async list(tenantId: string, callId: string): Promise<readonly Analysis[]> {
    const rows = await inStoreErrors(
      this.#tenancy.ask(tenantId, (session) =>
        session
          .select(columns)
          .from(analyses)
          .where(and(eq(analyses.tenantId, tenantId), eq(analyses.callId, callId)))
          .orderBy(desc(analyses.version), analyses.profile),
      ),
    );
    return rows.map((row) => this.#open(row));
  }

  async page(
    tenantId: string,
    query: { limit: number; before?: string | undefined; profile?: string | undefined },
  ): Promise<AnalysisPage> {
    const { limit, before, profile } = query;
    checkLimit(limit);
    const after = readCursor(before);
    const place = sql`(${analyses.createdAtMs}, ${analyses.callId}, ${analyses.profile}, ${analyses.version}::text)`;
    const rows = await inStoreErrors(
      this.#tenancy.ask(tenantId, (session) =>
        session
          .select(columns)
          .from(analyses)
          .where(
            and(
              eq(analyses.tenantId, tenantId),
              profile === undefined ? undefined : eq(analyses.profile, profile),
              after === undefined ? undefined : sql`${place} < (${after[0]}, ${after[1]}, ${after[2] ?? ''}, ${after[3] ?? ''})`,
            ),
          )
          .orderBy(desc(analyses.createdAtMs), desc(analyses.callId), desc(analyses.profile), sql`${analyses.version}::text DESC`)
          .limit(limit + 1),
      ),
    );
    const page = rows.slice(0, limit).map((row) => this.#open(row));
    const last = rows.length > limit ? page.at(-1) : undefined;
    const next =
      last === undefined ? undefined : writeCursor([last.createdAtMs, last.callId, last.profile, String(last.version)]);
    return { analyses: page, next };
  }

  #open(row: SealedAnalysis): Analysis {
    const { sealedDocument, wrapped, ...rest } = row;
    const key: CallKey | undefined = wrapped === null ? undefined : this.#keys.open(row.tenantId, row.callId, 'text', wrapped);
    const document =
      sealedDocument === null || key === undefined
        ? undefined
        : key.open(`analysis/${row.profile}/${row.version}`, sealedDocument);
    return { ...rest, disposition: row.disposition ?? undefined, score: row.score ?? undefined, document };
  }
}

type SealedAnalysis = typeof analyses.$inferSelect & { readonly wrapped: Buffer | null };

const columns = {
  tenantId: analyses.tenantId,
  callId: analyses.callId,
  profile: analyses.profile,
  version: analyses.version,
  createdAtMs: analyses.createdAtMs,
  disposition: analyses.disposition,
  score: analyses.score,
  sealedDocument: analyses.sealedDocument,
  wrapped: wrappedTextKey('analyses'),
};
