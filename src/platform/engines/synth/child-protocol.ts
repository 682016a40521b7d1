import { z } from 'zod';

/** What the parent asks of a synthesizer's process: one sentence, whole. */
export const renderRequestSchema = z.object({
  id: z.number().int(),
  text: z.string(),
  /** The engine's own voice identifier, for example `hi+m3` (espeak) or `slt` (flite). */
  voice: z.string(),
  /** 1 is the engine's default pace. */
  speed: z.number(),
  /** 0 to 99, 50 is the voice's own. */
  pitch: z.number(),
  /** How much the pitch moves, 0 to 99; 50 is the voice's own. Not every engine heeds it. */
  range: z.number().optional(),
});

export type RenderRequest = z.infer<typeof renderRequestSchema>;

/** What the process answers. `ready` comes once, first; every request then gets one `audio` or one `failed`. */
export const childAnswerSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('ready') }),
  /** The engine's package is not installed: the process ends by itself. */
  z.object({ type: z.literal('absent') }),
  z.object({
    type: z.literal('audio'),
    id: z.number().int(),
    /** 16-bit mono samples, in the machine's own byte order (both ends run on one machine). */
    pcm: z.instanceof(Uint8Array),
    rateHz: z.number().int(),
  }),
  /** `reason` is the engine's own, for the log. */
  z.object({ type: z.literal('failed'), id: z.number().int(), reason: z.string(), noVoice: z.boolean() }),
]);

export type ChildAnswer = z.infer<typeof childAnswerSchema>;
