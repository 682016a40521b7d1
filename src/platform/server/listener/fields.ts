const flags: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
]);

/** A boolean that travels as text, in any case. @returns undefined for any other text, which is to be refused */
export function readFlag(text: string): boolean | undefined {
  return flags.get(text.trim().toLowerCase());
}

/** What a refused flag is told. */
export const flagRule = 'must be true or false';
