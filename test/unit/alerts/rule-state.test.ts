import { expect, it, test } from 'vitest';
import { noticeOf, noticeText, noticeTitle, testNotice } from '../../../src/alerts/notice.ts';
import { QUIET, type RuleState, stepRule } from '../../../src/alerts/rule-state.ts';

const MINUTE_MS = 60_000;
const rule = { above: 2_000, coolDownMinutes: 60, resolved: true };

/** What is told of these values, one a minute; `?` is unknown. */
function told(values: readonly (number | '?')[], about: Partial<typeof rule> & { below?: number } = {}): string {
  let state: RuleState = QUIET;
  return values
    .map((value, minute) => {
      const reading = { value: value === '?' ? undefined : value, details: [] };
      const step = stepRule(state, { ...rule, ...about }, reading, minute * MINUTE_MS);
      ({ state } = step);
      return step.notice?.[0] ?? '.';
    })
    .join('');
}

test.each([
  { note: 'nothing below the threshold', values: [1_000, 2_000], says: '..' },
  { note: 'once that it fires, and once that it is over', values: [1_000, 2_001, 3_000, 2_000, 1_000], says: '.f.r.' },
  { note: 'nothing new while nothing is known', values: [3_000, '?', '?', 1_000], says: 'f..r' },
  { note: 'nothing of a second alert within the cool-down', values: [3_000, 1_000, 3_000, 1_000], says: 'fr..' },
] as const)('it tells $note', ({ values, says }) => expect(told(values)).toBe(says));

it('tells of an alert that outlasts the cool-down of the one before', () => {
  expect(told([3_000, 1_000, 3_000, 3_000, 3_000, 3_000], { coolDownMinutes: 4 })).toBe('fr..f.');
});

it('does not tell the end where the rule does not say so', () => {
  expect(told([3_000, 1_000], { resolved: false })).toBe('f.');
});

it('fires below a threshold too', () => {
  const { above: _above, ...rest } = rule;
  const step = stepRule(QUIET, { ...rest, below: 1 }, { value: 0, details: [] }, 0);
  expect(step.notice).toBe('firing');
});

it('says in words what fired, with its figures and details', () => {
  const about = { name: 'Slow replies', figure: 'reply-p95-ms', above: 2_000, bot: 'clinic' } as const;
  const notice = noticeOf('firing', about, { value: 2_513.4, details: ['40 calls in 15 minutes'] }, { id: 'alert_1', atMs: 0 });
  expect(noticeText(notice)).toBe(
    'Offhook alert: Slow replies\nreply-p95-ms of the bot clinic is 2513.4; the threshold is 2000.\n- 40 calls in 15 minutes\n1970-01-01T00:00:00.000Z',
  );
  expect(noticeTitle({ ...notice, state: 'resolved' })).toBe('Offhook: Slow replies is over');
  expect(noticeText(testNotice({ id: 'alert_2', atMs: 0 }))).toBe(
    'Offhook: a test of this alert channel\n1970-01-01T00:00:00.000Z',
  );
});
