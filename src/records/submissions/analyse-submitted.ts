import { join } from 'node:path';
import { z } from 'zod';
import type { Clock } from '../../kernel/clock.ts';
import { errorText, OffhookError } from '../../kernel/errors.ts';
import { temporaryFolder } from '../../kernel/temporary.ts';
import type { Store } from '../port.ts';
import type { ItemOutcome, SubmissionItem } from '../submissions.ts';
import type { Uploads } from '../objects/recordings.ts';
import { analyseRecording } from '../analysis/analyse-recording.ts';
import type { SoundReader } from '../analysis/sound-reader.ts';
import { type RecordingAnalysis, recordingAnalysis } from '../analysis/document.ts';
import { type PreparedProfile, type AnalysisProfiles, profileKey } from '../analysis/analysis-profiles.ts';
import { JobSubjectError } from '../errors.ts';
import { type JobHandler, type JobQueue, isFinal } from '../queue/port.ts';
import type { BatchTranscriber } from '../analysis/transcriber.ts';
import type { WebhookDispatcher } from '../webhooks/webhook-dispatcher.ts';
import { announceSubmission, askForRecording, type SubmissionSubject, submissionSubject, removeUpload } from './lifecycle.ts';
import type { LocalRecording, RecordingFetcher } from './recording-fetcher.ts';

export interface AnalyseSubmittedParts {
  readonly store: Pick<Store, 'submissions'>;
  readonly uploads: Uploads;
  readonly fetcher: Pick<RecordingFetcher, 'fromUrl' | 'fromFile'>;
  readonly queue: Pick<JobQueue, 'enqueue'>;
  readonly dispatcher: Pick<WebhookDispatcher, 'announce'>;
  readonly profiles: AnalysisProfiles;
  readonly transcriber: BatchTranscriber;
  readonly sound: SoundReader;
  readonly clock: Clock;
  /** For copies of recordings, while they are worked on. */
  readonly workFolder: string;
}

type OneRecording = SubmissionSubject & { readonly index: number };

/** The job of the `analyses` queue: one recording from elsewhere, or the asking for all of a submission. */
export function analyseSubmittedJob(parts: AnalyseSubmittedParts): JobHandler {
  return async (run) => {
    const parsed = submissionSubject.safeParse(run.payload);
    if (!parsed.success) throw new JobSubjectError(`not a recording: ${z.prettifyError(parsed.error)}`, false, {});
    const { index, ...submission } = parsed.data;
    if (index !== undefined) return analyseOne(parts, { ...submission, index }, (error) => isFinal(run, error), run.signal);
    for (const each of await parts.store.submissions.queued(submission)) {
      run.signal.throwIfAborted();
      await askForRecording(parts.queue, { ...submission, index: each });
    }
  };
}

async function analyseOne(
  parts: AnalyseSubmittedParts,
  ref: OneRecording,
  isLast: (error: unknown) => boolean,
  signal: AbortSignal,
): Promise<void> {
  const { store, clock } = parts;
  const item = await store.submissions.begin(ref, clock.wallMs());
  // Cancelled, deleted, or done by another that was faster.
  if (item === undefined) return;
  const end = async (outcome: ItemOutcome): Promise<void> => {
    const ended = await store.submissions.finish(ref, outcome, clock.wallMs());
    if (ended?.endedAtMs !== undefined) await announceSubmission(parts, ended);
  };
  try {
    await end(await outcomeOf(parts, ref, item, signal));
  } catch (error) {
    if (signal.aborted) throw error;
    const code = error instanceof OffhookError ? error.code : 'OFFHOOK_INTERNAL';
    // The text of what is not ours may say more than is good.
    const reason = error instanceof OffhookError ? errorText(error) : 'something went wrong inside';
    await end({ state: isLast(error) ? 'failed' : 'queued', code, reason });
    throw error;
  }
  if (item.uploadObject !== undefined) await removeUpload(parts, { ...ref, object: item.uploadObject }).catch(unlessLater);
}

/** What cannot be removed now is removed by the retention job: the store knows that it is there. */
function unlessLater(error: unknown): void {
  if (!(error instanceof OffhookError && error.retryable)) throw error;
}

async function outcomeOf(
  parts: AnalyseSubmittedParts,
  ref: OneRecording,
  item: SubmissionItem,
  signal: AbortSignal,
): Promise<ItemOutcome> {
  const { store, fetcher, profiles, clock } = parts;
  const submission = await store.submissions.get(ref.tenantId, ref.submissionId);
  const prepared = profiles.named(submission?.profile ?? '');
  if (prepared === undefined)
    throw new JobSubjectError('there is no such analysis profile', false, { profile: submission?.profile });
  await using folder = await temporaryFolder(parts.workFolder, ref.submissionId);
  const { url, name, metadata } = item;
  await using local =
    url === undefined ? await uploaded(parts, ref, item, folder.path, signal) : await fetcher.fromUrl(url, folder.path, signal);
  const { path, sha256, bytes } = local;
  const key = profileKey(prepared);
  const known = await sameAnalysed(parts, ref.tenantId, sha256, key, item);
  const recordedAtMs = item.recordedAtMs ?? submission?.createdAtMs ?? clock.wallMs();
  const input = { path, name, sha256, bytes, recordedAtMs, metadata };
  const document = known ?? (await analyseRecording(analysing(parts, prepared, folder.path), input, signal));
  const { disposition, quality } = document;
  return {
    state: 'done',
    sha256,
    bytes,
    profileKey: key,
    disposition: disposition?.value ?? undefined,
    score: quality?.score ?? undefined,
    document,
  };
}

function analysing({ transcriber, sound }: AnalyseSubmittedParts, prepared: PreparedProfile, workFolder: string) {
  return { ...prepared, transcriber, sound, workFolder };
}

async function uploaded(
  { uploads, fetcher }: AnalyseSubmittedParts,
  ref: OneRecording,
  { uploadObject }: SubmissionItem,
  folder: string,
  signal: AbortSignal,
): Promise<LocalRecording> {
  if (uploadObject === undefined) throw new JobSubjectError('a recording was neither uploaded nor named', false, {});
  const path = join(folder, 'upload');
  await uploads.copyTo(ref, uploadObject, path, signal);
  return fetcher.fromFile(path, signal);
}

/**
 * What the same profile made of the same bytes before, with what was said of the recording this time: nothing is sent again.
 * A time of recording that was said anew changes what "tomorrow" means, and is no repeat.
 */
async function sameAnalysed(
  { store }: AnalyseSubmittedParts,
  tenantId: string,
  sha256: string,
  key: string,
  { name, metadata, recordedAtMs }: SubmissionItem,
): Promise<RecordingAnalysis | undefined> {
  const known = await store.submissions.sameContent(tenantId, sha256, key, recordedAtMs);
  const document = recordingAnalysis.safeParse(known);
  if (!document.success) return undefined;
  return { ...document.data, recording: { ...document.data.recording, name, metadata } };
}
