import type { CallRecord } from './log/call-record.ts';
import type { Media } from './media.ts';
import type { CallParts } from './resume/state-watch.ts';
import type { CallServices } from './services.ts';

/** Closes the recording of a call that is over, and has its record kept. */
export async function endOfCall(
  { callLog, dialog, warm }: Pick<CallParts, 'callLog' | 'dialog' | 'warm'>,
  media: Media | undefined,
  recordOf: () => CallRecord,
  { clock, ended, logger }: Pick<CallServices, 'clock' | 'ended' | 'logger'>,
): Promise<CallRecord> {
  if (media !== undefined) callLog.turnOver(callLog.conversation.current, media.outbound);
  await media?.recording?.finish(clock.nowMs());
  await warm.settled();
  await dialog.told;
  const record = recordOf();
  callLog.ended(record);
  try {
    await ended(record);
  } catch (error) {
    logger.error({ callId: record.id, error }, 'saving the ended call failed');
  }
  await dialog.dispose();
  return record;
}
