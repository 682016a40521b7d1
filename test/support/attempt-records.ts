import { appendEntry, type LoggedDecision } from '../../src/outbound/gate/chain.ts';
import type { ChainHead } from '../../src/kernel/hash-chain.ts';
import type { Decided, KnownOfNumber, NewAttempt } from '../../src/records/dialling.ts';

/** A whole attempt that waits to be placed, to be changed where a test cares. */
export function attemptRecordOf(changes: Partial<NewAttempt> = {}): NewAttempt {
  return {
    tenantId: 'default',
    id: 'call_1',
    state: 'queued',
    botName: 'reminder',
    carrier: 'twilio',
    index: 1,
    from: '+911400000001',
    to: '+919876543210',
    zone: 'Asia/Kolkata',
    variables: { name: 'Asha' },
    metadata: { order: '17' },
    ringTimeoutMs: 25_000,
    purpose: 'service',
    profile: 'in',
    duties: [{ duty: 'opt-out-in-call', ms: 2000 }],
    decisionSequence: 1,
    placeByMs: 60_000,
    createdAtMs: 1_000,
    ...changes,
  };
}

/** What the log keeps of a decision about a number. */
export function loggedDecisionOf(subject: string, changes: Partial<LoggedDecision> = {}): LoggedDecision {
  return {
    subject,
    allowed: true,
    refusals: [],
    detail: null,
    retryAtMs: null,
    waived: [],
    consentId: null,
    profile: 'in',
    profileHash: '0123456789abcdef',
    overlays: [],
    purpose: 'service',
    campaignId: null,
    callerId: '+911400000001',
    local: [{ zone: 'Asia/Kolkata', time: 'mon 2026-03-02 10:00' }],
    ...changes,
  };
}

/** Says yes to every number that nobody is calling, and writes an attempt of that number for each decision. */
export function yesToEach(
  tenantId: string,
  idOf: (number: string) => string,
  changes: Partial<NewAttempt> = {},
): (known: ReadonlyMap<string, KnownOfNumber>, lists: unknown, head: ChainHead | undefined) => Decided<readonly string[]> {
  return (known, _lists, start) => {
    let head = start;
    const entries = [];
    const attempts: NewAttempt[] = [];
    for (const [to, { isBeingCalled, subject }] of known) {
      const allowed = !isBeingCalled;
      const entry = appendEntry(head, tenantId, changes.createdAtMs ?? 1_000, loggedDecisionOf(subject, { allowed }));
      head = entry;
      entries.push(entry);
      const outcome = allowed ? {} : ({ state: 'ended', disposition: 'refused', cause: 'too-soon', endedAtMs: 1_000 } as const);
      const decisionSequence = entry.sequence;
      attempts.push(attemptRecordOf({ tenantId, id: idOf(to), to, decisionSequence, ...changes, ...outcome }));
    }
    return { entries, attempts, result: attempts.filter(({ state }) => state === 'queued').map(({ to }) => to) };
  };
}
