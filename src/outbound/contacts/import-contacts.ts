import type { Contact, ContactRow, RefusedCell } from './read-contacts.ts';

/** A rejected row. Lines count from 1, a file's header included; for a list, positions. */
export interface ContactProblem extends Partial<RefusedCell> {
  readonly line: number;
  readonly reason: string;
}

/** Result of all rows: `added`, `known`, `duplicates` and `refused` add up to `rows`. */
export interface ImportReport {
  readonly rows: number;
  /** New in the campaign. */
  readonly added: number;
  /** Numbers that the campaign had before; they stay as they were. */
  readonly known: number;
  /** Rows whose number already occurred above. */
  readonly duplicates: number;
  /** Invalid rows. */
  readonly refused: number;
  /** The first 1,000 duplicates and refused rows, in their order. */
  readonly problems: readonly ContactProblem[];
}

export const MOST_PROBLEMS = 1000;
/** Contacts written at once. */
const BATCH = 500;

/**
 * Writes contacts in batches while reading, in constant memory. Repeated rows add nothing.
 * @param add writes contacts with distinct numbers, and returns how many are new
 * @throws errors of reading and writing; earlier batches stay written
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
