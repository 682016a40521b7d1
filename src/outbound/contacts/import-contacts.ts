import type { Contact, ContactRow, RefusedCell } from './read-contacts.ts';

/** A row that made no contact. Lines count from 1, the header of a file included; of a list, its places. */
export interface ContactProblem extends Partial<RefusedCell> {
  readonly line: number;
  readonly reason: string;
}

/** What became of all rows: `added`, `known`, `duplicates` and `refused` make up `rows`. */
export interface ImportReport {
  readonly rows: number;
  /** New in the campaign. */
  readonly added: number;
  /** Numbers that the campaign had before; they stay as they were. */
  readonly known: number;
  /** Rows whose number already occurred above. */
  readonly duplicates: number;
  /** Rows that are no contact. */
  readonly refused: number;
  /** The first 1,000 duplicates and refused rows, in their order. */
  readonly problems: readonly ContactProblem[];
}

export const MOST_PROBLEMS = 1000;
/** Contacts that are written at once. */
const BATCH = 500;

/**
 * Writes contacts in batches as they are read, so that memory does not grow with their number. The same rows again add nothing.
 * @param add writes contacts of different numbers, and says how many are new
 * @throws whatever reading or writing throws; batches before it stay written
 */
export async function importContacts(
  rows: AsyncIterable<ContactRow> | Iterable<ContactRow>,
  add: (contacts: readonly Contact[]) => Promise<number>,
): Promise<ImportReport> {
  const problems: ContactProblem[] = [];
  const report = { rows: 0, added: 0, known: 0, duplicates: 0, refused: 0 };
  let batch: Contact[] = [];
  const write = async (): Promise<void> => {
    if (batch.length === 0) return;
    const added = await add(batch);
    report.added += added;
    report.known += batch.length - added;
    batch = [];
  };
  for await (const row of rows) {
    report.rows += 1;
    if (row.kind === 'contact') {
      batch.push(row.contact);
      if (batch.length >= BATCH) await write();
      continue;
    }
    const isDuplicate = row.kind === 'duplicate';
    if (isDuplicate) report.duplicates += 1;
    else report.refused += 1;
    if (problems.length < MOST_PROBLEMS) problems.push(problemOf(row));
  }
  await write();
  return { ...report, problems };
}

function problemOf(row: Exclude<ContactRow, { readonly kind: 'contact' }>): ContactProblem {
  if (row.kind === 'duplicate') return { line: row.line, reason: `the number of line ${row.firstLine} again` };
  const { kind: _, ...problem } = row;
  return problem;
}
