import type { Logger } from '../../observability/logger.ts';
import { SpeechRequestError } from '../client/errors.ts';

/**
 * Makes a service whose package is optional. Without it the vendor's other service still works.
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
