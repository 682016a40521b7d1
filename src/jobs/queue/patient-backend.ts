import type { BackendFactory, IQueueBackend } from 'bullmq';
import { sleep } from '../../kernel/abort.ts';
import type { Clock } from '../../kernel/clock.ts';

/** How long a worker waits after it could not ask for a job, in ms. */
const PAUSE_MS = 1_000;

/**
 * A backend whose failing questions for a job take a while. BullMQ's worker (6.7.0) waits before it asks again only where the
 * connection was refused; after every other failure (a database that is shutting down, a Redis that is still loading) it asks
 * again at once, and leaves nothing of the processor to the calls.
 */
export function patient<Backend extends IQueueBackend, Connection>(
  create: BackendFactory<Backend, Connection>,
  clock: Clock,
): BackendFactory<Backend, Connection> {
  return (...given) => {
    const backend = create(...given);
    const ask = backend.moveToActive.bind(backend);
    backend.moveToActive = async (...asked) => {
      try {
        return await ask(...asked);
      } catch (error) {
        await sleep(clock, PAUSE_MS);
        throw error;
      }
    };
    return backend;
  };
}
