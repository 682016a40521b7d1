export interface DiffLine {
  readonly kind: 'same' | 'added' | 'removed';
  readonly text: string;
  /** From 1, in the file that has the line: the newer one for lines of both. */
  readonly line: number;
}

/** More differing lines are not compared one by one. */
const MOST_COMPARED = 4_000_000;

/** What is between two texts, line by line: a longest common subsequence. */
export function lineDiff(before: string, after: string): DiffLine[] {
  const [old, fresh] = [before.split('\n'), after.split('\n')];
  let head = 0;
  while (head < Math.min(old.length, fresh.length) && old[head] === fresh[head]) head += 1;
  let tail = 0;
  while (tail < Math.min(old.length, fresh.length) - head && old.at(-1 - tail) === fresh.at(-1 - tail)) tail += 1;
  const middle = changesOf(old.slice(head, old.length - tail), fresh.slice(head, fresh.length - tail), head);
  const same = (from: number, to: number): DiffLine[] =>
    fresh.slice(from, to).map((text, index) => ({ kind: 'same', text, line: from + index + 1 }));
  return [...same(0, head), ...middle, ...same(fresh.length - tail, fresh.length)];
}

function changesOf(old: readonly string[], fresh: readonly string[], offset: number): DiffLine[] {
  const removed = (index: number): DiffLine => ({ kind: 'removed', text: old[index] ?? '', line: offset + index + 1 });
  const added = (index: number): DiffLine => ({ kind: 'added', text: fresh[index] ?? '', line: offset + index + 1 });
  if (old.length * fresh.length > MOST_COMPARED)
    return [...old.map((_line, index) => removed(index)), ...fresh.map((_line, index) => added(index))];
  const width = fresh.length + 1;
  // Longest common subsequence of what follows each pair of places.
  const longest = new Uint32Array((old.length + 1) * width);
  const at = (i: number, j: number): number => longest[i * width + j] ?? 0;
  for (let i = old.length - 1; i >= 0; i -= 1)
    for (let j = fresh.length - 1; j >= 0; j -= 1)
      longest[i * width + j] = old[i] === fresh[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < fresh.length) {
    if (i < old.length && j < fresh.length && old[i] === fresh[j]) {
      lines.push({ ...added(j), kind: 'same' });
      i += 1;
      j += 1;
    } else if (j >= fresh.length || (i < old.length && at(i + 1, j) >= at(i, j + 1))) {
      lines.push(removed(i));
      i += 1;
    } else {
      lines.push(added(j));
      j += 1;
    }
  }
  return lines;
}

/** The changes with `around` lines beside them; undefined stands for lines that are left out. */
export function hunksOf(lines: readonly DiffLine[], around = 3): (DiffLine | undefined)[] {
  const isNear = lines.map((_line, index) =>
    lines.slice(Math.max(0, index - around), index + around + 1).some(({ kind }) => kind !== 'same'),
  );
  return lines.flatMap((line, index) => {
    if (isNear[index] === true) return [line];
    return index > 0 && isNear[index - 1] === true ? [undefined] : [];
  });
}
