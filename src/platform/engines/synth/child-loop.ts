import { errorText } from '../../../kernel/errors.ts';
import { type ChildAnswer, type RenderRequest, renderRequestSchema } from './child-protocol.ts';

/** The engine has no voice for what was asked. */
export class NoVoiceError extends Error {}

export type Render = (request: RenderRequest) => Promise<{ pcm: Int16Array<ArrayBuffer>; rateHz: number }>;

/**
 * The life of a synthesizer's process: requests one after another, an answer to each, gone when the parent is gone.
 * @param load gives undefined when the engine's package is not installed
 */
export async function serveRequests(load: () => Promise<Render | undefined>): Promise<void> {
  process.on('disconnect', () => process.exit(0));
  // A terminal and a service manager tell all processes of a group at once; the parent decides when we end.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => undefined);
  const render = await load();
  if (render === undefined) {
    answer({ type: 'absent' });
    process.disconnect();
    return;
  }
  let queue = Promise.resolve();
  process.on('message', (message) => {
    const request = renderRequestSchema.parse(message);
    queue = queue.then(async () => answer(await rendered(render, request)));
  });
  answer({ type: 'ready' });
}

async function rendered(render: Render, request: RenderRequest): Promise<ChildAnswer> {
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
