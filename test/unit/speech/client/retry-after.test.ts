import { expect, test } from 'vitest';
import { retryAfterMs } from '../../../../src/speech/client/retry-after.ts';

const NOW = Date.UTC(2026, 0, 1, 12, 0, 0);

test.each([
  { header: '17', waitMs: 17_000 },
  { header: ' 2 ', waitMs: 2_000 },
  { header: '1.5', waitMs: 1_500 },
  { header: 'Thu, 01 Jan 2026 12:00:30 GMT', waitMs: 30_000 },
])('waits as long as $header says [97]', ({ header, waitMs }) => {
  expect(retryAfterMs(header, NOW)).toBe(waitMs);
});

test.each(['0', '-5', 'Thu, 01 Jan 2026 11:00:00 GMT'])('reads %s as no wait', (header) => {
  expect(retryAfterMs(header, NOW)).toBe(0);
});

test.each([null, '', '  ', 'soon', 'NaN', 'Infinity'])('follows its own rule when the header is %j', (header) => {
  expect(retryAfterMs(header, NOW)).toBeUndefined();
});
