import { createHash } from 'node:crypto';
import { canonicalJson } from '../../kernel/json.ts';
import type { DecisionEntry } from '../../store/dialling.ts';
import type { DialDecision, DialFacts, RefusalName } from './facts.ts';

/** What stands in the log of one decision. It outlives the person's data, so it names the number by a keyed reference only. */
export interface LoggedDecision {
  /** Reference to the number under a key that can be destroyed; never the number or its plain hash. */
  readonly subject: string;
  readonly allowed: boolean;
  /** All refusals, the first one first; empty when allowed. */
  readonly refusals: readonly RefusalName[];
  readonly detail: string | null;
  readonly retryAtMs: number | null;
  readonly waived: readonly RefusalName[];
  readonly consentId: string | null;
  readonly profile: string;
  /** Hash of the profile's rules. */
  readonly profileHash: string;
  readonly overlays: readonly string[];
  readonly purpose: string | null;
  readonly campaignId: string | null;
  readonly callerId: string | null;
  /** Of an allowed call, in millionths of the currency of the price list; null where that has no price of the number. Absent in older entries. */
  readonly costMicros?: number | null;
  readonly local: readonly { readonly zone: string; readonly time: string }[];
}

/** One entry of a tenant's decision log. Each holds the hash of the one before, so that none can be changed or removed unseen. */
export interface ChainEntry {
  readonly tenantId: string;
  /** 1 for a tenant's first entry, then without gaps. */
  readonly sequence: number;
  readonly atMs: number;
  readonly body: LoggedDecision;
  /** Hash of the entry before; `FIRST_HASH` for the first. */
  readonly previousHash: string;
  /** SHA-256, in hex, over the previous hash and the canonical JSON of the rest of this entry. */
  readonly hash: string;
}

/** The end of a tenant's log, for a store and for whoever keeps a copy elsewhere. */
export type ChainHead = Pick<ChainEntry, 'sequence' | 'hash'>;

export const FIRST_HASH = '0'.repeat(64);

/** @param subject keyed reference to the number */
export function loggedDecision(facts: DialFacts, decision: DialDecision, subject: string): LoggedDecision {
  const { profile, overlays, local } = decision;
  return {
    subject,
    allowed: decision.allowed,
    refusals: decision.allowed ? [] : [...new Set(decision.refusals.map(({ refusal }) => refusal))],
    detail: decision.allowed ? null : decision.detail,
    retryAtMs: decision.allowed ? null : (decision.retryAtMs ?? null),
    waived: decision.allowed ? decision.waived : [],
    consentId: (decision.allowed ? decision.consentId : undefined) ?? null,
    profile: profile.name,
    profileHash: profile.hash,
    overlays,
    purpose: facts.purpose ?? null,
    campaignId: facts.campaignId ?? null,
    callerId: facts.callerId?.number ?? null,
    costMicros: decision.allowed ? (facts.day.costMicros ?? null) : null,
    local,
  };
}

/**
 * The entry that comes after `head`. Whoever stores it has to do so atomically with the new head.
 * @param head undefined for a tenant's first entry
 */
export function appendEntry(head: ChainHead | undefined, tenantId: string, atMs: number, body: LoggedDecision): ChainEntry {
  const entry = { tenantId, sequence: (head?.sequence ?? 0) + 1, atMs, body, previousHash: head?.hash ?? FIRST_HASH };
  return { ...entry, hash: hashOf(entry) };
}

function hashOf({ previousHash, tenantId, sequence, atMs, body }: Omit<DecisionEntry, 'hash'>): string {
  return createHash('sha256').update(previousHash).update(canonicalJson({ tenantId, sequence, atMs, body })).digest('hex');
}

/** Reads `SEQUENCE:HASH`. @returns undefined for any other text */
export function parseHead(text: string): ChainHead | undefined {
  const [, sequence, hash] = /^([1-9]\d{0,14}):([0-9a-f]{64})$/u.exec(text.trim()) ?? [];
  return sequence === undefined || hash === undefined ? undefined : { sequence: Number(sequence), hash };
}

/** What is wrong with a log, and at which entry. */
export type ChainFault =
  /** The entry's content is not what was hashed. */
  | { readonly fault: 'changed'; readonly sequence: number }
  /** The entry is sound by itself, but was not written after the one before it: one of the two was replaced. */
  | { readonly fault: 'replaced'; readonly sequence: number }
  /** These entries are gone, both ends included. */
  | { readonly fault: 'missing'; readonly sequence: number; readonly toSequence: number }
  /** The entry stands behind a later one. */
  | { readonly fault: 'reordered'; readonly sequence: number }
  /** The entry stands there a second time. */
  | { readonly fault: 'repeated'; readonly sequence: number }
  /** The entry belongs to another tenant. */
  | { readonly fault: 'foreign'; readonly sequence: number };

export interface ChainReport {
  readonly entries: number;
  /** The first of them, in the order in which they were found; `faultCount` counts all. */
  readonly faults: readonly ChainFault[];
  readonly faultCount: number;
  /** The end of the log; undefined when it is empty. */
  readonly head: ChainHead | undefined;
}

const MOST_FAULTS = 1000;

/**
 * Reads a tenant's log from its first entry in bounded memory and finds what was changed, removed, moved or added.
 * @param expected head that was kept elsewhere: only with it are entries missed that were cut off the end, or a log that was
 *   written anew as a whole
 */
export async function verifyChain(
  entries: AsyncIterable<DecisionEntry> | Iterable<DecisionEntry>,
  tenantId: string,
  expected?: ChainHead,
): Promise<ChainReport> {
  const faults: ChainFault[] = [];
  let gaps: { from: number; to: number }[] = [];
  let count = 0;
  let faultCount = 0;
  let head: ChainHead = { sequence: 0, hash: FIRST_HASH };
  let hashAtExpected: string | undefined;
  const report = (fault: ChainFault): void => {
    faultCount += 1;
    if (faults.length < MOST_FAULTS) faults.push(fault);
  };
  for await (const entry of entries) {
    count += 1;
    const { sequence, hash, previousHash } = entry;
    if (entry.tenantId !== tenantId) {
      report({ fault: 'foreign', sequence });
      continue;
    }
    if (hashOf(entry) !== hash) report({ fault: 'changed', sequence });
    if (sequence <= head.sequence) {
      const gap = gaps.find(({ from, to }) => sequence >= from && sequence <= to);
      report({ fault: gap === undefined ? 'repeated' : 'reordered', sequence });
      if (gap !== undefined) gaps = gaps.flatMap((each) => (each === gap ? without(gap, sequence) : [each]));
      continue;
    }
    if (sequence > head.sequence + 1) gaps.push({ from: head.sequence + 1, to: sequence - 1 });
    else if (previousHash !== head.hash) report({ fault: 'replaced', sequence });
    if (sequence === expected?.sequence) hashAtExpected = hash;
    head = { sequence, hash };
  }
  if (expected !== undefined && expected.sequence > head.sequence) {
    gaps.push({ from: head.sequence + 1, to: expected.sequence });
  } else if (expected !== undefined && hashAtExpected !== undefined && hashAtExpected !== expected.hash) {
    report({ fault: 'replaced', sequence: expected.sequence });
  }
  for (const { from, to } of gaps) report({ fault: 'missing', sequence: from, toSequence: to });
  return { entries: count, faults, faultCount, head: head.sequence === 0 ? undefined : head };
}

function without({ from, to }: { from: number; to: number }, sequence: number): { from: number; to: number }[] {
  return [
    { from, to: sequence - 1 },
    { from: sequence + 1, to },
  ].filter((gap) => gap.from <= gap.to);
}
