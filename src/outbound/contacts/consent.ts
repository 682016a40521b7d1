import { createHash } from 'node:crypto';
import { type Consent, EVIDENCE_KINDS, PURPOSES } from '../../records/dialling.ts';

/** A consent as given: parts may be missing or invalid. */
export interface GivenConsent {
  readonly id?: string | undefined;
  readonly level?: string | undefined;
  readonly purposes: readonly string[];
  readonly givenAtMs: number | undefined;
  readonly expiresAtMs?: number | undefined;
  /** The proof: address or number of a form, a recording, a document. */
  readonly evidence?: string | undefined;
  readonly evidenceKind?: string | undefined;
  /** Where it was captured: a web page, a campaign, a branch. */
  readonly evidenceSource?: string | undefined;
  readonly registeredId?: string | undefined;
}

/** Least letters and digits of a reference; a shorter one does not identify a document. */
const LEAST_REFERENCE = 4;
const LEAST_SOURCE = 3;
const MOST_CHARACTERS = { evidence: 2000, evidence_source: 200, registered_id: 200, id: 100 } as const;

/**
 * Checks a consent and completes it, or returns what it lacks; the same rules for API, commands and files. Without a given id, equal facts have equal
 * ids.
 * @param nowMs the latest possible time of the consent
 */
export function consentOf(given: GivenConsent, nowMs: number): Consent | { readonly reason: string } {
  const { level, givenAtMs, expiresAtMs, evidenceKind: kind, registeredId } = given;
  const [evidence = '', source = ''] = [given.evidence?.trim(), given.evidenceSource?.trim()];
  const purposes = PURPOSES.filter((purpose) => given.purposes.includes(purpose));
  const unknown = given.purposes.find((name) => name !== '' && !PURPOSES.some((purpose) => purpose === name));
  const evidenceKind = EVIDENCE_KINDS.find((each) => each === kind);
  if (level !== 'express' && level !== 'written') return { reason: 'level has to be express or written' };
  if (unknown !== undefined) return { reason: `${unknown.slice(0, 40)} is no purpose: there are ${PURPOSES.join(', ')}` };
  if (purposes.length === 0) return { reason: `purposes names none: there are ${PURPOSES.join(', ')}` };
  if (givenAtMs === undefined) return { reason: 'given_at is missing: when the person consented' };
  const wrongDate = pastProblem(givenAtMs, 'given_at', nowMs);
  if (wrongDate !== undefined) return { reason: wrongDate };
  if (expiresAtMs !== undefined && expiresAtMs <= givenAtMs) return { reason: 'expires_at is not after given_at' };
  if (evidence === '') return { reason: 'evidence is missing: a consent without evidence does not count' };
  if (lettersOf(evidence).length < LEAST_REFERENCE || new Set(lettersOf(evidence)).size < 2)
    return { reason: 'evidence is too short to find it again: the address or the number of a form, a recording, a document' };
  if (evidenceKind === undefined) return { reason: `evidence_kind has to be one of ${EVIDENCE_KINDS.join(', ')}` };
  if (level === 'written' && evidenceKind === 'verbal')
    return { reason: 'evidence_kind verbal proves no written consent: its level is express' };
  if (lettersOf(source).length < LEAST_SOURCE)
    return { reason: 'evidence_source is missing: where it was captured, such as a web page, a campaign or a branch' };
  for (const [name, text] of [
    ['evidence', evidence],
    ['evidence_source', source],
    ['registered_id', registeredId ?? ''],
    ['id', given.id ?? ''],
  ] as const)
    if (text.length > MOST_CHARACTERS[name]) return { reason: `${name} is longer than ${MOST_CHARACTERS[name]} characters` };
  const hash = createHash('sha256').update(JSON.stringify([level, purposes, givenAtMs, evidence, registeredId]));
  return {
    id: given.id ?? `con_${hash.digest('hex').slice(0, 24)}`,
    level,
    purposes,
    givenAtMs,
    expiresAtMs,
    evidence,
    evidenceKind,
    evidenceSource: source,
    registeredId,
  };
}

function lettersOf(text: string): string[] {
  return text.match(/[\p{L}\p{N}]/gu) ?? [];
}

/** Earliest plausible time. */
const EARLIEST_MS = Date.UTC(1990, 0, 1);
const DAY_MS = 86_400_000;
/** Allowed clock difference between machines. */
const CLOCKS_DIFFER_MS = 5 * 60_000;
/** A day is stored as its UTC start, but starts up to this much earlier in other zones. */
const DAY_BEGINS_EARLIER_MS = 14 * 3_600_000;

/** @returns why a past moment is invalid: it is in the future, or absurdly early */
export function pastProblem(atMs: number, name: string, nowMs: number): string | undefined {
  const toleranceMs = atMs % DAY_MS === 0 ? DAY_BEGINS_EARLIER_MS : CLOCKS_DIFFER_MS;
  if (atMs > nowMs + toleranceMs) return `${name} is in the future`;
  return atMs < EARLIEST_MS ? `${name} is before 1990, which can't be right` : undefined;
}
