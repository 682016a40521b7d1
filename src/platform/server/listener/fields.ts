import type { z } from 'zod';

const flags: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
]);

/** Reads a flag that is sent as text, case ignored. @returns undefined for any other text */
export function readFlag(text: string): boolean | undefined {
  return flags.get(text.trim().toLowerCase());
}

/** The error text for a flag. */
export const flagRule = 'must be true or false';

/** The first problem of a message as text for the client. @param whole the text when the message is no object at all */
export function firstProblem(error: z.ZodError, whole: string): string {
  const [issue] = error.issues;
  const field = issue?.path.join('.') ?? '';
  return field === '' ? whole : `${field}: ${issue?.message ?? 'malformed'}`;
}
