import { z } from 'zod';
import { CONTAINERS } from './container.ts';

/* Apart from the decoders, which only the thread that decodes has to load. */

/** Decoded audio is mono, 16 bits, little-endian, at this rate. */
export const decodedRateHz = 16_000;

/** A job of the decoding thread. `outputPath` must not exist. */
export const decodeJobSchema = z.object({
  inputPath: z.string(),
  container: z.enum(CONTAINERS),
  outputPath: z.string(),
  maxSeconds: z.number(),
});
export type DecodeJob = Readonly<z.infer<typeof decodeJobSchema>>;

/** The thread's answer. */
export const decodeResultSchema = z.union([
  z.object({ type: z.literal('decoded') }),
  /** `cause` is the decoder's own error, for the log. */
  z.object({ type: z.literal('unreadable'), reason: z.string(), cause: z.string().optional() }),
  z.object({ type: z.enum(['needs-ffmpeg', 'too-long', 'failed']), reason: z.string() }),
]);
export type DecodeResult = z.infer<typeof decodeResultSchema>;
