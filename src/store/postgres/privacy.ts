import { and, asc, eq, inArray, isNotNull, isNull, lt, not, notInArray } from 'drizzle-orm';
import type { CallRef, ErasedCall, PrivacyRepository } from '../port.ts';
import { type CallKeys, type KeyKind, wasErased } from './call-keys.ts';
import { analyses, calls, erasures, events, idempotencyKeys, turns, webhookDeliveries } from './schema.ts';
import { type Session, type Tenancy, inStoreErrors } from './tenancy.ts';

export class PostgresPrivacy implements PrivacyRepository {
  readonly #tenancy: Tenancy;
  readonly #keys: CallKeys;

  constructor(tenancy: Tenancy, keys: CallKeys) {
    this.#tenancy = tenancy;
    this.#keys = keys;
  }

  async audioKey(tenantId: string, callId: string, make: boolean): Promise<Uint8Array | undefined> {
    return inStoreErrors(
      this.#tenancy.atOnce(tenantId, async (tx) => {
        if (!make) return (await this.#keys.find(tx, tenantId, callId, 'audio'))?.bytes;
        const key = await this.#keys.obtain(tx, tenantId, callId, 'audio');
        if (!(await wasErased(tx, tenantId, callId, 'audio'))) return key.bytes;
        await this.#keys.destroy(tx, tenantId, callId, 'audio');
        return undefined;
      }),
    );
  }

  async knows(tenantId: string, callId: string): Promise<boolean> {
    const found = await inStoreErrors(
      this.#tenancy.ask(tenantId, (session) =>
        session
          .select({ id: calls.id })
          .from(calls)
          .where(and(eq(calls.tenantId, tenantId), eq(calls.id, callId)))
          .unionAll(
            session
              .select({ id: erasures.callId })
              .from(erasures)
              .where(and(eq(erasures.tenantId, tenantId), eq(erasures.callId, callId))),
          ),
      ),
    );
    return found.length > 0;
  }

  async callsOf(tenantId: string, number: string): Promise<readonly string[]> {
    const hash = (await inStoreErrors(this.#keys.index(tenantId))).number(number);
    if (hash === undefined) return [];
    const rows = await inStoreErrors(
      this.#tenancy.ask(tenantId, (session) =>
        session
          .select({ id: calls.id })
          .from(calls)
          .where(and(eq(calls.tenantId, tenantId), eq(calls.partyHash, hash))),
      ),
    );
    return rows.map(({ id }) => id);
  }

  async erase(tenantId: string, callId: string, atMs: number): Promise<ErasedCall | 'held'> {
    return this.#destroy(tenantId, callId, ['text', 'audio'], atMs, async (session) => {
      await session.insert(erasures).values({ tenantId, callId, erasedAtMs: atMs }).onConflictDoNothing();
    });
  }

  async eraseKind(tenantId: string, callId: string, kind: KeyKind, atMs: number): Promise<ErasedCall | 'held'> {
    return this.#destroy(tenantId, callId, [kind], atMs, async () => {});
  }

  async expired(query: Parameters<PrivacyRepository['expired']>[0]): Promise<readonly CallRef[]> {
    const { kind, endedBeforeMs, botNames, except, limit } = query;
    if (botNames.length === 0 && !except) return [];
    const chosen = except ? notInArray(calls.botName, [...botNames]) : inArray(calls.botName, [...botNames]);
    return inStoreErrors(
      this.#tenancy.owner
        .select({ tenantId: calls.tenantId, callId: calls.id })
        .from(calls)
        .where(
          and(
            isNull(kind === 'audio' ? calls.audioErasedAtMs : calls.textErasedAtMs),
            not(calls.legalHold),
            lt(calls.endedAtMs, endedBeforeMs),
            botNames.length === 0 ? undefined : chosen,
          ),
        )
        .orderBy(asc(calls.endedAtMs))
        .limit(limit),
    );
  }

  async #destroy(
    tenantId: string,
    callId: string,
    kinds: readonly KeyKind[],
    atMs: number,
    mark: (session: Session) => Promise<void>,
  ): Promise<ErasedCall | 'held'> {
    return inStoreErrors(
      this.#tenancy.atOnce(tenantId, async (tx) => {
        // A process that writes this call now holds its key: wait for it, so that nothing is written after this.
        for (const kind of kinds) await this.#keys.obtain(tx, tenantId, callId, kind);
        const isThis = and(eq(calls.tenantId, tenantId), eq(calls.id, callId));
        const [found] = await tx
          .select({
            legalHold: calls.legalHold,
            startedAtMs: calls.startedAtMs,
            recordingPath: calls.recordingPath,
            recordingSidecarPath: calls.recordingSidecarPath,
            recordingObject: calls.recordingObject,
          })
          .from(calls)
          .where(isThis)
          .for('update');
        if (found?.legalHold === true) return 'held';
        await mark(tx);
        for (const kind of kinds) {
          await this.#keys.destroy(tx, tenantId, callId, kind);
          await (kind === 'text' ? eraseText(tx, tenantId, callId, atMs) : eraseAudio(tx, tenantId, callId, atMs));
        }
        return {
          tenantId,
          callId,
          startedAtMs: found?.startedAtMs,
          recordingPath: found?.recordingPath ?? undefined,
          recordingSidecarPath: found?.recordingSidecarPath ?? undefined,
          recordingObject: found?.recordingObject ?? undefined,
        };
      }),
    );
  }
}

async function eraseText(session: Session, tenantId: string, callId: string, atMs: number): Promise<void> {
  for (const table of [analyses, events, webhookDeliveries, idempotencyKeys]) {
    await session.delete(table).where(and(eq(table.tenantId, tenantId), eq(table.callId, callId)));
  }
  await session
    .update(turns)
    .set({ personal: null })
    .where(and(eq(turns.tenantId, tenantId), eq(turns.callId, callId), isNotNull(turns.personal)));
  await session
    .update(calls)
    .set({
      personal: null,
      partyHash: null,
      lineHash: null,
      words: [],
      analysisWords: [],
      disposition: null,
      analysisState: 'none',
      textErasedAtMs: atMs,
    })
    .where(and(eq(calls.tenantId, tenantId), eq(calls.id, callId)));
}

async function eraseAudio(session: Session, tenantId: string, callId: string, atMs: number): Promise<void> {
  await session
    .update(calls)
    .set({
      audioErasedAtMs: atMs,
      recordingPath: null,
      recordingSidecarPath: null,
      recordingObject: null,
      recordingFormat: null,
      recordingWanted: null,
    })
    .where(and(eq(calls.tenantId, tenantId), eq(calls.id, callId)));
}
