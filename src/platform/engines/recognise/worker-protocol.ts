import { z } from 'zod';
import type { RecognitionResult } from './port.ts';

/** What the recogniser's worker is started with: models already on disk. */
export const workerDataSchema = z.object({
  languages: z.array(z.object({ language: z.string(), vocabularyFile: z.string(), modelFile: z.string() })),
});

/** Main thread to worker; both are our own code, so these are types, not schemas. `stream` is the stream's id. */
export type ToWorker =
  | {
      type: 'open';
      stream: number;
      language: string;
      rateHz: number;
      boostPhrases: readonly string[];
      boostWeight?: number | undefined;
    }
  /** Phrases that were learnt for the stream, by language; from here on they can be heard. */
  | { type: 'extend'; stream: number; language: string; models: readonly Uint8Array[] }
  | { type: 'push'; stream: number; pcm: Int16Array }
  | { type: 'commit'; stream: number }
  | { type: 'close'; stream: number };

/** Worker to main thread; `committed` answers commits in their order. */
export type FromWorker =
  | { type: 'ready' }
  | { type: 'partial'; stream: number; text: string }
  | { type: 'segment'; stream: number; result: RecognitionResult }
  | { type: 'committed'; stream: number; results: readonly RecognitionResult[] }
  | { type: 'failed'; stream: number; reason: string };
