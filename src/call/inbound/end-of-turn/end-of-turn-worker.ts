// The thread that listens for the end of callers' turns.
import { parentPort, workerData } from 'node:worker_threads';
import { z } from 'zod';
import { openSmartTurn } from './smart-turn.ts';

const { path } = z.object({ path: z.string() }).parse(workerData);
const question = z.object({ id: z.int(), pcm: z.instanceof(Int16Array) });
const model = await openSmartTurn(path);

parentPort?.on('message', (message: unknown) => {
  const { id, pcm } = question.parse(message);
  // A rejection ends the thread, which the calls' side notices.
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker thread has no origin
  void model.judge(pcm).then((likelihood) => parentPort?.postMessage({ id, likelihood }));
});
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker thread has no origin
parentPort?.postMessage('ready');
