import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import type { CompressedFormat } from '../audio/recording-format.ts';
import { OffhookError } from '../kernel/errors.ts';
import type { CallRef, Store } from '../store/port.ts';
import type { Recordings } from '../store/recordings.ts';
import { JobSubjectError } from './errors.ts';
import type { JobHandler, JobRun } from './port.ts';
import type { RecordingCoder } from './recordings/recording-coder.ts';
import { type AnalyseCallParts, analyseCall } from './post-call/analyse-call.ts';
import { ANALYSIS_VERSION, postCallSubject } from './post-call/job.ts';
import { analysisEnded } from './webhooks/call-events.ts';
import type { WebhookDesk } from './webhooks/webhook-desk.ts';

export interface PostCallParts extends AnalyseCallParts {
  /** Where recordings are when they are not plain files any more; absent where they always are. */
  readonly recordings?: Recordings | undefined;
  /** What compresses recordings and restores them; absent where they are always WAV. */
  readonly coder?: Pick<RecordingCoder, 'code'> | undefined;
  /** Who hears of analyses. */
  readonly desk?: WebhookDesk | undefined;
  /** For plain copies of recordings, while they are worked on. */
  readonly workFolder?: string | undefined;
}

/**
 * The job of the `post-call` queue: analyses one call and tells of it, or of its failure once that is final; or turns its
 * recording into another format.
 */
export function postCallJob(parts: PostCallParts): JobHandler {
  const { store, desk, clock } = parts;
  return async (run) => {
    const parsed = postCallSubject.safeParse(run.payload);
    if (!parsed.success) throw new JobSubjectError(`not a call: ${z.prettifyError(parsed.error)}`, false, {});
    const subject = parsed.data;
    const { tenantId, callId } = subject;
    if (subject.recordingAs !== undefined) return compressCall(parts, subject, subject.recordingAs, run);
    try {
      await withPlainRecordings(parts, run.signal, (plain) => analyseCall({ ...parts, store: plain }, subject, run.signal));
    } catch (error) {
      if (!run.signal.aborted && isFinal(run, error)) {
        const failure = error instanceof OffhookError ? error.code : 'OFFHOOK_INTERNAL';
        const about = {
          tenantId,
          callId,
          profile: subject.profile ?? '',
          version: ANALYSIS_VERSION,
          atMs: clock.wallMs(),
          failure,
        };
        await store.calls.analysisFailed(tenantId, callId);
        await desk?.announce(analysisEnded(about));
      }
      throw error;
    }
    const [latest] = (await store.analyses.list(tenantId, callId)).toSorted((a, b) => b.createdAtMs - a.createdAtMs);
    if (latest !== undefined) await desk?.announce(analysisEnded({ ...latest, atMs: latest.createdAtMs }));
  };
}

/** Whether the queue will not try again after this. */
export function isFinal(run: JobRun, error: unknown): boolean {
  return run.isLast || (error instanceof OffhookError && !error.retryable);
}

/** A recording that cannot be compressed stays what it is: nobody asks again, but for who retries the job. */
async function compressCall(
  { store, recordings, coder, workFolder }: PostCallParts,
  ref: CallRef,
  format: CompressedFormat,
  run: JobRun,
): Promise<void> {
  const { tenantId, callId } = ref;
  if (recordings === undefined || coder === undefined || workFolder === undefined)
    throw new JobSubjectError('nothing here compresses recordings', true, { callId });
  const code = (inputPath: string, outputPath: string): Promise<void> =>
    coder.code({ type: 'compress', format, inputPath, outputPath }, run.signal);
  try {
    await recordings.compress(ref, { format, code, workFolder, signal: run.signal });
  } catch (error) {
    if (!run.signal.aborted && isFinal(run, error)) await store.recordings.settled(tenantId, callId);
    throw error;
  }
}

/**
 * Runs with a store whose calls have a plain WAV at `recordingPath`, also where the recording is sealed or compressed: a copy
 * then, which is removed afterwards with whatever was written beside it.
 */
async function withPlainRecordings<Result>(
  parts: PostCallParts,
  signal: AbortSignal,
  use: (store: Store) => Promise<Result>,
): Promise<Result> {
  const { store, workFolder } = parts;
  if (parts.recordings === undefined || workFolder === undefined) return use(store);
  const copies: string[] = [];
  const plain: Store = {
    ...store,
    calls: {
      ...bound(store.calls),
      async get(tenantId, callId) {
        const call = await store.calls.get(tenantId, callId);
        if (call === undefined) return undefined;
        const { recordingObject, recordingFormat } = call.keeping;
        if (recordingObject === undefined && (recordingFormat === 'wav' || call.recordingPath === undefined)) return call;
        let path = call.recordingPath!;
        let wavPath = join(dirname(path), `${callId}.restored.tmp.wav`);
        if (recordingObject !== undefined) {
          await mkdir(workFolder, { recursive: true, mode: 0o700 });
          const folder = await mkdtemp(join(workFolder, 'post-call-'));
          copies.push(folder);
          wavPath = join(folder, 'recording.wav');
          path = join(folder, `recording.${recordingFormat}`);
          await parts.recordings?.copyTo(call, path, signal);
        }
        // Beside the recording, as what is written of its analysis; one name for all tries.
        else copies.push(wavPath);
        if (recordingFormat !== 'wav')
          await parts.coder?.code({ type: 'restore', format: recordingFormat, inputPath: path, outputPath: wavPath }, signal);
        return { ...call, recordingPath: wavPath };
      },
    },
  };
  try {
    return await use(plain);
  } finally {
    for (const copy of copies) await rm(copy, { recursive: true, force: true });
  }
}

/** The methods of a repository as functions: spreading a class's instance would leave them behind. */
function bound(calls: Store['calls']): Store['calls'] {
  return {
    upsert: (record) => calls.upsert(record),
    upsertMany: (records) => calls.upsertMany(records),
    get: (tenantId, callId) => calls.get(tenantId, callId),
    search: (tenantId, query) => calls.search(tenantId, query),
    setLegalHold: (tenantId, callId, on) => calls.setLegalHold(tenantId, callId, on),
    setDisposition: (tenantId, callId, disposition) => calls.setDisposition(tenantId, callId, disposition),
    analysisFailed: (tenantId, callId) => calls.analysisFailed(tenantId, callId),
    awaitingAnalysis: (options) => calls.awaitingAnalysis(options),
  };
}
