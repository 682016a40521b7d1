import multipart from '@fastify/multipart';
import type { FastifyInstance } from 'fastify';
import { extname } from 'node:path';
import type { Clock } from '../../../kernel/clock.ts';
import { findLanguage, type LanguageChoice } from '../../languages.ts';
import { type AudioIntake, openAudio } from '../asr/open-audio.ts';
import { answerTranscription, type TranscriptionEngines } from '../asr/transcription-answer.ts';
import { readTranscriptionFields } from '../asr/transcription-fields.ts';
import { readUploadForm } from '../asr/upload-form.ts';
import { sendWarnings } from '../asr/warnings.ts';
import type { ApiKeys } from '../auth/api-keys.ts';
import { keyGate } from '../auth/gate.ts';
import { withDeadline } from '../deadline.ts';
import { clientSignal, occupySlot } from '../occupancy.ts';
import { flagRule, readFlag } from '../read-flag.ts';
import { Refusal } from '../refusal.ts';
import { Slots } from '../slots.ts';
import { medicalAnswer } from './medical-answer.ts';

/** ASR doc, POST /transcribe: 30 MB, read as 30 MiB inclusive (D). */
const maxFileBytes = 30 * 1024 * 1024;
const formats = ['wav', 'mp3', 'm4a', 'flac', 'ogg', 'aac', 'wma', 'mp4', 'mkv', 'mov', 'avi', 'webm'];
/** Speakers that are looked for when nobody says how many there are. */
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

  app.get('/health', () => ({ ok: true }));
  app.post('/transcribe', { onRequest }, async (request, reply) => {
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

/** `med-en` is the medical model's name for English, and what is meant when nothing is sent (D). */
function medicalLanguage(word = 'med-en'): LanguageChoice {
  const language = findLanguage(word.trim().toLowerCase().replace(/^med-/, ''));
  if (language === undefined) throw new Refusal(400, 'language_code must be med-en');
  return { type: 'language', language };
}
