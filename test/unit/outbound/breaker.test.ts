import { describe, expect, it, test } from 'vitest';
import { breakerMoments, trippedBy } from '../../../src/outbound/breaker.ts';
import { campaignSettings } from '../../../src/outbound/campaign.ts';
import type { Disposition } from '../../../src/records/dialling.ts';

const { breaker } = campaignSettings.parse({ name: 'test', bot: 'reminder', from: '+15550100001', profile: 'none' });

type Counts = Partial<Record<Disposition, number>>;

/** @param before in the day before the window. @param month in the days before that */
const outcomes = (now: Counts, before: Counts = {}, month: Counts = {}) =>
  new Map(
    ([...new Set([...Object.keys(now), ...Object.keys(before), ...Object.keys(month)])] as Disposition[]).map((name) => {
      const inWindow = now[name] ?? 0;
      const inDay = inWindow + (before[name] ?? 0);
      return [name, [inWindow, inDay, inDay + (month[name] ?? 0)]] as const;
    }),
  );

describe('trippedBy', () => {
  test.each([
    {
      note: 'many calls fail',
      now: { failed: 9, 'no-answer': 11 },
      reason: '9 of 20 calls failed within 10 minutes (at most 40 %)',
    },
    {
      note: 'nobody knows of many calls',
      now: { unknown: 9, completed: 11 },
      reason: '9 of 20 calls failed within 10 minutes (at most 40 %)',
    },
    { note: 'few calls say nothing', now: { failed: 19 }, reason: undefined },
    { note: 'as many fail as may', now: { failed: 8, completed: 12 }, reason: undefined },
    { note: 'refusals and cancelled calls are not tried', now: { failed: 9, refused: 500, cancelled: 11 }, reason: undefined },
    {
      note: 'mailboxes jump',
      now: { mailbox: 12, 'message-left': 4, completed: 4 },
      before: { mailbox: 30, completed: 70 },
      reason: 'mailboxes answered 80 % of calls within 10 minutes, 30 % before',
    },
    {
      note: 'mailboxes are as usual',
      now: { mailbox: 16, completed: 4 },
      before: { mailbox: 60, completed: 40 },
      reason: undefined,
    },
    { note: 'there is no usual yet', now: { mailbox: 20 }, before: { completed: 19 }, reason: undefined },
  ])('pauses when $note', ({ now, before, reason }) => {
    expect(trippedBy(outcomes(now, before), breaker, undefined)).toBe(reason);
  });

  it('pauses when more people hung up unheard than the profile allows, over thirty days', () => {
    const month = { completed: 190, abandoned: 6 };
    expect(trippedBy(outcomes({ abandoned: 1 }, {}, month), breaker, 3)).toBe(
      '7 of 197 people hung up before the bot had spoken, within 30 days (at most 3 %)',
    );
    expect(trippedBy(outcomes({ abandoned: 1 }, {}, month), breaker, undefined)).toBeUndefined();
    // Of few people one is more than three in a hundred.
    expect(trippedBy(outcomes({ abandoned: 3, completed: 7 }), breaker, 3)).toBeUndefined();
    expect(trippedBy(outcomes({ abandoned: 4, completed: 6 }), breaker, 3)).toBeDefined();
  });

  it('can be switched off', () => {
    const off = { ...breaker, failedShare: 1, mailboxJump: 1 };
    expect(trippedBy(outcomes({ failed: 100 }), off, undefined)).toBeUndefined();
    expect(trippedBy(outcomes({ mailbox: 100 }, { completed: 100 }), off, undefined)).toBeUndefined();
  });
});

it('does not count what a person saw before they resumed the campaign', () => {
  const nowMs = Date.UTC(2026, 2, 2, 12);
  expect(breakerMoments(breaker, nowMs, nowMs - 60_000)).toEqual([nowMs - 60_000, nowMs - 60_000, nowMs - 30 * 86_400_000]);
  expect(breakerMoments(breaker, nowMs, 0)).toEqual([nowMs - 600_000, nowMs - 600_000 - 86_400_000, nowMs - 30 * 86_400_000]);
});
