/* Apart from the engine's owner, which loads the queue and the Postgres client: each start of the thread would load them too. */

/** What the store's thread is started with. */
export interface EngineStart {
  readonly dataDir: string;
}

/** What its owner asks of it. */
export type EngineOrder = { readonly type: 'exec'; readonly id: number; readonly batch: Uint8Array } | { readonly type: 'close' };

/** What it says back. `broken` ends it. */
export type EngineReport =
  | { readonly type: 'ready' }
  | { readonly type: 'reply'; readonly id: number; readonly reply: Uint8Array }
  | { readonly type: 'broken'; readonly reason: string }
  | { readonly type: 'closed' };
