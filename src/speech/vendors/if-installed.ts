import type { Logger } from '../../observability/logger.ts';
import { SpeechRequestError } from '../client/errors.ts';

/**
 * A service whose package is installed by whoever uses it. Without it the vendor's other service goes on.
 * @returns undefined, with a warning, where it cannot be made
 */
export function ifInstalled<Service>(make: () => Service, logger: Logger): Service | undefined {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof SpeechRequestError)) throw error;
    logger.warn({ error }, error.message);
    return undefined;
  }
}
