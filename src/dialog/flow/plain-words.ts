/** Words alone: what is spoken goes without the marks of what was written. */
export function plainWords(text: string): string {
  return (text.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? []).join(' ');
}
