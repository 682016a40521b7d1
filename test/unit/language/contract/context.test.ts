import { expect, it } from 'vitest';
import { answerContext } from '../../../../src/language/contract/reading.ts';
import { readAnswer } from '../../../../src/language/contract/read-answer.ts';

const EVENING_UTC = Date.UTC(2026, 0, 1, 20);

it.each([
  ['en-IN', ['2026-03-05']],
  ['en-US', ['2026-05-03']],
  ['en', ['2026-03-05', '2026-05-03']],
  ['hi', ['2026-03-05']],
])('reads 5/3 in %s as %j', (language, days) => {
  const reading = readAnswer({ kind: 'date' }, answerContext(language, EVENING_UTC, 'UTC'), '5/3/2026');
  expect(reading.status === 'ambiguous' ? reading.values : [reading.status === 'complete' && reading.value]).toEqual(days);
});

it("counts the days where the caller's are counted", () => {
  const tomorrow = (timeZone: string) => readAnswer({ kind: 'date' }, answerContext('en', EVENING_UTC, timeZone), 'tomorrow');
  expect(tomorrow('UTC')).toMatchObject({ value: '2026-01-02' });
  expect(tomorrow('Asia/Kolkata')).toMatchObject({ value: '2026-01-03' });
});
