import { createHash } from 'node:crypto';
import {
  type ChainHead,
  type ChainLink,
  type ChainReport,
  FIRST_HASH,
  type KeptHead,
  verifyLinks,
} from '../../kernel/hash-chain.ts';
import { canonicalJson } from '../../kernel/json.ts';
import type { DecisionEntry } from '../../records/dialling.ts';
import type { DialDecision, DialFacts, RefusalName } from './facts.ts';

/** Log entry of a decision. It outlives the person's data, so it only has a keyed reference to the number. */
export interface LoggedDecision {
  /** Reference to the number under a destroyable key; never the number or its plain hash. */
  readonly subject: string;
  readonly allowed: boolean;
  /** All refusals in order; empty when allowed. */
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
  /** Cost of an allowed call, in millionths of the price list's currency; null for a number without a price. Absent in older entries. */
  readonly costMicros?: number | null;
  readonly local: readonly { readonly zone: string; readonly time: string }[];
}

/** One entry of a tenant's decision log. Its hash is over the previous one and the canonical JSON of the rest. */
export interface ChainEntry extends ChainLink {
  readonly tenantId: string;
  readonly atMs: number;
  readonly body: LoggedDecision;
}

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
 * The entry after `head`; must be stored atomically with the new head.
 * @param head undefined for a tenant's first entry
 */
export function appendEntry(head: ChainHead | undefined, tenantId: string, atMs: number, body: LoggedDecision): ChainEntry {
  const entry = { tenantId, sequence: (head?.sequence ?? 0) + 1, atMs, body, previousHash: head?.hash ?? FIRST_HASH };
  return { ...entry, hash: hashOf(entry) };
}

function hashOf({ previousHash, tenantId, sequence, atMs, body }: Omit<DecisionEntry, 'hash'>): string {
  return createHash('sha256').update(previousHash).update(canonicalJson({ tenantId, sequence, atMs, body })).digest('hex');
}

/**
 * Reads a tenant's log from its first entry in bounded memory, and finds changed, removed, moved or added entries.
 * @param kept heads stored elsewhere: only they reveal a truncated end, or a completely rewritten log
 */
export function verifyChain(
  entries: AsyncIterable<DecisionEntry> | Iterable<DecisionEntry>,
  tenantId: string,
  ...kept: readonly (KeptHead | undefined)[]
): Promise<ChainReport> {
  const rules = {
    isOwn: (entry: DecisionEntry) => entry.tenantId === tenantId,
    faultOf: (entry: DecisionEntry) => (hashOf(entry) === entry.hash ? undefined : ('changed' as const)),
  };
  return verifyLinks(
    entries,
    rules,
    kept.filter((head) => head !== undefined),
  );
}
