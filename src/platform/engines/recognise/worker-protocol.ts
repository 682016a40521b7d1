import { parentPort } from 'node:worker_threads';
import { z } from 'zod';
import { errorText } from '../../../kernel/errors.ts';
import type { RecognitionResult } from './port.ts';

/** Start data of the built-in recogniser's thread: models on disk. */
export const workerDataSchema = z.object({
  languages: z.array(z.object({ language: z.string(), vocabularyFile: z.string(), modelFile: z.string() })),
});

/** Messages to the thread. Both ends are our own code, so these are types, not schemas. */
export type ToWorker =
  | ({ type: 'open'; stream: number } & OpenedStream)
  /** Learnt phrases of a language, recognised in this stream from now on. */
  | { type: 'extend'; stream: number; language: string; models: readonly Uint8Array[] }
  | { type: 'push'; stream: number; pcm: Int16Array }
  | { type: 'commit'; stream: number }
  | { type: 'close'; stream: number };

export interface OpenedStream {
  readonly language: string;
  readonly rateHz: number;
  readonly boostPhrases: readonly string[];
  readonly boostWeight?: number | undefined;
}

/** Messages from the thread; `committed` answers commits in their order. */
export type FromWorker =
  | { type: 'ready' }
  | (SessionEvent & { stream: number })
  | { type: 'committed'; stream: number; results: readonly RecognitionResult[] }
  | { type: 'failed'; stream: number; reason: string };

export type SessionEvent =
  | { readonly type: 'partial'; readonly text: string }
  | { readonly type: 'segment'; readonly result: RecognitionResult };

/** One stream inside the thread. Synchronous. */
export interface WorkerSession {
  push(pcm: Int16Array): void;
  commit(): readonly RecognitionResult[];
  /** Absent where the models know any word. */
  extend?(language: string, models: readonly Uint8Array[]): void;
}

/** The thread's side: serves streams until the thread ends. A session that throws is reported as failed and dropped. */
export function serveSessions(open: (stream: OpenedStream, emit: (event: SessionEvent) => void) => WorkerSession): void {
  const sessions = new Map<number, WorkerSession>();
  const send = (message: FromWorker): void => parentPort?.postMessage(message, []);
  const handle = (message: ToWorker): void => {
    const { stream } = message;
    switch (message.type) {
      case 'open':
        sessions.set(
          stream,
          open(message, (event) => send({ ...event, stream })),
        );
        return;
      case 'extend':
        sessions.get(stream)?.extend?.(message.language, message.models);
        return;
      case 'push':
        sessions.get(stream)?.push(message.pcm);
        return;
      case 'commit': {
        const session = sessions.get(stream);
        if (session !== undefined) send({ type: 'committed', stream, results: session.commit() });
        return;
      }
      case 'close':
        sessions.delete(stream);
        return;
    }
  };
  parentPort?.on('message', (message: ToWorker) => {
    try {
      handle(message);
    } catch (error) {
      sessions.delete(message.stream);
      send({ type: 'failed', stream: message.stream, reason: errorText(error) });
    }
  });
  send({ type: 'ready' });
}
