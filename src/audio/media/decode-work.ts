import { z } from 'zod';

/** What a decoding thread is given, and what it answers. */
export const decodeWorkSchema = z.object({
  inputPath: z.string(),
  container: z.enum(['wav', 'mp3', 'flac', 'ogg', 'mp4', 'webm', 'aac', 'asf', 'avi']),
  outputPath: z.string(),
  maxSeconds: z.number(),
});

export const decodeWorkResultSchema = z.union([
  z.object({ type: z.literal('decoded') }),
  /** `cause` is what a decoder threw, for the log. */
  z.object({ type: z.literal('unreadable'), reason: z.string(), cause: z.string().optional() }),
  z.object({ type: z.enum(['needs-ffmpeg', 'too-long', 'failed']), reason: z.string() }),
]);
export type DecodeWorkResult = z.infer<typeof decodeWorkResultSchema>;
