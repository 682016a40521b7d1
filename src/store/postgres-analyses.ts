import { and, desc, eq } from 'drizzle-orm';
import type { NodePgDatabase } from 'drizzle-orm/node-postgres';
import type { Analysis, AnalysisRepository } from './port.ts';
import { analyses } from './schema.ts';
import { storable } from './storable.ts';
import { unavailable } from './unavailable.ts';

export class PostgresAnalyses implements AnalysisRepository {
  readonly #orm: NodePgDatabase;

  constructor(orm: NodePgDatabase) {
    this.#orm = orm;
  }

  async put(analysis: Analysis): Promise<void> {
    const document = storable(analysis.document);
    const createdAtMs = Math.round(analysis.createdAtMs);
    await unavailable(
      this.#orm
        .insert(analyses)
        .values({ ...analysis, createdAtMs, document })
        .onConflictDoUpdate({
          target: [analyses.tenantId, analyses.callId, analyses.version],
          set: { createdAtMs, document },
        })
        .then(() => {}),
    );
  }

  async get(tenantId: string, callId: string, version: number): Promise<Analysis | undefined> {
    const [found] = await this.list(tenantId, callId, version);
    return found;
  }

  async list(tenantId: string, callId: string, version?: number): Promise<readonly Analysis[]> {
    const only = version === undefined ? undefined : eq(analyses.version, version);
    return unavailable(
      this.#orm
        .select()
        .from(analyses)
        .where(and(eq(analyses.tenantId, tenantId), eq(analyses.callId, callId), only))
        .orderBy(desc(analyses.version))
        .then((rows) => rows),
    );
  }
}
