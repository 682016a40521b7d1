import { and, eq } from 'drizzle-orm';
import type { NodePgDatabase } from 'drizzle-orm/node-postgres';
import { z } from 'zod';
import { analyses, calls, events, turns, unsealed } from './schema.ts';
import { CallKeys } from './call-keys.ts';
import type { MasterKeys } from '../privacy/master-keys.ts';

const plainTurn = z.object({ index: z.number(), callerText: z.string(), botText: z.string(), botHeardText: z.string() });
const plainCall = z.object({
  from: z.string(),
  to: z.string(),
  digits: z.string(),
  timeline: z.array(z.unknown()),
  turns: z.array(plainTurn),
  analyses: z.array(z.object({ version: z.number(), document: z.unknown() })),
});

/** Seals what the first version of the tables held in plain text, a call at a time. Any number of processes may try at once. */
export async function sealOldRows(orm: NodePgDatabase, masters: MasterKeys): Promise<void> {
  const keys = new CallKeys(orm, masters);
  for (;;) {
    const [next] = await orm.select({ tenantId: unsealed.tenantId, callId: unsealed.callId }).from(unsealed).limit(1);
    if (next === undefined) return;
    const { tenantId, callId } = next;
    const index = await keys.index(tenantId);
    await orm.transaction(async (tx) => {
      const isThis = and(eq(unsealed.tenantId, tenantId), eq(unsealed.callId, callId));
      // A second process waits here, and finds no rows to seal.
      const [row] = await tx.select().from(unsealed).where(isThis).for('update');
      if (row === undefined) return;
      const plain = plainCall.parse(row.plain);
      const key = await keys.obtain(tx, tenantId, callId, 'text');
      const ofThis = (table: typeof turns | typeof analyses) => and(eq(table.tenantId, tenantId), eq(table.callId, callId));
      const { from, to, digits, timeline } = plain;
      await tx
        .update(calls)
        .set({
          personal: key.seal('call', { from, to, digits }),
          partyHash: index.number(from),
          lineHash: index.number(to),
          words: index.words(...plain.turns.flatMap((turn) => [turn.callerText, turn.botHeardText])),
        })
        .where(and(eq(calls.tenantId, tenantId), eq(calls.id, callId)));
      await tx
        .insert(events)
        .values({ tenantId, callId, count: timeline.length, timeline: key.seal('timeline', timeline) })
        .onConflictDoNothing();
      for (const { index: number, ...texts } of plain.turns) {
        const personal = key.seal(`turn/${number}`, texts);
        await tx
          .update(turns)
          .set({ personal })
          .where(and(ofThis(turns), eq(turns.index, number)));
      }
      for (const { version, document } of plain.analyses) {
        const sealedDocument = key.seal(`analysis/default/${version}`, document);
        await tx
          .update(analyses)
          .set({ sealedDocument })
          .where(and(ofThis(analyses), eq(analyses.version, version)));
      }
      await tx.delete(unsealed).where(isThis);
    });
  }
}
