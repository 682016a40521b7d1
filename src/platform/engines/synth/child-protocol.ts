import { z } from 'zod';
import { errorText } from '../../../kernel/errors.ts';

/** A request to a synthesizer's process: one sentence. */
export const renderRequestSchema = z.object({
  id: z.number().int(),
  text: z.string(),
  /** The engine's own voice identifier, for example `hi+m3` (espeak) or `slt` (flite). */
  voice: z.string(),
  /** 1 is the engine's default pace. */
  speed: z.number(),
  /** 0 to 99, 50 is the voice's own. */
  pitch: z.number(),
  /** Pitch range, 0 to 99; 50 is the voice's own. Ignored by flite. */
  range: z.number().optional(),
});

export type RenderRequest = z.infer<typeof renderRequestSchema>;

/** The process's answers: `ready` once, then one `audio` or `failed` for every request. */
export const childAnswerSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('ready') }),
  /** The engine's package is not installed; the process exits. */
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

/** The engine has no such voice. */
export class NoVoiceError extends Error {}

export type Render<Request = RenderRequest> = (request: Request) => Promise<{ pcm: Int16Array<ArrayBuffer>; rateHz: number }>;

/**
 * Runs a synthesizer's process: answers requests, and exits when the parent is gone.
 * @param load returns undefined when the engine's package is not installed
 * @param options.together start every request at once, for an engine with threads of its own; otherwise one after another
 */
export async function serveRequests<Request extends { readonly id: number }>(
  schema: z.ZodType<Request>,
  load: () => Promise<Render<Request> | undefined>,
  { together = false } = {},
): Promise<void> {
  process.on('disconnect', () => process.exit(0));
  // Terminals and service managers signal the whole process group; the parent decides when this process ends.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => undefined);
  const render = await load();
  if (render === undefined) {
    answer({ type: 'absent' });
    process.disconnect();
    return;
  }
  let queue = Promise.resolve();
  process.on('message', (message) => {
    const request = schema.parse(message);
    const work = async (): Promise<void> => answer(await rendered(render, request));
    if (together) void work();
    else queue = queue.then(work);
  });
  answer({ type: 'ready' });
}

async function rendered<Request extends { readonly id: number }>(
  render: Render<Request>,
  request: Request,
): Promise<ChildAnswer> {
  try {
    const { pcm, rateHz } = await render(request);
    const bytes = new Uint8Array(pcm.buffer, pcm.byteOffset, pcm.byteLength);
    return { type: 'audio', id: request.id, pcm: bytes, rateHz };
  } catch (error) {
    return { type: 'failed', id: request.id, reason: errorText(error), noVoice: error instanceof NoVoiceError };
  }
}

function answer(message: ChildAnswer): void {
  if (process.connected) process.send?.(message);
}
