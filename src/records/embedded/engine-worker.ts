import { parentPort, workerData } from 'node:worker_threads';
import { PGlite } from '@electric-sql/pglite';
import { DURABLE_START, DurableFiles } from './durable-files.ts';
import type { EngineOrder, EngineReport, EngineStart } from './engine-messages.ts';

/** A quarter of PGlite's own 128 MB of page cache: the file system caches the rest, and a hundred megabytes stay free. */
const SETTINGS = ['shared_buffers = 32MB'];

/**
 * The thread that holds Postgres in WebAssembly. It runs what it is given, one batch after the other, in the order of
 * arrival: PGlite's own calls block this thread and nothing else.
 */
async function serve(): Promise<void> {
  const port = parentPort;
  if (port === null) throw new TypeError('engine-worker runs as a worker thread');
  const say = (report: EngineReport, transfer: readonly ArrayBuffer[] = []): void => port.postMessage(report, [...transfer]);
  const { dataDir } = workerData as EngineStart;
  const fs = new DurableFiles(dataDir);
  const engine = await PGlite.create({ fs, startParams: DURABLE_START, postgresqlconf: SETTINGS });
  let last: Promise<void> = Promise.resolve();
  port.on('message', (order: EngineOrder) => {
    last = last.then(async () => {
      if (order.type === 'exec') {
        if (!(order.batch instanceof Uint8Array)) throw new TypeError('a batch is bytes');
        // The reply is a view of WebAssembly memory that the next call reuses: copy, then hand over.
        const reply = Uint8Array.from(await engine.execProtocolRaw(order.batch));
        say({ type: 'reply', id: order.id, reply }, [reply.buffer]);
        return;
      }
      await engine.close();
      say({ type: 'closed' });
      port.close();
    });
    last.catch((error: unknown) => say({ type: 'broken', reason: String(error) }));
  });
  say({ type: 'ready' });
}

serve().catch((error: unknown) => {
  const report: EngineReport = { type: 'broken', reason: String(error) };
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker thread has no origin
  parentPort?.postMessage(report);
  parentPort?.close();
});
