import { z } from 'zod';

const spreadSchema = z.object({ median: z.number(), least: z.number(), most: z.number() });

/** One measure of two documents. */
export interface Difference {
  /** Names from the root, with dots between. */
  readonly measure: string;
  readonly before: number | null;
  readonly after: number | null;
  /** After over before; null where one is missing or nothing. */
  readonly ratio: number | null;
  /** Whether the ranges do not overlap; null where a measure has none, so that nobody can tell. */
  readonly apart: boolean | null;
}

interface Measure {
  readonly value: number | null;
  readonly range: { readonly least: number; readonly most: number } | undefined;
}

/** Compares every number of two documents of a benchmark, lists of single rows aside. */
export function compareDocuments(before: unknown, after: unknown): Difference[] {
  const [old, fresh] = [measuresOf(before), measuresOf(after)];
  return [...new Set([...old.keys(), ...fresh.keys()])].map((measure) => {
    const [was, is] = [old.get(measure), fresh.get(measure)];
    const [from, to] = [was?.value ?? null, is?.value ?? null];
    const apart =
      was?.range === undefined || is?.range === undefined
        ? null
        : was.range.most < is.range.least || is.range.most < was.range.least;
    return { measure, before: from, after: to, ratio: from === null || to === null || from === 0 ? null : to / from, apart };
  });
}

function measuresOf(document: unknown): Map<string, Measure> {
  const found = new Map<string, Measure>();
  const visit = (value: unknown, name: string): void => {
    const spread = spreadSchema.safeParse(value);
    if (spread.success) found.set(name, { value: spread.data.median, range: spread.data });
    else if (typeof value === 'number' || value === null) found.set(name, { value, range: undefined });
    else if (typeof value === 'object' && !Array.isArray(value))
      for (const [key, inner] of Object.entries(value)) visit(inner, name === '' ? key : `${name}.${key}`);
  };
  visit(document, '');
  return found;
}
