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
  z.object({ type: z.enum(['unreadable', 'needs-ffmpeg', 'too-long']), reason: z.string() }),
]);
export type DecodeWorkResult = z.infer<typeof decodeWorkResultSchema>;
