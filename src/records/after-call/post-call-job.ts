import { join } from 'node:path';
import { z } from 'zod';
import type { CompressedFormat } from '../../audio/recording-format.ts';
import { OffhookError } from '../../kernel/errors.ts';
import { temporaryFolder } from '../../kernel/temporary.ts';
import type { CallRef, StoredCall } from '../port.ts';
import type { Recordings } from '../objects/recordings.ts';
import { JobSubjectError } from '../errors.ts';
import { isFinal, type JobHandler, type JobRun } from '../queue/port.ts';
import type { RecordingCoder } from '../../audio/recording/recording-coder.ts';
import { type AnalyseCallParts, analyseCall, ANALYSIS_VERSION, type PostCallSubject, postCallSubject } from './analyse-call.ts';
import { analysisEnded } from '../webhooks/webhook-event.ts';
import type { WebhookDispatcher } from '../webhooks/webhook-dispatcher.ts';

export interface PostCallParts extends AnalyseCallParts {
  /** Reads sealed and compressed recordings; absent where all are plain files. */
  readonly recordings?: Recordings | undefined;
  /** Compresses and restores recordings; absent where they are always WAV. */
  readonly coder?: Pick<RecordingCoder, 'code'> | undefined;
  /** Announces analyses. */
  readonly dispatcher?: WebhookDispatcher | undefined;
}

/**
 * The job of the `post-call` queue: analyses one call and announces the result, or its final failure; or turns its
 * recording into another format.
 */
export function postCallJob(parts: PostCallParts): JobHandler {
  const { store, dispatcher, clock } = parts;
  return async (run) => {
    const parsed = postCallSubject.safeParse(run.payload);
    if (!parsed.success) throw new JobSubjectError(`not a call: ${z.prettifyError(parsed.error)}`, false, {});
    const subject = parsed.data;
    const { tenantId, callId } = subject;
    if (subject.recordingAs !== undefined) return compressCall(parts, subject, subject.recordingAs, run);
    try {
      await analyseHere(parts, subject, run.signal);
    } catch (error) {
      // The call was erased during its analysis: no retry, no announcement.
      if ((await store.calls.get(tenantId, callId))?.keeping.textErasedAtMs !== undefined) return;
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
        await dispatcher?.announce(analysisEnded(about));
      }
      throw error;
    }
    const [latest] = (await store.analyses.list(tenantId, callId)).toSorted((a, b) => b.createdAtMs - a.createdAtMs);
    if (latest !== undefined) await dispatcher?.announce(analysisEnded({ ...latest, atMs: latest.createdAtMs }));
  };
}

/** A recording that cannot be compressed stays WAV; only a manual retry of the job tries again. */
async function compressCall(
  { store, recordings, coder, workFolder }: PostCallParts,
  ref: CallRef,
  format: CompressedFormat,
  run: JobRun,
): Promise<void> {
  const { tenantId, callId } = ref;
  if (recordings === undefined || coder === undefined)
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
 * Analyses a call in a folder named after it, made before the call is read from the store, so that a later erasure finds it by name. A sealed or
 * compressed recording is copied there as a plain WAV.
 */
async function analyseHere(parts: PostCallParts, subject: PostCallSubject, signal: AbortSignal): Promise<void> {
  const { store, recordings, coder } = parts;
  await using folder = await temporaryFolder(parts.workFolder, subject.callId);
  const plain = async (call: StoredCall): Promise<StoredCall> => {
    const { recordingObject, recordingFormat } = call.keeping;
    if (recordings === undefined || (recordingObject === undefined && recordingFormat === 'wav')) return call;
    let path = call.recordingPath;
    if (path === undefined) return call;
    const opened = await recordings.open(call);
    if (opened === undefined) return { ...call, recordingPath: undefined };
    if (recordingObject !== undefined) {
      path = join(folder.path, `recording.${recordingFormat}`);
      await recordings.copyTo(call, path, signal);
    }
    if (recordingFormat === 'wav') return { ...call, recordingPath: path };
    const wavPath = join(folder.path, 'recording.wav');
    await coder?.code({ type: 'restore', format: recordingFormat, inputPath: path, outputPath: wavPath }, signal);
    return { ...call, recordingPath: wavPath };
  };
  await analyseCall({ ...parts, store, plain, workFolder: folder.path }, subject, signal);
}
