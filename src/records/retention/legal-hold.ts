import type { Store } from '../port.ts';
import type { AuditLog } from './audit-log.ts';

export interface HoldChange {
  readonly tenantId: string;
  /** One call, or all stored calls with a person's number. */
  readonly of: { readonly callId: string } | { readonly number: string };
  readonly on: boolean;
  /** Author, for the audit log. */
  readonly by: string;
}

/** A held call. */
export interface HeldCall {
  readonly id: string;
  readonly bot: string;
  readonly startedAt: string;
}

/** Legal holds, which exempt calls from retention and erasure. Each change is in the audit log before this returns. */
export class LegalHolds {
  readonly #store: Pick<Store, 'calls' | 'privacy'>;
  readonly #audit: Pick<AuditLog, 'add'>;

  constructor(store: Pick<Store, 'calls' | 'privacy'>, audit: Pick<AuditLog, 'add'>) {
    this.#store = store;
    this.#audit = audit;
  }

  /** @returns calls now in the wanted state, and those unknown to the store */
  async change({ tenantId, of, on, by }: HoldChange): Promise<{ readonly changed: string[]; readonly missing: string[] }> {
    const ids = 'callId' in of ? [of.callId] : await this.#store.privacy.callsOf(tenantId, of.number);
    const [changed, missing]: [string[], string[]] = [[], []];
    for (const subject of ids) {
      const found = await this.#store.calls.setLegalHold(tenantId, subject, on);
      (found ? changed : missing).push(subject);
      const action = on ? 'hold.set' : 'hold.lift';
      await this.#audit.add({ by, tenantId, action, subject, outcome: found ? 'done' : 'refused' });
    }
    return { changed, missing };
  }

  /** Every held call, newest first. */
  async *list(tenantId: string): AsyncIterable<HeldCall> {
    let before: string | undefined;
    do {
      const page = await this.#store.calls.search(tenantId, { limit: 200, before, held: true });
      for (const { id, botName, startedAtMs } of page.calls)
        yield { id, bot: botName, startedAt: new Date(startedAtMs).toISOString() };
      before = page.next;
    } while (before !== undefined);
  }
}
