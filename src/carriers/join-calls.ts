import type { CallControl } from './port.ts';

/**
 * Joins two calls where each is moved by a request of its own: the other one first, since the caller's stream goes on until then and can say what
 * failed. When the caller's call is not moved, the other one is hung up: it has no stream any more and would wait alone.
 * @param move moves one call to where the two meet
 * @throws what `move` throws
 */
export async function joinOneByOne(
  control: Pick<CallControl, 'hangUp'>,
  [carrierCallId, otherCarrierCallId]: readonly [string, string],
  move: (carrierCallId: string) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  await move(otherCarrierCallId);
  try {
    await move(carrierCallId);
  } catch (error) {
    await control.hangUp(otherCarrierCallId, signal).catch(() => undefined);
    throw error;
  }
}
