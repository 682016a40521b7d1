import { sleep } from '../../kernel/abort.ts';
import type { Clock } from '../../kernel/clock.ts';
import { hasCode } from '../../kernel/error-code.ts';
import { UsageError } from '../speech/usage.ts';
import { FetchError } from './fetch-error.ts';
import { type BrokenItem, isBroken, type Item, type ItemOptions, itemsOf } from './items.ts';

/** Folders are looked through so often. No system tells of changes on network drives. */
const POLL_MS = 2000;

/**
 * What comes into the inputs after a first run: recordings that are new or have changed, each once it has not grown between
 * two looks.
 * @param known what the first run has seen
 * @param onProblem hears of a look that failed and is repeated: a bucket that is away, a folder that was moved
 * @throws the signal's reason when aborted: there is no other end
 */
export async function* watchItems(
  inputs: readonly string[],
  known: readonly (Item | BrokenItem)[],
  options: ItemOptions,
  clock: Clock,
  onProblem: (error: unknown) => void,
): AsyncIterable<readonly Item[]> {
  const seen = new Set(known.filter((item) => !isBroken(item)).map(identity));
  let before = new Set<string>();
  for (;;) {
    await sleep(clock, POLL_MS, options.signal);
    const now: Item[] = [];
    try {
      for await (const item of itemsOf(inputs, options)) if (!isBroken(item) && !seen.has(identity(item))) now.push(item);
    } catch (error) {
      // An emptied folder may fill again.
      if (!(error instanceof UsageError)) {
        if (!mayPass(error)) throw error;
        onProblem(error);
      }
    }
    const whole = now.filter((item) => before.has(identity(item)));
    before = new Set(now.map(identity));
    for (const item of whole) seen.add(identity(item));
    if (whole.length > 0) yield whole;
  }
}

function mayPass(error: unknown): boolean {
  return (error instanceof FetchError && error.retryable) || hasCode(error, 'ENOENT', 'ESTALE', 'EIO');
}

function identity({ name, ...item }: Item | BrokenItem): string {
  return JSON.stringify([name, 'version' in item ? item.version : undefined]);
}
