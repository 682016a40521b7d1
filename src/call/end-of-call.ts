import type { CallRecord } from './log/call-record.ts';
import type { Media } from './media.ts';
import type { CallParts } from './resume/state-watch.ts';
import type { CallServices } from './services.ts';
import { provisionalText } from './turn/transcript.ts';

/** Closes the recording of an ended call and saves its record. */
export async function endOfCall(
  { callLog, turns, dialog, warm }: CallParts,
  media: Media | undefined,
  recordOf: () => CallRecord,
  { clock, ended, logger }: Pick<CallServices, 'clock' | 'ended' | 'logger'>,
): Promise<CallRecord> {
  if (media !== undefined) callLog.turnOver(callLog.conversation.current, media.outbound);
  // Most callers hang up at the end of their message: the words so far become a turn.
  if (callLog.voicemails.hasVoice) callLog.keptTurn({ kind: 'spoken', text: provisionalText(turns.state.caller.words) });
  callLog.voicemails.end(media?.recording, callLog.conversation.current);
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
