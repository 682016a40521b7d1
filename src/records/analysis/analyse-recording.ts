import { mkdtemp, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { WavError } from '../../audio/wav.ts';
import { errorText } from '../../kernel/errors.ts';
import { ANALYSIS_DOCUMENT_VERSION, type RecordingAnalysis, recordingAnalysis } from './document.ts';
import { RecordingRefusedError } from '../errors.ts';
import { findingsOf } from './findings.ts';
import { type HearingParts, hearRecording } from './hear-recording.ts';
import type { FieldModel } from './model-fields.ts';
import { PLATFORM_LIMITS, copyWhole, inspectWav } from './wav-recording.ts';

export interface AnalyseRecordingParts extends HearingParts {
  readonly model: FieldModel | undefined;
  /** Where channels and pieces are kept meanwhile. */
  readonly workFolder: string;
}

export interface RecordingInput {
  readonly path: string;
  /** Name given by the client. */
  readonly name: string;
  readonly sha256: string;
  readonly bytes: number;
  readonly recordedAtMs: number;
  readonly metadata: Readonly<Record<string, string>>;
}

/**
 * Analyses one recording from elsewhere. Nothing is left in the work folder.
 * @throws RecordingRefusedError before anything is sent; what transcriber and model throw; the signal's reason when aborted
 */
export async function analyseRecording(
  parts: AnalyseRecordingParts,
  input: RecordingInput,
  signal: AbortSignal,
): Promise<RecordingAnalysis> {
  const { container, isCut } = await inspected(parts, input);
  const folder = await mkdtemp(join(parts.workFolder, 'recording-'));
  try {
    const whole = join(folder, 'whole.wav');
    if (isCut) await copyWhole(input.path, whole);
    const heard = await hearRecording(parts, { path: isCut ? whole : input.path, container, folder }, signal);
    const { findings, channels, talkRatio } = await findingsOf(heard, { ...parts, recordedAtMs: input.recordedAtMs }, signal);
    const document = {
      version: ANALYSIS_DOCUMENT_VERSION,
      recording: {
        name: input.name,
        sha256: input.sha256,
        bytes: input.bytes,
        container,
        channels: heard.channelCount,
        recordedAt: new Date(input.recordedAtMs).toISOString(),
        metadata: input.metadata,
      },
      channels,
      durations: { totalS: findings.measures.totalS },
      talkRatio,
      ...findings,
    };
    // Round trip through JSON, which drops undefined fields.
    return recordingAnalysis.parse(JSON.parse(JSON.stringify(document)));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** What is wrong with a file that can be seen before it is sent. */
async function inspected(
  { sound, loaded }: AnalyseRecordingParts,
  { path, bytes }: RecordingInput,
): Promise<{ readonly container: string; readonly isCut: boolean }> {
  if (bytes === 0) throw new RecordingRefusedError('empty', 'the file is empty');
  const container = sound.containerOf(await headOf(path));
  if (container === undefined)
    throw new RecordingRefusedError('not-audio', 'the file is no audio of a format that the platform takes');
  if (container !== 'wav') {
    if (bytes > PLATFORM_LIMITS.bytes)
      throw new RecordingRefusedError(
        'too-large',
        `${megabytes(bytes)} are over the platform's 500 MB; only WAV files are split`,
      );
    return { container, isCut: false };
  }
  const { totalS, promisedS } = await inspectWav(path).catch((error: unknown): never => {
    if (!(error instanceof WavError)) throw error;
    throw new RecordingRefusedError('not-audio', errorText(error), error);
  });
  if (totalS === 0) throw new RecordingRefusedError('empty', 'the file holds no samples');
  if (promisedS !== undefined && loaded.profile.channels.truncated === 'refuse')
    throw new RecordingRefusedError(
      'truncated',
      `the file ends after ${totalS.toFixed(1)} s of the ${promisedS.toFixed(1)} s that its header promises`,
    );
  return { container, isCut: promisedS !== undefined };
}

const HEAD_BYTES = 64;

async function headOf(path: string): Promise<Uint8Array> {
  await using file = await open(path, 'r');
  const head = new Uint8Array(HEAD_BYTES);
  const { bytesRead } = await file.read(head, 0, HEAD_BYTES, 0);
  return head.subarray(0, bytesRead);
}

function megabytes(bytes: number): string {
  return `${Math.ceil(bytes / 1024 / 1024)} MB`;
}
