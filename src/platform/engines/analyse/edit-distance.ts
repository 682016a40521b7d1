/**
 * Letters to insert, drop or change to make one word of the other (Levenshtein).
 * @param most when it is surely more than this, something above it is given back at once
 */
export function editDistance(a: string, b: string, most: number): number {
  const [left, right] = [Array.from(a), Array.from(b)];
  if (Math.abs(left.length - right.length) > most) return most + 1;
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (const [index, letter] of left.entries()) {
    const next = [index + 1];
    for (const [at, other] of right.entries()) {
      next.push(Math.min(row[at + 1]! + 1, next[at]! + 1, row[at]! + (letter === other ? 0 : 1)));
    }
    if (Math.min(...next) > most) return most + 1;
    row = next;
  }
  return row.at(-1)!;
}
