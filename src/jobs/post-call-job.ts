import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { OffhookError } from '../kernel/errors.ts';
import type { Store } from '../store/port.ts';
import type { Recordings } from '../store/recordings.ts';
import { JobSubjectError } from './errors.ts';
import type { JobHandler, JobRun } from './port.ts';
import { type AnalyseCallParts, analyseCall } from './post-call/analyse-call.ts';
import { ANALYSIS_VERSION, postCallSubject } from './post-call/job.ts';
import { analysisEnded } from './webhooks/call-events.ts';
import type { WebhookDesk } from './webhooks/webhook-desk.ts';

export interface PostCallParts extends AnalyseCallParts {
  /** Where recordings are when they are not plain files any more; absent where they always are. */
  readonly recordings?: Recordings | undefined;
  /** Who hears of analyses. */
  readonly desk?: WebhookDesk | undefined;
  /** For plain copies of sealed recordings, while they are worked on. */
  readonly workFolder?: string | undefined;
}

/** The job of the `post-call` queue: analyses one call and tells of it, or of its failure once that is final. */
export function postCallJob(parts: PostCallParts): JobHandler {
  const { store, desk, clock } = parts;
  return async (run) => {
    const parsed = postCallSubject.safeParse(run.payload);
    if (!parsed.success) throw new JobSubjectError(`not a call: ${z.prettifyError(parsed.error)}`, false, {});
    const subject = parsed.data;
    const { tenantId, callId } = subject;
    try {
      await withPlainRecordings(parts, (plain) => analyseCall({ ...parts, store: plain }, subject, run.signal));
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

/**
 * Runs with a store whose calls have a plain file at `recordingPath`, also where the recording is sealed: a copy then, which
 * is removed afterwards with whatever was written beside it.
 */
async function withPlainRecordings<Result>(
  { store, recordings, workFolder }: PostCallParts,
  use: (store: Store) => Promise<Result>,
): Promise<Result> {
  if (recordings === undefined || workFolder === undefined) return use(store);
  let folder: string | undefined;
  const plain: Store = {
    ...store,
    calls: {
      ...bound(store.calls),
      async get(tenantId, callId) {
        const call = await store.calls.get(tenantId, callId);
        if (call?.keeping.recordingObject === undefined) return call;
        await mkdir(workFolder, { recursive: true, mode: 0o700 });
        folder ??= await mkdtemp(join(workFolder, 'post-call-'));
        const recordingPath = join(folder, 'recording.wav');
        await recordings.copyTo(call, recordingPath);
        return { ...call, recordingPath };
      },
    },
  };
  try {
    return await use(plain);
  } finally {
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
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
    recordingKept: (tenantId, callId, object) => calls.recordingKept(tenantId, callId, object),
    analysisFailed: (tenantId, callId) => calls.analysisFailed(tenantId, callId),
    awaitingAnalysis: (options) => calls.awaitingAnalysis(options),
  };
}
