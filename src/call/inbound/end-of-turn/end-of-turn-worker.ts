// The thread that listens for the end of callers' turns.
import { parentPort, workerData } from 'node:worker_threads';
import { z } from 'zod';
import { openSmartTurn } from './smart-turn.ts';

const { path } = z.object({ path: z.string() }).parse(workerData);
const request = z.union([z.literal('stop'), z.object({ id: z.int(), pcm: z.instanceof(Int16Array) })]);
const model = await openSmartTurn(path);
/** One inference after the other: several at once would only make all of them late. */
let last = Promise.resolve();

async function serve(message: unknown): Promise<void> {
  const asked = request.parse(message);
  if (asked === 'stop') {
    parentPort?.close();
    return;
  }
  const likelihood = await model.judge(asked.pcm);
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker thread has no origin
  parentPort?.postMessage({ id: asked.id, likelihood });
}

parentPort?.on('message', (message: unknown) => {
  // A rejection ends the thread, which the calls' side notices.
  last = last.then(() => serve(message));
});
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker thread has no origin
parentPort?.postMessage('ready');
