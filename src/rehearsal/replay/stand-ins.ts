/** A stand-in for an answer missing from the fixture. */
export interface StandIn {
  /** Since the call's start. */
  readonly atMs: number;
  readonly what: 'voice' | 'dialog' | 'words' | 'carrier';
  readonly said: string;
}

export type NoteStandIn = (what: StandIn['what'], said: string) => void;

/** The median of a list, or `otherwise` for an empty one. */
export function median(values: readonly number[], otherwise: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? otherwise;
}

/** The first matching item not taken before; marks it as taken. */
export function takeFirst<Item>(items: readonly Item[], taken: Set<number>, fits: (item: Item) => boolean): number | undefined {
  const found = items.findIndex((item, index) => !taken.has(index) && fits(item));
  if (found === -1) return undefined;
  taken.add(found);
  return found;
}
