/**
 * The code-switch pass over a final, as far as it is built: blanks tidied, and a capital at the start of a text in Latin
 * script. English words in Latin script and numbers as digits belong to the analysis engine (ASR doc, codeswitch).
 */
export function refineText(text: string): string {
  const tidy = text.normalize('NFC').replaceAll(/\s+/g, ' ').trim();
  const first = tidy.charAt(0);
  return /[a-z]/.test(first) ? first.toUpperCase() + tidy.slice(1) : tidy;
}
