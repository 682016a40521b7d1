import type { OutcomeCounts } from '../records/campaigns.ts';
import { type Disposition, WITH_A_PERSON } from '../records/dialling.ts';
import type { BreakerSettings } from './campaign.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** Period of the abandoned-call share (47 CFR 64.1200(a)(7)). */
const ABANDON_DAYS = 30;
/** Least number of person-answered calls before the abandoned share is meaningful. */
const LEAST_ANSWERED = 100;

const FAILED: readonly Disposition[] = ['failed', 'unknown'];
const MAILBOXES: readonly Disposition[] = ['mailbox', 'mailbox-full', 'message-left'];
/** Attempts that reached the carrier, as evidence about it. */
const TRIED: readonly Disposition[] = [
  ...FAILED,
  ...MAILBOXES,
  ...WITH_A_PERSON,
  ...(['screening', 'ivr', 'hold', 'fax', 'bot', 'silence', 'busy', 'no-answer', 'rejected'] as const),
];

/**
 * Starts of the counted periods: the window, the day before it, and the abandoned-call period. For the first two, results before the campaign's last
 * start or resumption do not count, as a person has seen them.
 */
export function breakerMoments(
  { windowMinutes }: BreakerSettings,
  nowMs: number,
  runningSinceMs: number,
): readonly [number, number, number] {
  const windowMs = Math.max(nowMs - windowMinutes * MINUTE_MS, runningSinceMs);
  return [windowMs, Math.max(windowMs - DAY_MS, runningSinceMs), nowMs - ABANDON_DAYS * DAY_MS];
}

/**
 * Why to pause a campaign; undefined for no reason.
 * @param outcomes counted since each of `breakerMoments`
 * @param mostAbandonedPercent of the duty `abandon-at-most` of the dialling profile
 */
export function trippedBy(
  outcomes: OutcomeCounts,
  settings: BreakerSettings,
  mostAbandonedPercent: number | undefined,
): string | undefined {
  const { windowMinutes, leastAttempts, failedShare, mailboxJump } = settings;
  const count = (names: readonly Disposition[], since: 0 | 1 | 2): number =>
    names.reduce((sum, name) => sum + (outcomes.get(name)?.[since] ?? 0), 0);
  const tried = count(TRIED, 0);
  const failed = count(FAILED, 0);
  if (failedShare < 1 && tried >= leastAttempts && failed > failedShare * tried) {
    return `${failed} of ${tried} calls failed within ${windowMinutes} minutes (at most ${percent(failedShare)})`;
  }
  const answered = [...MAILBOXES, ...WITH_A_PERSON];
  const now = { mailboxes: count(MAILBOXES, 0), answered: count(answered, 0) };
  const before = { mailboxes: count(MAILBOXES, 1) - now.mailboxes, answered: count(answered, 1) - now.answered };
  if (mailboxJump < 1 && now.answered >= leastAttempts && before.answered >= leastAttempts) {
    const share = now.mailboxes / now.answered;
    const usual = before.mailboxes / before.answered;
    if (share - usual > mailboxJump) {
      return `mailboxes answered ${percent(share)} of calls within ${windowMinutes} minutes, ${percent(usual)} before`;
    }
  }
  const people = count(WITH_A_PERSON, 2);
  const abandoned = count(['abandoned'], 2);
  if (mostAbandonedPercent !== undefined && abandoned * 100 > mostAbandonedPercent * Math.max(people, LEAST_ANSWERED)) {
    return `${abandoned} of ${people} people hung up before the bot had spoken, within ${ABANDON_DAYS} days (at most ${mostAbandonedPercent} %)`;
  }
  return undefined;
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}
