/** One entry of a hash-chained log, in which changes and removals are detectable. */
export interface ChainLink {
  /** 1 for the first entry, then without gaps. */
  readonly sequence: number;
  /** Hash of the entry before; `FIRST_HASH` for the first. */
  readonly previousHash: string;
  /** SHA-256 in hex, over the previous hash and the rest of this entry. */
  readonly hash: string;
}

/** The end of a log: how long it is, and the hash of its last entry. It covers every entry up to there. */
export type ChainHead = Pick<ChainLink, 'sequence' | 'hash'>;

/** An earlier end of a log, as it was kept elsewhere; of some only the hash is known. */
export type KeptHead = Pick<ChainHead, 'hash'> & Partial<ChainHead>;

export const FIRST_HASH = '0'.repeat(64);

/** Reads `SEQUENCE:HASH`. @returns undefined for any other text */
export function parseHead(text: string): ChainHead | undefined {
  const [, sequence, hash] = /^([1-9]\d{0,14}):([0-9a-f]{64})$/u.exec(text.trim()) ?? [];
  return sequence === undefined || hash === undefined ? undefined : { sequence: Number(sequence), hash };
}

/** What is wrong with a log, and at which entry. */
export type ChainFault =
  /** The entry's content is not what was hashed. */
  | { readonly fault: 'changed'; readonly sequence: number }
  /** Something stands before the entry that no entry covers. */
  | { readonly fault: 'added'; readonly sequence: number }
  /** The entry is sound by itself, but was not written after the one before it: one of the two was replaced. */
  | { readonly fault: 'replaced'; readonly sequence: number }
  /** These entries are gone, both ends included. */
  | { readonly fault: 'missing'; readonly sequence: number; readonly toSequence: number }
  /** The entry stands behind a later one. */
  | { readonly fault: 'reordered'; readonly sequence: number }
  /** The entry stands there a second time. */
  | { readonly fault: 'repeated'; readonly sequence: number }
  /** The entry belongs to another log. */
  | { readonly fault: 'foreign'; readonly sequence: number }
  /** No entry has the hash of a head that was kept; `sequence` is the log's last one. */
  | { readonly fault: 'head-not-found'; readonly sequence: number; readonly hash: string };

export interface ChainReport {
  readonly entries: number;
  /** The first of them, in the order in which they were found; `faultCount` counts all. */
  readonly faults: readonly ChainFault[];
  readonly faultCount: number;
  /** The end of the log; undefined when it is empty. */
  readonly head: ChainHead | undefined;
}

export interface ChainRules<Entry> {
  readonly isOwn: (entry: Entry) => boolean;
  /** What is wrong with the entry by itself: `changed` where its content is not what was hashed. */
  readonly faultOf: (entry: Entry) => 'changed' | 'added' | undefined;
  /** Whether the log may begin with this entry, because the entries before it were moved away. Only the first one when absent. */
  readonly mayBegin?: (entry: Entry) => boolean;
}

const MOST_FAULTS = 1000;

/**
 * Reads a log from its first entry in bounded memory and finds what was changed, removed, moved or added.
 * @param kept earlier heads: only with them is it seen that entries were cut off the end, or that a log was written anew as a whole
 */
export async function verifyLinks<Entry extends ChainLink>(
  entries: AsyncIterable<Entry> | Iterable<Entry>,
  { isOwn, faultOf, mayBegin }: ChainRules<Entry>,
  kept: Iterable<KeptHead>,
): Promise<ChainReport> {
  const faults: ChainFault[] = [];
  let gaps: { from: number; to: number }[] = [];
  let count = 0;
  let faultCount = 0;
  let head: ChainHead = { sequence: 0, hash: FIRST_HASH };
  const expected = new ExpectedHeads(kept);
  const report = (fault: ChainFault): void => {
    faultCount += 1;
    if (faults.length < MOST_FAULTS) faults.push(fault);
  };
  for await (const entry of entries) {
    count += 1;
    const { sequence, hash, previousHash } = entry;
    if (!isOwn(entry)) {
      report({ fault: 'foreign', sequence });
      continue;
    }
    const own = faultOf(entry);
    if (own !== undefined) report({ fault: own, sequence });
    if (sequence <= head.sequence) {
      const gap = gaps.find(({ from, to }) => sequence >= from && sequence <= to);
      report({ fault: gap === undefined ? 'repeated' : 'reordered', sequence });
      if (gap !== undefined) gaps = gaps.flatMap((each) => (each === gap ? without(gap, sequence) : [each]));
      continue;
    }
    const isMet = expected.met({ sequence, hash });
    const isBegin = head.sequence === 0 && sequence > 1 && mayBegin?.(entry) === true;
    if (isBegin) {
      // Heads of the entries before it can't be proved by this log.
      const to = expected.lastBefore(sequence);
      if (to !== undefined) gaps.push({ from: 1, to });
    } else if (sequence > head.sequence + 1) gaps.push({ from: head.sequence + 1, to: sequence - 1 });
    const follows = isBegin || sequence > head.sequence + 1 || previousHash === head.hash;
    if (!follows || !isMet) report({ fault: 'replaced', sequence });
    head = { sequence, hash };
  }
  if (expected.last > head.sequence) gaps.push({ from: head.sequence + 1, to: expected.last });
  for (const hash of expected.hashes) report({ fault: 'head-not-found', sequence: head.sequence, hash });
  for (const { from, to } of gaps) report({ fault: 'missing', sequence: from, toSequence: to });
  return { entries: count, faults, faultCount, head: head.sequence === 0 ? undefined : head };
}

/** Heads that the log has to meet. */
class ExpectedHeads {
  readonly #bySequence = new Map<number, Set<string>>();
  /** Hashes of heads without a known sequence that have not matched an entry so far. */
  readonly hashes = new Set<string>();
  /** The highest sequence of a head; 0 without one. */
  last = 0;

  constructor(heads: Iterable<KeptHead>) {
    for (const { sequence, hash } of heads) {
      if (sequence === undefined) {
        this.hashes.add(hash);
        continue;
      }
      this.#bySequence.set(sequence, (this.#bySequence.get(sequence) ?? new Set()).add(hash));
      this.last = Math.max(this.last, sequence);
    }
  }

  /** @returns false when a head says that this entry had another hash */
  met({ sequence, hash }: ChainHead): boolean {
    this.hashes.delete(hash);
    return [...(this.#bySequence.get(sequence) ?? [])].every((each) => each === hash);
  }

  lastBefore(sequence: number): number | undefined {
    const before = [...this.#bySequence.keys()].filter((each) => each < sequence);
    return before.length === 0 ? undefined : before.reduce((one, other) => Math.max(one, other));
  }
}

function without({ from, to }: { from: number; to: number }, sequence: number): { from: number; to: number }[] {
  return [
    { from, to: sequence - 1 },
    { from: sequence + 1, to },
  ].filter((gap) => gap.from <= gap.to);
}
