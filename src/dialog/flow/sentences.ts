/** Cuts a prompt at `.`, `!`, `?`, `।` followed by a space; the mark stays with its sentence. */
export function sentencesOf(prompt: string): string[] {
  return prompt
    .replaceAll(/\s+/g, ' ')
    .split(/(?<=[.!?।])\s+/u)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== '');
}
