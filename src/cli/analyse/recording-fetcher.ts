import type { RecordingFetcher } from '../../jobs/submissions/analyse-submitted.ts';
import { type FetchOptions, ItemFetcher } from './fetch-item.ts';
import { S3Source } from './s3-source.ts';

/** Fetches submitted recordings as `offhook analyse` does, behind the same guard; never from buckets, whose keys are the operator's alone. */
export function recordingFetcher(options: Omit<FetchOptions, 's3'>): RecordingFetcher {
  const items = new ItemFetcher({ ...options, s3: new S3Source({}, options.clock) });
  const unnamed = { version: undefined, recordedAtMs: undefined, metadata: {} };
  return {
    fromUrl: (url, folder, signal) => items.fetch({ ...unnamed, name: url, place: { kind: 'url', url } }, signal, folder),
    fromFile: (path, signal) => items.fetch({ ...unnamed, name: path, place: { kind: 'file', path } }, signal),
  };
}
