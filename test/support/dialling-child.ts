import { systemClock } from '../../src/kernel/clock.ts';
import { openDatabase, storeOn } from '../../src/records/database.ts';
import { yesToEach } from './attempt-records.ts';

/**
 * A process that opens the store of the folder in its first argument and decides about twenty numbers at a time until it is killed. It
 * prints `asking` before each transaction and the first of its attempts' ids once that is stored; the second argument begins the ids.
 */
const [dataDir = '', prefix = ''] = process.argv.slice(2);
const database = await openDatabase({ url: undefined, dataDir, clock: systemClock, onProblem: () => {} });
const { attempts } = storeOn(database);
for (let round = 0; ; round += 1) {
  const numbers = Array.from({ length: 20 }, (_, index) => `+1212${String(1_000_000 + round * 20 + index)}`);
  process.stdout.write('asking\n');
  const idOf = (number: string): string => `${prefix}${number.slice(1)}`;
  const about = { numbers, sinceMs: 0, lease: { owner: prefix, untilMs: 1 } };
  await attempts.decide('default', about, yesToEach('default', idOf));
  process.stdout.write(`${idOf(numbers[0] ?? '')}\n`);
}
