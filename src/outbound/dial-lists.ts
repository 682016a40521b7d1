import type { Consent, ConsentRepository, SuppressionEntry, SuppressionRepository } from '../records/dialling.ts';
import { pastProblem, type ListOptions, type ListRow, readConsents, readSuppressions } from './contacts/read-list.ts';
import type { ContactProblem } from './contacts/import-contacts.ts';
import { ContactsFileError } from './contacts/read-contacts.ts';
import { OWN_LIST } from './gate/facts.ts';

/** Rows written at once, by one statement. */
const BATCH = 1000;
/** Most bad rows reported; all are counted. */
const MOST_PROBLEMS = 1000;

/** The tenant and author of a list change, for the audit log. */
export interface ListChange {
  readonly tenantId: string;
  readonly by: string;
  /** Reason for the audit log, without numbers. */
  readonly reason?: string | undefined;
}

/** Result of importing a file. */
export interface ImportedList {
  readonly added: number;
  /** Rows whose number or consent already existed. */
  readonly known: number;
  readonly refused: number;
  /** The first 1,000 refused rows. */
  readonly problems: readonly ContactProblem[];
}

export interface DialListParts {
  readonly suppressions: SuppressionRepository;
  readonly consents: ConsentRepository;
  readonly audit: {
    add(event: {
      by: string;
      tenantId: string;
      action: string;
      subject: string;
      outcome: 'done' | 'refused' | 'failed';
      reason?: string | undefined;
    }): Promise<void>;
  };
  readonly wallMs: () => number;
}

/** Do-not-call lists and consents: every change is in the audit log before this returns. Numbers are E.164. */
export class DialLists {
  readonly #parts: DialListParts;

  constructor(parts: DialListParts) {
    this.#parts = parts;
  }

  /** @returns false when the number was on that list before */
  async suppress(
    change: ListChange,
    { number, list, untilMs, note }: Pick<SuppressionEntry, 'list' | 'untilMs' | 'note'> & { readonly number: string },
  ): Promise<boolean> {
    const { suppressions, wallMs } = this.#parts;
    const entry = { number, list, untilMs, note, addedAtMs: wallMs(), source: change.by };
    return this.#audited(change, 'suppression.add', `${list} ${lastDigits(number)}`, async () => {
      return (await suppressions.add(change.tenantId, [entry])) > 0;
    });
  }

  /** @returns false when the number is not on that list */
  unsuppress(change: ListChange, list: string, number: string): Promise<boolean> {
    return this.#audited(change, 'suppression.remove', `${list} ${lastDigits(number)}`, () =>
      this.#parts.suppressions.remove(change.tenantId, list, number),
    );
  }

  /**
   * Adds a file's numbers while reading, in constant memory. Rows written before a failure stay.
   * @param obtainedAtMs when an external list was obtained; the gate checks its age
   * @throws ContactsFileError for an unusable file
   */
  importSuppressions(
    change: ListChange,
    list: { readonly name: string; readonly obtainedAtMs: number | undefined; readonly untilMs: number | undefined },
    source: AsyncIterable<Uint8Array>,
    options: ListOptions,
  ): Promise<ImportedList> {
    const { suppressions, wallMs } = this.#parts;
    const { name, obtainedAtMs, untilMs } = list;
    const facts = { list: name, addedAtMs: obtainedAtMs ?? wallMs(), untilMs, source: change.by };
    return this.#audited(change, 'suppression.import', name, async () => {
      const nowMs = wallMs();
      const wrong = obtainedAtMs === undefined ? undefined : pastProblem(obtainedAtMs, 'obtained', nowMs);
      if (wrong !== undefined) throw new ContactsFileError(`${wrong}: the gate asks how old the list is`);
      const rows = readSuppressions(source, facts, { ...options, nowMs });
      const imported = await inBatches(rows, (entries) => suppressions.add(change.tenantId, entries));
      // Last, so that a partly read list does not count as fresh.
      if (name !== OWN_LIST && obtainedAtMs !== undefined) await suppressions.obtained(change.tenantId, name, obtainedAtMs);
      return imported;
    });
  }

  /** All entries with a number, oldest first, read on demand. Erased ones are left out. */
  async *exportSuppressions(
    change: ListChange,
    list: string | undefined,
    signal?: AbortSignal,
  ): AsyncGenerator<readonly (SuppressionEntry & { readonly number: string })[]> {
    await this.#audited(change, 'suppression.export', list ?? 'all lists', async () => undefined);
    let after: string | undefined;
    do {
      signal?.throwIfAborted();
      const page = await this.#parts.suppressions.page(change.tenantId, { list, limit: BATCH, after });
      yield page.entries.flatMap(({ number, ...entry }) => (number === undefined ? [] : [{ ...entry, number }]));
      after = page.next;
    } while (after !== undefined);
  }

  /** @returns false when this number and id already existed */
  consent(change: ListChange, number: string, consent: Consent): Promise<boolean> {
    return this.#audited(change, 'consent.add', `${consent.id} ${lastDigits(number)}`, async () => {
      const { consents } = this.#parts;
      return (await consents.putMany(change.tenantId, [{ ...consent, ...this.#written(change), number }])) > 0;
    });
  }

  /** @throws ContactsFileError for an unusable file */
  importConsents(change: ListChange, source: AsyncIterable<Uint8Array>, options: ListOptions): Promise<ImportedList> {
    return this.#audited(change, 'consent.import', 'file', () => {
      const written = this.#written(change);
      const rows = readConsents(source, { ...options, nowMs: written.writtenAtMs });
      return inBatches(rows, (consents) =>
        this.#parts.consents.putMany(
          change.tenantId,
          consents.map((consent) => ({ ...consent, ...written })),
        ),
      );
    });
  }

  #written({ by: writtenBy }: ListChange): { writtenBy: string; writtenAtMs: number } {
    return { writtenBy, writtenAtMs: this.#parts.wallMs() };
  }

  /**
   * Withdraws a consent, or all of a number, from now on.
   * @returns ids withdrawn now; may be empty
   */
  async withdraw(change: ListChange, number: string, id: string | undefined): Promise<readonly string[]> {
    const { consents, wallMs } = this.#parts;
    const all = await consents.of(change.tenantId, number);
    const ids = all.map((consent) => consent.id).filter((each) => id === undefined || each === id);
    for (const each of ids)
      await this.#audited(change, 'consent.withdraw', `${each} ${lastDigits(number)}`, () =>
        consents.withdraw(change.tenantId, number, each, wallMs()),
      );
    return ids;
  }

  async #audited<Value>(
    { by, tenantId, reason }: ListChange,
    action: string,
    subject: string,
    run: () => Promise<Value>,
  ): Promise<Value> {
    const note = (outcome: 'done' | 'refused' | 'failed'): Promise<void> =>
      this.#parts.audit.add({ by, tenantId, action, subject, outcome, reason });
    try {
      const value = await run();
      await note('done');
      return value;
    } catch (error) {
      await note('failed');
      throw error;
    }
  }
}

/** Writes a file's entries in batches. @param write returns how many are new */
async function inBatches<Entry>(
  rows: AsyncIterable<ListRow<Entry>>,
  write: (entries: readonly Entry[]) => Promise<number>,
): Promise<ImportedList> {
  const problems: ContactProblem[] = [];
  let [added, written, refused] = [0, 0, 0];
  let batch: Entry[] = [];
  const flush = async (): Promise<void> => {
    if (batch.length === 0) return;
    added += await write(batch);
    written += batch.length;
    batch = [];
  };
  for await (const row of rows) {
    if ('entry' in row) {
      batch.push(row.entry);
      if (batch.length === BATCH) await flush();
      continue;
    }
    refused += 1;
    if (problems.length < MOST_PROBLEMS) problems.push(row);
  }
  await flush();
  return { added, known: written - added, refused, problems };
}

/** The part of a number allowed in the audit log. */
function lastDigits(number: string): string {
  return `…${number.slice(-2)}`;
}
