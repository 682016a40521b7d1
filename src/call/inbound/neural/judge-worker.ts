// Judges the frames of all calls on its own thread. It waits in shared memory without messages, and takes one frame of each line in turn.
import { parentPort, workerData } from 'node:worker_threads';
import { z } from 'zod';
import { type ModelLine, loadRnnoise } from './rnnoise-model.ts';
import { SharedFrames } from './shared-frames.ts';

const { lines, memory } = z.object({ lines: z.int(), memory: z.instanceof(SharedArrayBuffer) }).parse(workerData);
const model = await loadRnnoise();
const shared = new SharedFrames(lines, memory);
const readers = Array.from({ length: lines }, (_, line) => shared.reader(line));
const open: (ModelLine | undefined)[] = [];

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker thread has no origin
parentPort?.postMessage('ready');
while (!shared.stopped) {
  const changes = shared.changes();
  let judged = 0;
  for (const [line, reader] of readers.entries()) {
    const use = reader.use();
    if (use !== 'same') {
      open[line]?.close();
      open[line] = use === 'opened' ? model.open() : undefined;
    }
    const frame = reader.next();
    if (frame === undefined) continue;
    reader.answer(open[line]?.judge(frame) ?? 0);
    judged += 1;
  }
  if (judged === 0) shared.sleep(changes);
}
