import type { CallControl } from './port.ts';

/**
 * Joins two calls that are moved by separate requests: the other one first, since the caller's stream continues until its own move and can report a
 * failure. If the caller's call is not moved, the other one is hung up: it has lost its stream and would wait alone.
 * @param move moves one call to where the two meet
 * @throws what `move` throws
 */
export async function joinOneByOne(
  control: Pick<CallControl, 'hangUp'>,
  [carrierCallId, otherCarrierCallId]: readonly [string, string],
  move: (carrierCallId: string) => Promise<unknown>,
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
