import multipart from '@fastify/multipart';
import type { FastifyInstance } from 'fastify';
import { extname } from 'node:path';
import { answerTranscription, type TranscriptionEngines } from '../asr/transcription-answer.ts';
import type { MedicalAnswer, MinimalTranscription, VerboseTranscription } from '../answers.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { findLanguage, type LanguageChoice } from '../../languages.ts';
import { type AudioIntake, openAudio } from '../uploads/open-audio.ts';
import { readTranscriptionFields } from '../asr/transcription-fields.ts';
import { readUploadForm } from '../uploads/upload-form.ts';
import { refuseWhileSilent, sendWarnings } from '../asr/language-recognition.ts';
import type { ApiKeys } from '../../keys/api-keys.ts';
import { keyGate } from '../auth/gate.ts';
import { withDeadline, clientSignal, occupySlot, Slots } from '../listener/limits.ts';
import { flagRule, readFlag, Refusal } from '../listener/refusal.ts';

/** ASR doc, POST /transcribe: 30 MB, read as 30 MiB inclusive (D). */
const maxFileBytes = 30 * 1024 * 1024;
const formats = ['wav', 'mp3', 'm4a', 'flac', 'ogg', 'aac', 'wma', 'mp4', 'mkv', 'mov', 'avi', 'webm'];
/** Number of speakers for diarization: the request has no field for it. */
const medicalSpeakers = '2';

export interface MedServiceOptions {
  readonly keys: ApiKeys;
  readonly engines: TranscriptionEngines;
  readonly intake: AudioIntake;
  readonly clock: Clock;
}

/** The medical batch service (ASR doc, POST /transcribe): health, and one file at a time. */
export function addMedRoutes(app: FastifyInstance, options: MedServiceOptions): void {
  const { engines, intake, clock } = options;
  const gate = keyGate(options.keys, 'X-API-Key: <API_KEY>', (headers) => {
    const secret = headers['x-api-key'];
    return typeof secret === 'string' ? secret.trim() : undefined;
  });
  const { concurrentPerKey, audioBytes, batchMs } = intake.limits;
  const onRequest = [gate.open, occupySlot(gate, new Slots(concurrentPerKey), concurrentPerKey)];
  app.addContentTypeParser('*', (_request, _body, done) => done(null));
  void app.register(multipart);

  app.get('/health', () => ({ ok: engines.recognition.retryAfterS === undefined }));
  app.post('/transcribe', { onRequest }, async (request, reply) => {
    refuseWhileSilent(engines.recognition);
    await using form = await readUploadForm(request, Math.min(maxFileBytes, audioBytes), intake.uploadFolder);
    const { file, fileName, fields } = form;
    if (file === undefined) throw new Refusal(400, 'file is required');
    const ending = extname(fileName).slice(1).toLowerCase();
    if (ending !== '' && !formats.includes(ending)) {
      throw new Refusal(415, `Files of type ${ending.slice(0, 20)} are not taken; ${formats.join(', ')} are`);
    }
    const diarize = readFlag(fields.get('enable_diarization') ?? 'false');
    if (diarize === undefined) throw new Refusal(400, `enable_diarization: ${flagRule}`);
    const asked = readTranscriptionFields(
      new Map([
        ['medical', 'true'],
        ['response_format', 'verbose_json'],
        ...(diarize ? [['num_speakers', medicalSpeakers] as const] : []),
      ]),
    );
    const language = medicalLanguage(fields.get('language_code'));
    const { body, warnings } = await withDeadline(clock, batchMs, clientSignal(reply), async (signal) => {
      await using audio = await openAudio(file, intake, signal);
      return await answerTranscription(audio, { ...asked, language }, { engines, clock, requestId: request.id, signal });
    });
    sendWarnings(reply, warnings);
    return medicalAnswer(body, fileName, diarize);
  });
}

/** `med-en`, the medical model's name for English, is the default (D). */
function medicalLanguage(word = 'med-en'): LanguageChoice {
  const language = findLanguage(word.trim().toLowerCase().replace(/^med-/, ''));
  if (language === undefined) throw new Refusal(400, 'language_code must be med-en');
  return { type: 'language', language };
}

/** Without diarization there are no segments and no speakers (D). */
export function medicalAnswer(
  body: VerboseTranscription | MinimalTranscription,
  fileName: string,
  diarized: boolean,
): MedicalAnswer {
  const segments = (diarized ? (body.segments ?? []) : []).map(({ start, end, text, speaker }) => ({
    start,
    end,
    text,
    speaker: speaker ?? 'SPEAKER_00',
  }));
  return {
    success: true,
    text: body.text,
    ...(diarized ? { segments } : {}),
    total_segments: segments.length,
    filename: fileName,
    unique_speakers: [...new Set(segments.map(({ speaker }) => speaker))].sort(),
  };
}
