import { codeswitch } from '../../engines/script/codeswitch.ts';
import { rewriteText } from './rewrite-words.ts';

/** The code-switch pass over a final (ASR doc, codeswitch), with a capital at the start of a text in Latin script. */
export function refineText(text: string): string {
  const tidy = rewriteText(text.normalize('NFC'), codeswitch);
  return tidy.replace(/^[a-z]/, (first) => first.toUpperCase());
}
