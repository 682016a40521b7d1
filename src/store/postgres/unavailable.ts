import { OffhookError } from '../../kernel/errors.ts';
import { StoreRecordError, StoreUnavailableError } from '../errors.ts';

/** SQLSTATE class 23 is a violated constraint, 22 a value the column cannot hold (PostgreSQL manual, appendix A). */
const REFUSED = /^(22|23)/;

/** Names what went wrong with a query in our words: refused for what it says, or not possible now. */
export async function unavailable<Value>(query: Promise<Value>): Promise<Value> {
  try {
    return await query;
  } catch (error) {
    if (error instanceof OffhookError) throw error;
    const state = sqlStateOf(error);
    if (state !== undefined && REFUSED.test(state)) {
      throw new StoreRecordError('the store refuses this record', { cause: error, facts: { sqlState: state } });
    }
    throw new StoreUnavailableError('the store could not do this', { cause: error, facts: { sqlState: state } });
  }
}

/** drizzle wraps the driver's error in one of its own. */
function sqlStateOf(error: unknown): string | undefined {
  for (let inner = error; inner instanceof Error; inner = inner.cause) {
    if ('code' in inner && typeof inner.code === 'string') return inner.code;
  }
  return undefined;
}
