import { z } from 'zod';
import type { ImportedList } from '../../../outbound/dial-lists.ts';
import { maskNumber, maskNumbersIn } from '../../../records/privacy/mask-number.ts';
import { type Consent, EVIDENCE_KINDS, PURPOSES, type SuppressionEntry } from '../../../records/dialling.ts';
import type { Principal } from '../system/api-keys.ts';
import { isoTime } from '../calls/call-views.ts';
import { rowProblemView, viewOfProblem } from './campaign-views.ts';

const wallTime = z.iso.datetime();

export const suppressionView = z.object({
  /** Masked without the scope `numbers:read`; null once erased, while the entry stays in force. */
  number: z.string().nullable(),
  list: z.string(),
  addedAt: wallTime,
  /** When it ends; null: never. */
  until: wallTime.nullable(),
  /** `caller` for an opt-out in a call, else the author of the entry. */
  source: z.string(),
  callId: z.string().nullable(),
  note: z.string().nullable(),
});
export const consentView = z.object({
  /** Masked without the scope `numbers:read`, like numbers in the evidence; null once erased. */
  number: z.string().nullable(),
  id: z.string(),
  level: z.enum(['express', 'written']),
  purposes: z.array(z.enum(PURPOSES)).readonly(),
  givenAt: wallTime,
  expiresAt: wallTime.nullable(),
  withdrawnAt: wallTime.nullable(),
  evidence: z.string(),
  /** Null, like the next three, for consents of earlier versions, and once erased. */
  evidenceKind: z.enum(EVIDENCE_KINDS).nullable(),
  /** Where it was captured. */
  evidenceSource: z.string().nullable(),
  /** Author: a key's id, `console` and a user's name, or `cli` and an account. */
  writtenBy: z.string().nullable(),
  writtenAt: wallTime.nullable(),
  registeredId: z.string().nullable(),
});
/** Result of importing a file or one entry. */
export const importedView = z.object({
  added: z.int(),
  known: z.int(),
  refused: z.int(),
  /** The first 1,000 refused rows; lines count the header. */
  problems: z.array(rowProblemView).readonly(),
});

/** An import's result, as the client may see it. */
export function shown(imported: ImportedList, principal: Principal): z.output<typeof importedView> {
  return { ...imported, problems: imported.problems.map((problem) => viewOfProblem(problem, principal)) };
}

export function viewOfEntry(entry: SuppressionEntry, { scopes }: Principal): z.output<typeof suppressionView> {
  const { number: known, list, addedAtMs, untilMs, source, callId, note } = entry;
  const shows = scopes.includes('numbers:read');
  return {
    number: known === undefined || shows ? (known ?? null) : maskNumber(known),
    list,
    addedAt: isoTime(addedAtMs),
    until: untilMs === undefined ? null : isoTime(untilMs),
    source,
    callId: callId ?? null,
    note: note === undefined || shows ? (note ?? null) : maskNumbersIn(note, known === undefined ? [] : [known]),
  };
}

export function viewOfConsent(
  consent: Consent & { readonly number: string | undefined },
  { scopes }: Principal,
): z.output<typeof consentView> {
  const { number: known, id, level, purposes, givenAtMs, expiresAtMs, withdrawnAtMs, registeredId } = consent;
  const { evidence, evidenceKind, evidenceSource, writtenBy, writtenAtMs } = consent;
  const shows = scopes.includes('numbers:read');
  const masked = (text: string): string => (shows ? text : maskNumbersIn(text, known === undefined ? [] : [known]));
  return {
    number: known === undefined || shows ? (known ?? null) : maskNumber(known),
    id,
    level,
    purposes,
    givenAt: isoTime(givenAtMs),
    expiresAt: expiresAtMs === undefined ? null : isoTime(expiresAtMs),
    withdrawnAt: withdrawnAtMs === undefined ? null : isoTime(withdrawnAtMs),
    evidence: masked(evidence),
    evidenceKind: evidenceKind ?? null,
    evidenceSource: evidenceSource === undefined ? null : masked(evidenceSource),
    writtenBy: writtenBy ?? null,
    writtenAt: writtenAtMs === undefined ? null : isoTime(writtenAtMs),
    registeredId: registeredId ?? null,
  };
}
