import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { afterAttempt, type EndedAttempt } from '../../../src/outbound/contact-keeper.ts';
import { campaignSettings, retryAfter } from '../../../src/outbound/campaign.ts';
import type { ContactHistory } from '../../../src/records/campaigns.ts';
import { type Disposition, DISPOSITIONS } from '../../../src/records/dialling.ts';

const KOLKATA = ['Asia/Kolkata'];
const MINUTE_MS = 60_000;
/** 10:00 in India. */
const TEN = Date.UTC(2026, 2, 2, 4, 30);

const settingsOf = (written: object = {}) =>
  campaignSettings.parse({ name: 'test', bot: 'reminder', from: '+15550100001', profile: 'none', ...written });
const contact = (attempts: number, outcomes: ContactHistory['outcomes'] = {}, messageLeft = false) => ({
  attempts,
  outcomes,
  messageLeft,
});
const ended = (disposition: Disposition, more: Partial<EndedAttempt> = {}): EndedAttempt => ({
  disposition,
  placedAtMs: TEN - 60_000,
  endedAtMs: TEN,
  ...more,
});

describe('afterAttempt', () => {
  it('takes none of the further calls of an outcome for what was never placed', () => {
    const unplaced = { placedAtMs: undefined };
    const { outcomes } = afterAttempt(settingsOf(), contact(1), ended('cancelled', unplaced), KOLKATA);
    expect(outcomes).toEqual({ refused: 1 });
    expect(afterAttempt(settingsOf(), contact(2, outcomes), ended('cancelled'), KOLKATA)).toMatchObject({ state: 'waiting' });
    const lost = ended('failed', { ...unplaced, cause: 'not-placed' });
    expect(afterAttempt(settingsOf(), contact(1), lost, KOLKATA).outcomes).toEqual({ refused: 1 });
  });

  test.each([
    'completed',
    'transferred',
    'opt-out',
    'wrong-number',
    'fax',
    'ivr',
    'bot',
    'message-left',
    'unknown',
    'rejected',
  ] as const)('ends a contact after %s', (disposition) => {
    expect(afterAttempt(settingsOf(), contact(1), ended(disposition), KOLKATA)).toMatchObject({ state: 'done', disposition });
  });

  test.each([
    { outcome: 'busy', outcomes: {}, minutes: 15 },
    { outcome: 'busy', outcomes: { busy: 1 }, minutes: 60 },
    { outcome: 'failed', outcomes: {}, minutes: 10 },
    { outcome: 'hold', outcomes: {}, minutes: 60 },
    // 14:00 is in the afternoon already.
    { outcome: 'no-answer', outcomes: {}, minutes: 240 },
    // 11:00 would be in the same morning: noon.
    { outcome: 'silence', outcomes: {}, minutes: 120 },
  ] as const)('calls again after $outcome in $minutes minutes', ({ outcome, outcomes, minutes }) => {
    const change = afterAttempt(settingsOf(), contact(1, outcomes), ended(outcome), KOLKATA);
    expect(change).toMatchObject({
      state: 'waiting',
      dueAtMs: TEN + minutes * MINUTE_MS,
      priority: 'retry',
      disposition: outcome,
    });
  });

  it('calls in the evening again on the next morning, on the clock of the person', () => {
    const placedAtMs = Date.UTC(2026, 2, 2, 13, 0);
    const change = afterAttempt(
      settingsOf(),
      contact(1),
      ended('no-answer', { placedAtMs, endedAtMs: placedAtMs + 30_000 }),
      KOLKATA,
    );
    // 18:30 in India; four hours later it is still evening. Midnight begins the next part, and the calling hours open later.
    expect(change).toMatchObject({ state: 'waiting', dueAtMs: Date.UTC(2026, 2, 2, 18, 30) });
  });

  it('gives a contact up after so many calls in all, and after so many of one outcome', () => {
    expect(afterAttempt(settingsOf(), contact(3, { busy: 1, failed: 1 }), ended('busy'), KOLKATA)).toMatchObject({
      state: 'done',
      disposition: 'busy',
    });
    const many = settingsOf({ attempts: { most: 20 } });
    expect(afterAttempt(many, contact(3, { busy: 2 }), ended('busy'), KOLKATA)).toMatchObject({ state: 'done' });
  });

  it('leaves a message once: later unanswered calls do not undo it', () => {
    const again = settingsOf({ attempts: { most: 2, after: { 'message-left': { afterMinutes: [60], most: 1 } } } });
    const first = afterAttempt(again, contact(1), ended('message-left'), KOLKATA);
    expect(first).toMatchObject({ state: 'waiting', messageLeft: true });
    const second = afterAttempt(again, contact(2, first.outcomes, true), ended('no-answer'), KOLKATA);
    expect(second).toMatchObject({ state: 'done', disposition: 'message-left' });
  });

  it('calls back at the time that the person named, beyond the most calls', () => {
    const callBackAtMs = TEN + 7 * 3_600_000;
    const change = afterAttempt(settingsOf({ attempts: { most: 1 } }), contact(1), ended('call-back', { callBackAtMs }), KOLKATA);
    expect(change).toMatchObject({ state: 'waiting', dueAtMs: callBackAtMs, callBackAtMs, priority: 'call-back' });
    const busy = afterAttempt(settingsOf({ attempts: { most: 2 } }), contact(2, change.outcomes), ended('busy'), KOLKATA);
    expect(busy).toMatchObject({ state: 'waiting', priority: 'retry' });
    expect(
      afterAttempt(settingsOf(), contact(9, { 'call-back': 3 }), ended('call-back', { callBackAtMs }), KOLKATA),
    ).toMatchObject({
      state: 'done',
      disposition: 'call-back',
    });
  });

  it('calls back an hour later where the person named no time', () => {
    expect(afterAttempt(settingsOf(), contact(1), ended('call-back'), [])).toMatchObject({ dueAtMs: TEN + 3_600_000 });
  });

  it('does not count an attempt that the carrier never got', () => {
    const unplaced = ended('cancelled', { placedAtMs: undefined });
    const change = afterAttempt(settingsOf({ attempts: { most: 1 } }), contact(1), unplaced, KOLKATA);
    expect(change).toMatchObject({ state: 'waiting', dueAtMs: TEN + 1000 });
    const next = afterAttempt(settingsOf({ attempts: { most: 2 } }), contact(2, change.outcomes), ended('busy'), KOLKATA);
    expect(next).toMatchObject({ state: 'waiting', dueAtMs: TEN + 15 * MINUTE_MS });
  });

  it('plans nothing behind the end of the campaign', () => {
    const settings = settingsOf({ endsAt: new Date(TEN + 10 * MINUTE_MS).toISOString() });
    expect(afterAttempt(settings, contact(1), ended('busy'), KOLKATA)).toMatchObject({ state: 'done', disposition: 'busy' });
    expect(afterAttempt(settings, contact(1), ended('call-back'), KOLKATA)).toMatchObject({
      state: 'done',
      disposition: 'call-back',
    });
  });

  it('ends for every contact, whatever comes of its attempts', () => {
    fc.assert(
      fc.property(
        fc.infiniteStream(fc.constantFrom(...DISPOSITIONS.filter((name) => name !== 'cancelled' && name !== 'refused'))),
        fc.integer({ min: 1, max: 10 }),
        (stream, most) => {
          const settings = settingsOf({ attempts: { most } });
          let state = contact(0);
          for (const disposition of stream) {
            const change = afterAttempt(
              settings,
              contact(state.attempts + 1, state.outcomes, state.messageLeft),
              ended(disposition),
              KOLKATA,
            );
            if (change.state === 'done') break;
            expect(change.dueAtMs).toBeGreaterThanOrEqual(TEN);
            state = contact(state.attempts + 1, change.outcomes, change.messageLeft);
            expect(state.attempts).toBeLessThanOrEqual(most + 3);
          }
        },
      ),
    );
  });
});

it('takes rules of its own for an outcome, and the defaults for the others', () => {
  const settings = settingsOf({ attempts: { after: { busy: { afterMinutes: [1], most: 5 } } } });
  expect(retryAfter(settings, 'busy')).toEqual({ afterMinutes: [1], most: 5, otherTimeOfDay: false });
  expect(retryAfter(settings, 'failed')?.most).toBe(2);
  expect(retryAfter(settings, 'opt-out')).toBeUndefined();
});
