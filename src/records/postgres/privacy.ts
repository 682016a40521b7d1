import { type SQL, and, asc, eq, inArray, isNotNull, isNull, lt, not, notInArray, sql } from 'drizzle-orm';
import type { CallRef, ErasedCall, PrivacyRepository } from '../port.ts';
import { type KeyKind, wasErased } from './keys.ts';
import { contacts, attempts, consents, dialSubjects, suppressions } from './dialling-schema.ts';
import { blankContacts } from './contact-rows.ts';
import { analyses, calls, erasures, events, idempotencyKeys, turns, webhookDeliveries } from './schema.ts';
import { Repository } from './repository.ts';
import { markCallStale } from './rollups.ts';
import { comments, reviews } from './statistics-schema.ts';
import { type Session, inStoreErrors } from './tenancy.ts';

export class PostgresPrivacy extends Repository implements PrivacyRepository {
  async audioKey(tenantId: string, callId: string, make: boolean): Promise<Uint8Array | undefined> {
    return this.atOnce(tenantId, async (tx) => {
      if (!make) return (await this.keys.find(tx, tenantId, callId, 'audio'))?.bytes;
      const key = await this.keys.obtain(tx, tenantId, callId, 'audio');
      if (!(await wasErased(tx, tenantId, callId, 'audio'))) return key.bytes;
      await this.keys.destroy(tx, tenantId, callId, 'audio');
      return undefined;
    });
  }

  async knows(tenantId: string, callId: string): Promise<boolean> {
    const found = await this.ask(tenantId, (session) =>
      session
        .select({ id: calls.id })
        .from(calls)
        .where(and(eq(calls.tenantId, tenantId), eq(calls.id, callId)))
        .unionAll(
          session
            .select({ id: erasures.callId })
            .from(erasures)
            .where(and(eq(erasures.tenantId, tenantId), eq(erasures.callId, callId))),
        )
        .unionAll(
          session
            .select({ id: attempts.id })
            .from(attempts)
            .where(and(eq(attempts.tenantId, tenantId), eq(attempts.id, callId))),
        ),
    );
    return found.length > 0;
  }

  async callsOf(tenantId: string, number: string): Promise<readonly string[]> {
    return this.#idsOf(tenantId, number, (session, hash) =>
      session
        .select({ id: calls.id })
        .from(calls)
        .where(and(eq(calls.tenantId, tenantId), eq(calls.partyHash, hash))),
    );
  }

  async attemptsOf(tenantId: string, number: string): Promise<readonly string[]> {
    return this.#idsOf(tenantId, number, (session, hash) =>
      session
        .select({ id: attempts.id })
        .from(attempts)
        .where(and(eq(attempts.tenantId, tenantId), eq(attempts.numberHash, hash))),
    );
  }

  async #idsOf(
    tenantId: string,
    number: string,
    find: (session: Session, hash: string) => Promise<{ id: string }[]>,
  ): Promise<readonly string[]> {
    const hash = (await this.index(tenantId)).number(number);
    if (hash === undefined) return [];
    const rows = await this.ask(tenantId, (session) => find(session, hash));
    return rows.map(({ id }) => id);
  }

  async eraseNumber(tenantId: string, number: string, atMs: number): ReturnType<PrivacyRepository['eraseNumber']> {
    const hash = (await this.index(tenantId)).number(number);
    if (hash === undefined) return { suppressions: 0, consents: 0, contacts: 0 };
    const erasedAtMs = Math.round(atMs);
    return this.atOnce(tenantId, async (tx) => {
      const kept = await tx
        .update(suppressions)
        .set({ personal: null, erasedAtMs })
        .where(and(eq(suppressions.tenantId, tenantId), eq(suppressions.numberHash, hash), isNotNull(suppressions.personal)))
        .returning({ list: suppressions.list });
      const withdrawn = await tx
        .update(consents)
        .set({
          personal: null,
          numberHash: null,
          withdrawnAtMs: sql`COALESCE(${consents.withdrawnAtMs}, ${erasedAtMs}::bigint)`,
        })
        .where(and(eq(consents.tenantId, tenantId), eq(consents.numberHash, hash)))
        .returning({ id: consents.id });
      await tx.delete(dialSubjects).where(and(eq(dialSubjects.tenantId, tenantId), eq(dialSubjects.numberHash, hash)));
      const blanked = await blankContacts(tx, and(eq(contacts.tenantId, tenantId), eq(contacts.numberHash, hash)));
      return { suppressions: kept.length, consents: withdrawn.length, contacts: blanked };
    });
  }

  async erase(tenantId: string, callId: string, atMs: number): Promise<ErasedCall | 'held' | 'live'> {
    return this.#destroy<'live'>(tenantId, callId, ['text', 'audio'], atMs, async (session) => {
      if (await isBeingDialled(session, tenantId, callId, atMs)) return 'live';
      await session.insert(erasures).values({ tenantId, callId, erasedAtMs: atMs }).onConflictDoNothing();
      await session
        .update(attempts)
        .set({ numberHash: null })
        .where(and(eq(attempts.tenantId, tenantId), eq(attempts.id, callId)));
      return undefined;
    });
  }

  async eraseKind(tenantId: string, callId: string, kind: KeyKind, atMs: number): Promise<ErasedCall | 'held'> {
    return this.#destroy<never>(tenantId, callId, [kind], atMs, async () => undefined);
  }

  async expired(query: Parameters<PrivacyRepository['expired']>[0]): Promise<readonly CallRef[]> {
    const { kind, endedBeforeMs, botNames, except, limit } = query;
    if (botNames.length === 0 && !except) return [];
    const of = (column: typeof calls.botName | typeof attempts.botName): SQL | undefined => {
      if (botNames.length === 0) return undefined;
      return except ? notInArray(column, [...botNames]) : inArray(column, [...botNames]);
    };
    const { owner } = this.tenancy;
    const ended = await inStoreErrors(
      owner
        .select({ tenantId: calls.tenantId, callId: calls.id })
        .from(calls)
        .where(
          and(
            isNull(kind === 'audio' ? calls.audioErasedAtMs : calls.textErasedAtMs),
            not(calls.legalHold),
            lt(calls.endedAtMs, endedBeforeMs),
            of(calls.botName),
          ),
        )
        .orderBy(asc(calls.endedAtMs))
        .limit(limit),
    );
    if (kind === 'audio' || ended.length === limit) return ended;
    // An unanswered attempt has no call.
    const isCall = sql`EXISTS (SELECT FROM ${calls} c WHERE c.tenant_id = ${attempts}.tenant_id AND c.id = ${attempts}.id)`;
    const unanswered = await inStoreErrors(
      owner
        .select({ tenantId: attempts.tenantId, callId: attempts.id })
        .from(attempts)
        .where(and(isNull(attempts.textErasedAtMs), lt(attempts.endedAtMs, endedBeforeMs), of(attempts.botName), not(isCall)))
        .orderBy(asc(attempts.endedAtMs))
        .limit(limit - ended.length),
    );
    return [...ended, ...unanswered];
  }

  /** @param mark performs the remaining steps, or returns why nothing may be destroyed */
  async #destroy<Refused extends string>(
    tenantId: string,
    callId: string,
    kinds: readonly KeyKind[],
    atMs: number,
    mark: (session: Session) => Promise<Refused | undefined>,
  ): Promise<ErasedCall | 'held' | Refused> {
    return this.atOnce(tenantId, async (tx) => {
      // A process writing this call holds its key: waiting for it means that nothing is written afterwards.
      for (const kind of kinds) await this.keys.obtain(tx, tenantId, callId, kind);
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
      const refused = await mark(tx);
      if (refused !== undefined) return refused;
      for (const kind of kinds) {
        await this.keys.destroy(tx, tenantId, callId, kind);
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
    });
  }
}

/** Whether the carrier may be dialling; a waiting attempt is cancelled. */
async function isBeingDialled(tx: Session, tenantId: string, callId: string, atMs: number): Promise<boolean> {
  const isThis = and(eq(attempts.tenantId, tenantId), eq(attempts.id, callId));
  const [attempt] = await tx.select({ state: attempts.state }).from(attempts).where(isThis).for('update');
  if (attempt === undefined || attempt.state === 'ended') return false;
  if (attempt.state !== 'queued') return true;
  const ended = { state: 'ended', disposition: 'cancelled', cause: 'erased', leaseOwner: null, leaseUntilMs: null } as const;
  await tx
    .update(attempts)
    .set({ ...ended, endedAtMs: Math.round(atMs) })
    .where(isThis);
  return false;
}

async function eraseText(session: Session, tenantId: string, callId: string, atMs: number): Promise<void> {
  for (const table of [analyses, events, webhookDeliveries, idempotencyKeys, reviews, comments]) {
    await session.delete(table).where(and(eq(table.tenantId, tenantId), eq(table.callId, callId)));
  }
  await session
    .update(turns)
    .set({ personal: null })
    .where(and(eq(turns.tenantId, tenantId), eq(turns.callId, callId), isNotNull(turns.personal)));
  await session
    .update(attempts)
    .set({ personal: null, textErasedAtMs: atMs })
    .where(and(eq(attempts.tenantId, tenantId), eq(attempts.id, callId)));
  await session
    .update(calls)
    .set({
      personal: null,
      partyHash: null,
      lineHash: null,
      words: [],
      analysisWords: [],
      disposition: null,
      path: null,
      campaignId: null,
      answeredBy: null,
      analysisState: 'none',
      textErasedAtMs: atMs,
    })
    .where(and(eq(calls.tenantId, tenantId), eq(calls.id, callId)));
  // Its disposition is counted no more.
  await markCallStale(session, tenantId, callId);
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
