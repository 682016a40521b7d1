import { z } from 'zod';
import { extname } from 'node:path';
import { type AudioFile, openAudioFile, isLargeUpload, PacedFile } from './audio-source.ts';
import { eitherSignal } from '../client/deadline.ts';
import { SpeechRequestError } from '../client/errors.ts';
import { parseAnswer, type SpeechHttp } from '../client/requests.ts';
import { splitWav, type WavPart } from './split-wav.ts';
import { serviceUrl } from '../client/settings.ts';

/** Options of medical transcription. */
export interface MedicalOptions {
  /** Tells speakers apart; segments come only then (ASR doc, "POST {med_url}/transcribe"). */
  readonly diarize?: boolean;
}

const FORMATS = ['wav', 'mp3', 'm4a', 'flac', 'ogg', 'aac', 'wma', 'mp4', 'mkv', 'mov', 'avi', 'webm'];
/** 30 MB (ASR doc, limits), read as the smaller of the two meanings. */
const MOST_BYTES = 30_000_000;
/** The largest WAV file: four hours of stereo are 2.7 GB at most rates. */
const MOST_WAV_BYTES = 0xffff_ffff;
const MOST_AT_ONCE = 4;
const TIMEOUT_MS = 300_000;

/**
 * Transcribes a recording with the medical model: `POST {med_url}/transcribe`. A WAV file over 30 MB is cut at pauses, transcribed a few parts at a
 * time and joined again.
 * @throws SpeechRequestError before anything is sent for an unsupported format, or a file over 30 MB other than WAV; WavError for one that cannot be
 * split; SpeechError by status: then the whole recording has failed
 */
export async function transcribeMedical(
  http: SpeechHttp,
  medUrl: string,
  source: AudioFile,
  { diarize = false }: MedicalOptions,
  signal: AbortSignal,
  maxBytes = MOST_BYTES,
): Promise<MedicalResult> {
  const { blob, name } = await openAudioFile(source, MOST_WAV_BYTES);
  const format = extname(name).slice(1).toLowerCase();
  if (!FORMATS.includes(format)) throw new SpeechRequestError(`medical transcription: takes ${FORMATS.join(', ')}`);
  if (blob.size > maxBytes && format !== 'wav')
    throw new SpeechRequestError(`medical transcription: ${blob.size} bytes are over the limit; only WAV files are split`);
  const parts = blob.size > maxBytes ? await splitWav(blob, maxBytes) : [{ blob, startS: 0 }];
  return joinMedical(await inParts(parts, signal, sendPart), name);

  async function sendPart({ blob: audio, startS }: WavPart, limited: AbortSignal): Promise<MedicalPart> {
    const part = { blob: audio, name };
    const body = (): FormData => {
      const form = new FormData();
      form.set('file', new PacedFile(part));
      form.set('language_code', 'med-en');
      form.set('enable_diarization', String(diarize));
      return form;
    };
    const url = serviceUrl(medUrl, '/transcribe');
    const request = { what: 'medical transcription', url, method: 'POST', body, timeoutMs: TIMEOUT_MS } as const;
    const answer = await http.send({ ...request, isLarge: isLargeUpload(part) }, limited);
    const read = parseAnswer(medicalAnswer, answer, 'the medical transcription');
    const { status, requestId, text, attempts, mask } = answer;
    if (read.success === false)
      throw new SpeechRequestError('medical transcription: it did not succeed', {
        status,
        requestId,
        body: mask(text),
        attempts,
      });
    return { startS, answer: read, requestId, attempts };
  }
}

/** Runs a task for each part, a few at a time; results are in order, and the first failure stops the rest. */
async function inParts<Part, Value>(
  parts: readonly Part[],
  outer: AbortSignal,
  task: (part: Part, signal: AbortSignal) => Promise<Value>,
): Promise<Value[]> {
  const failed = new AbortController();
  using either = eitherSignal(outer, failed.signal);
  const values: Value[] = [];
  const left = parts.entries();
  const work = async (): Promise<void> => {
    for (const [index, part] of left) values[index] = await task(part, either.signal);
  };
  await Promise.all(
    Array.from({ length: Math.min(MOST_AT_ONCE, parts.length) }, () =>
      work().catch((error: unknown) => {
        failed.abort(error);
        throw error;
      }),
    ),
  );
  return values;
}

/** What one speaker said from when to when, in seconds from the beginning of the whole recording. */
export interface MedicalSegment {
  readonly startS: number;
  readonly endS: number;
  readonly text: string;
  readonly speaker: string | undefined;
}

/**
 * The medical answer (ASR doc, "Medical batch result"). Segments and speakers are empty without diarization. Times are in
 * seconds from the beginning of the whole recording.
 */
export interface MedicalResult {
  readonly text: string;
  readonly segments: readonly MedicalSegment[];
  /**
   * Speaker ids. Where a recording was sent in parts each part has its own, written `2/SPEAKER_00` for the second part: the
   * service does not say who of one part is who of another.
   */
  readonly speakers: readonly string[];
  readonly filename: string | undefined;
  /** Request ids in the order of the parts. */
  readonly requestIds: readonly string[];
  /** How many parts it was sent in. */
  readonly parts: number;
  /** Requests that were sent for it; more than there are parts where some were sent again. */
  readonly attempts: number;
}

const segment = z
  .looseObject({ start: z.number(), end: z.number(), text: z.string(), speaker: z.string().nullish().catch(undefined) })
  .transform(({ start, end, text, speaker }): MedicalSegment => ({
    startS: start,
    endS: end,
    text,
    speaker: speaker ?? undefined,
  }));

/** The medical answer (ASR doc, "Medical batch result"). */
export const medicalAnswer = z.looseObject({
  success: z.boolean().nullish(),
  text: z.string(),
  segments: z.array(segment).nullish(),
  filename: z.string().nullish().catch(undefined),
  unique_speakers: z.array(z.string()).nullish().catch(undefined),
});

/** The answer to one part of a recording. */
export interface MedicalPart {
  readonly startS: number;
  readonly answer: z.output<typeof medicalAnswer>;
  readonly requestId: string | undefined;
  readonly attempts: number;
}

/** Joins the answers to the parts of one recording, given in their order. @param name file name of the whole */
export function joinMedical(parts: readonly MedicalPart[], name: string): MedicalResult {
  const labelled = (index: number, speaker: string): string => (parts.length === 1 ? speaker : `${index + 1}/${speaker}`);
  const speakers = parts.flatMap(({ answer }, index) => (answer.unique_speakers ?? []).map((each) => labelled(index, each)));
  const segments = parts.flatMap(({ answer, startS }, index) =>
    (answer.segments ?? []).map((each) => ({
      ...each,
      startS: startS + each.startS,
      endS: startS + each.endS,
      speaker: each.speaker === undefined ? undefined : labelled(index, each.speaker),
    })),
  );
  return {
    text: parts
      .map(({ answer }) => answer.text.trim())
      .filter((text) => text !== '')
      .join(' '),
    segments,
    speakers,
    filename: parts.length === 1 ? (parts[0]?.answer.filename ?? name) : name,
    requestIds: parts.flatMap(({ requestId }) => requestId ?? []),
    parts: parts.length,
    attempts: parts.reduce((sum, { attempts }) => sum + attempts, 0),
  };
}
