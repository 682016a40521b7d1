import { systemClock } from '../../kernel/clock.ts';
import { errorTextWithCause } from '../../kernel/errors.ts';
import { createLogger } from '../../observability/logger.ts';
import { openRecords, type Records } from '../../gateway/records.ts';
import { requireConfiguration } from './configuration.ts';
import { EXIT, printNote } from '../shell/output.ts';

/**
 * Runs with the configured store and queue, which may be a running gateway's, and sets the exit code. Failures are printed.
 * @param name the command, for messages
 */
export async function withRecords(name: string, use: (records: Records) => Promise<number>): Promise<void> {
  const { config } = requireConfiguration();
  const { level, personal } = config.settings.log;
  const logger = createLogger({ level: level === 'info' ? 'warn' : level, personal });
  let records: Records | undefined;
  try {
    records = await openRecords({ config, clock: systemClock, logger, lasting: false });
    process.exitCode = await use(records);
  } catch (error) {
    printNote(`offhook ${name}: ${errorTextWithCause(error)}`);
    process.exitCode = EXIT.failed;
  } finally {
    await records?.close();
  }
}
