import { extname } from 'node:path';
import { type AudioFile, openAudioFile } from '../asr/audio-source.ts';
import { isLargeUpload, PacedFile } from '../asr/upload-file.ts';
import { eitherSignal } from '../either-signal.ts';
import { SpeechRequestError } from '../errors.ts';
import { parseAnswer } from '../parse-answer.ts';
import type { SpeechHttp } from '../requests.ts';
import { joinMedical, medicalAnswer, type MedicalPart, type MedicalResult } from './medical-result.ts';
import { splitWav, type WavPart } from './split-wav.ts';
import { serviceUrl } from '../service-url.ts';

/** What medical transcription can be asked for. */
export interface MedicalOptions {
  /** Tells speakers apart; segments come only then (ASR doc, "POST {med_url}/transcribe"). */
  readonly diarize?: boolean;
}

const FORMATS = ['wav', 'mp3', 'm4a', 'flac', 'ogg', 'aac', 'wma', 'mp4', 'mkv', 'mov', 'avi', 'webm'];
/** 30 MB (ASR doc, limits), read as the smaller of the two meanings. */
const MOST_BYTES = 30_000_000;
/** What is split has to be read too; four hours of stereo are 2.7 GB at most rates, and a WAV ends at 4 GB. */
const MOST_WAV_BYTES = 0xffff_ffff;
const MOST_AT_ONCE = 4;
const TIMEOUT_MS = 300_000;

/**
 * Transcribes a recording with the medical model: `POST {med_url}/transcribe`. A WAV file over 30 MB is cut at pauses,
 * transcribed a few parts at a time and put together again.
 * @throws SpeechRequestError before anything is sent for a format the service does not take, or a file over 30 MB that is no
 * WAV; WavError for one that cannot be split; SpeechError by status: then the whole recording has failed
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

/** Runs a task for each part, a few at a time, in their order; the first failure stops the rest. */
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
