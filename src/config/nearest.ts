/** Number of single-letter insertions, deletions and replacements between two words. */
function editDistance(left: string, right: string): number {
  let above = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row++) {
    const current = [row];
    for (let column = 1; column <= right.length; column++) {
      const replaced = above[column - 1]! + (left[row - 1] === right[column - 1] ? 0 : 1);
      current.push(Math.min(replaced, above[column]! + 1, current[column - 1]! + 1));
    }
    above = current;
  }
  return above[right.length]!;
}

/** The known word most like a mistyped one; undefined when none is close (at most half its letters). */
export function nearest(word: string, known: Iterable<string>): string | undefined {
  const asked = word.slice(0, 200).toLowerCase();
  let best: { word: string; distance: number } | undefined;
  for (const candidate of known) {
    const distance = editDistance(asked, candidate.toLowerCase());
    if (best === undefined || distance < best.distance) best = { word: candidate, distance };
  }
  return best !== undefined && best.distance <= Math.max(2, best.word.length / 2) ? best.word : undefined;
}

/** The known word that was probably meant, for a `Problem`; nothing when none is close. */
export function meant(word: string, known: Iterable<string>): { readonly nearest?: string } {
  const found = nearest(word, known);
  return found === undefined ? {} : { nearest: found };
}

/** The same as a sentence that follows others; empty when none is close. */
export function didYouMean(word: string, known: Iterable<string>): string {
  const found = nearest(word, known);
  return found === undefined ? '' : ` Did you mean ${found}?`;
}
