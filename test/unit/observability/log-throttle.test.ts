import { expect, it } from 'vitest';
import { silentLogger } from '../../../src/observability/logger.ts';
import { warnThrottled } from '../../../src/observability/log-throttle.ts';
import { ManualClock } from '../../support/manual-clock.ts';

it('tells of each problem once in ten seconds, and of how many it did not', () => {
  const clock = new ManualClock();
  const lines: unknown[] = [];
  const warn = warnThrottled({ ...silentLogger, warn: (fields) => void lines.push(fields) }, clock, 'connection');
  const [away, full] = [new Error('away'), new Error('full')];
  for (let second = 0; second < 21; second += 1) {
    for (let time = 0; time < 40; time += 1) warn(away);
    if (second === 5) warn(full);
    clock.advance(1_000);
  }
  expect(lines).toEqual([{ error: away }, { error: full }, { error: away, unsaid: 399 }, { error: away, unsaid: 399 }]);
});
