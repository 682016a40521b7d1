import { and, desc, eq, getTableColumns, sql } from 'drizzle-orm';
import { checkLimit, equals, pageOf, pastCursor, present } from './query.ts';
import { StoreRecordError } from '../errors.ts';
import type { Analysis, AnalysisPage, AnalysisRepository, NewAnalysis } from '../port.ts';
import { type CallKey, wrappedTextKey, wasErased } from './keys.ts';
import { analyses, calls } from './schema.ts';
import { storable } from '../record.ts';
import { Repository } from './repository.ts';
import { keepJudged } from './reviews.ts';
import { markCallStale } from './rollups.ts';

const DEFAULT_PROFILE = 'default';

export class PostgresAnalyses extends Repository implements AnalysisRepository {
  async put(analysis: NewAnalysis): Promise<void> {
    const { tenantId, callId, version, profile = DEFAULT_PROFILE, searchText = '' } = analysis;
    const document = storable(analysis.document);
    const index = await this.index(tenantId);
    const disposition = analysis.disposition ?? null;
    await this.atOnce(tenantId, async (tx) => {
      const key = await this.keys.obtain(tx, tenantId, callId, 'text');
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
      if (disposition !== null) await markCallStale(tx, tenantId, callId);
      if (analysis.judged !== undefined) await keepJudged(tx, tenantId, callId, analysis.judged);
    });
  }

  async get(tenantId: string, callId: string, version: number, profile = DEFAULT_PROFILE): Promise<Analysis | undefined> {
    const all = await this.list(tenantId, callId);
    return all.find((analysis) => analysis.version === version && analysis.profile === profile);
  }

  async list(tenantId: string, callId: string): Promise<readonly Analysis[]> {
    const rows = await this.ask(tenantId, (session) =>
      session
        .select(columns)
        .from(analyses)
        .where(and(eq(analyses.tenantId, tenantId), eq(analyses.callId, callId)))
        .orderBy(desc(analyses.version), analyses.profile),
    );
    return rows.map((row) => this.#open(row));
  }

  async page(
    tenantId: string,
    query: { limit: number; before?: string | undefined; profile?: string | undefined },
  ): Promise<AnalysisPage> {
    const { limit, before, profile } = query;
    checkLimit(limit);
    const past = pastCursor(before, [analyses.createdAtMs, analyses.callId, analyses.profile, sql`${analyses.version}::text`]);
    const rows = await this.ask(tenantId, (session) =>
      session
        .select(columns)
        .from(analyses)
        .where(and(eq(analyses.tenantId, tenantId), equals(analyses, { profile }), past))
        .orderBy(desc(analyses.createdAtMs), desc(analyses.callId), desc(analyses.profile), sql`${analyses.version}::text DESC`)
        .limit(limit + 1),
    );
    const { page, next } = pageOf(rows, limit, (row) => [row.createdAtMs, row.callId, row.profile, String(row.version)]);
    return { analyses: page.map((row) => this.#open(row)), next };
  }

  #open(row: SealedAnalysis): Analysis {
    const { sealedDocument, wrapped, ...rest } = row;
    const key: CallKey | undefined = wrapped === null ? undefined : this.keys.open(row.tenantId, row.callId, 'text', wrapped);
    const document =
      sealedDocument === null || key === undefined
        ? undefined
        : key.open(`analysis/${row.profile}/${row.version}`, sealedDocument);
    return { ...present(rest), document };
  }
}

type SealedAnalysis = typeof analyses.$inferSelect & { readonly wrapped: Buffer | null };

const columns = { ...getTableColumns(analyses), wrapped: wrappedTextKey('analyses') };
