import type { Replacement } from '../../engines/analyse/glossary.ts';
import type { RecognisedWord, RecognitionResult } from '../../engines/recognise/port.ts';
import { codeswitch } from '../../engines/script/codeswitch.ts';

/** Finds consecutive words to replace; from left to right, without overlap. */
export type Rewriter = (words: readonly string[]) => readonly Replacement[];

/** Rewrites a result: its text, its words with their times, and its alternatives. */
export function rewriteResult(result: RecognitionResult, rewriter: Rewriter): RecognitionResult {
  return {
    ...result,
    text: rewriteText(result.text, rewriter),
    words: rewriteWords(result.words, rewriter),
    alternatives: result.alternatives.map((other) => ({ ...other, text: rewriteText(other.text, rewriter) })),
  };
}

export function rewriteText(text: string, rewriter: Rewriter): string {
  const words = text.split(/\s+/).filter((word) => word !== '');
  return spliced(words, rewriter(words), (_, replaced) => [replaced]).join(' ');
}

/** The code-switch pass over a final (ASR doc, codeswitch); text in Latin script starts with a capital. */
export function refineText(text: string): string {
  const tidy = rewriteText(text.normalize('NFC'), codeswitch);
  return tidy.replace(/^[a-z]/, (first) => first.toUpperCase());
}

/** The words of a replacement share the time of the replaced words by length, and have their lowest confidence. */
function rewriteWords(words: readonly RecognisedWord[], rewriter: Rewriter): RecognisedWord[] {
  const replacements = rewriter(words.map(({ word }) => word));
  return spliced(words, replacements, (replaced, text) => {
    const parts = text.split(' ').filter((part) => part !== '');
    const letters = parts.reduce((sum, part) => sum + part.length, 0);
    const startS = replaced[0]?.startS ?? 0;
    const lengthS = (replaced.at(-1)?.endS ?? startS) - startS;
    const confidence = Math.min(...replaced.map((word) => word.confidence));
    let before = 0;
    return parts.map((word) => {
      const from = startS + (lengthS * before) / letters;
      before += word.length;
      return { word, startS: from, endS: startS + (lengthS * before) / letters, confidence };
    });
  });
}

function spliced<Item>(
  items: readonly Item[],
  replacements: readonly Replacement[],
  replace: (replaced: readonly Item[], text: string) => readonly Item[],
): Item[] {
  const out: Item[] = [];
  let at = 0;
  for (const { from, count, text } of replacements) {
    out.push(...items.slice(at, from), ...replace(items.slice(from, from + count), text));
    at = from + count;
  }
  return [...out, ...items.slice(at)];
}
