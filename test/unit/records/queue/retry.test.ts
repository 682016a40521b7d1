import { expect, it } from 'vitest';
import { type RetryPolicy, WEBHOOK_RETRY } from '../../../../src/records/queue/port.ts';
import { JOB_RETRY } from '../../../../src/records/queue/bull-queue.ts';
import { backoffDelayMs } from '../../../../src/kernel/backoff.ts';

const HOUR_MS = 3_600_000;

/** When each try begins, in ms since the first, if each fails at once. @param random 0 for the longest waits, 1 for the shortest */
function triesOf({ attempts, backoff }: RetryPolicy, random: number): readonly number[] {
  const tries = [0];
  for (let retry = 0; retry < attempts - 1; retry += 1) tries.push(tries.at(-1)! + backoffDelayMs(backoff, retry, random));
  return tries;
}

it.each([0, 1])('outlives a speech platform that is down for an hour (jitter at %i)', (random) => {
  const tries = triesOf(JOB_RETRY, random);
  expect(tries.at(-1)).toBeGreaterThan(1.25 * HOUR_MS);
});

it.each([0, 1])('delivers a webhook to an endpoint that is down for most of a day (jitter at %i)', (random) => {
  const tries = triesOf(WEBHOOK_RETRY, random);
  expect(tries.at(-1)).toBeGreaterThan(20 * HOUR_MS);
  expect(tries.at(-1)).toBeLessThan(28 * HOUR_MS);
});
