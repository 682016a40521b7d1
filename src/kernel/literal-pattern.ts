/** The source of a regular expression that matches this text alone; it may have the flag `u`, under which few signs can be escaped. */
export function literalPattern(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/gu, String.raw`\$&`);
}
