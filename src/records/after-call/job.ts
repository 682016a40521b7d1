import { z } from 'zod';
import { COMPRESSED_FORMATS } from '../../audio/recording-format.ts';

/** The form of the document that it makes; a new form is a new job for the same call. */
export const ANALYSIS_VERSION = 1;

export const postCallSubject = z.object({
  tenantId: z.string().min(1),
  callId: z.string().min(1),
  /** Analyse once more, with this profile; the bot's own when absent. */
  profile: z.string().min(1).optional(),
  /** In place of an analysis: turn the recording into this. */
  recordingAs: z.enum(COMPRESSED_FORMATS).optional(),
});
export type PostCallSubject = z.infer<typeof postCallSubject>;

/** The same for every request to analyse the same call: a repeat is a no-op. */
export function postCallJobId({ tenantId, callId }: PostCallSubject): string {
  return `post-call:${tenantId}:${callId}:${ANALYSIS_VERSION}`;
}

/** One a day: a call that a legal hold protected today is compressed on another day. */
export function recordingJobId({ tenantId, callId }: PostCallSubject, dayAtMs: number): string {
  return `recording:${tenantId}:${callId}:${Math.floor(dayAtMs / 86_400_000)}`;
}
