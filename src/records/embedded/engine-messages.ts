import { z } from 'zod';

/* Apart from the engine's owner, which loads the queue and the Postgres client: each start of the thread would load them too. */

const bytes = z.custom<Uint8Array>((value) => value instanceof Uint8Array);

/** What the store's thread is started with. */
export const engineOrder = z.discriminatedUnion('type', [
  z.object({ type: z.literal('exec'), id: z.number(), batch: bytes }),
  z.object({ type: z.literal('close') }),
]);

/** What it says back. `broken` ends it. */
export const engineReport = z.discriminatedUnion('type', [
  z.object({ type: z.literal('ready') }),
  z.object({ type: z.literal('reply'), id: z.number(), reply: bytes }),
  z.object({ type: z.literal('broken'), reason: z.string() }),
  z.object({ type: z.literal('closed') }),
]);

export type EngineOrder = z.infer<typeof engineOrder>;
export type EngineReport = z.infer<typeof engineReport>;
