import { z } from 'zod';
import { flagRule, readFlag, Refusal } from '../listener/refusal.ts';
import type { FastifyRequest } from 'fastify';
import { type AudioBytes, spoolToDisk, type AudioIntake, openAudio } from '../uploads/open-audio.ts';
import { decodeBase64, readUploadForm } from '../uploads/upload-form.ts';
import type { MinimalTranscription, VerboseTranscription } from '../answers.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { withDeadline } from '../listener/limits.ts';
import { answerTranscription, type AnsweredTranscription, type TranscriptionEngines } from './transcription-answer.ts';
import { type FormFields, readTranscriptionFields } from './transcription-fields.ts';

interface ServeTranscriptionOptions {
  readonly engines: TranscriptionEngines;
  readonly intake: AudioIntake;
  readonly clock: Clock;
  readonly requestId: string;
  readonly signal: AbortSignal;
  /** Also supports the forms of the vendor's newer clients. */
  readonly compat?: boolean;
}

/** Serves a batch transcription, from the form to the body of the answer. Disposes of the form. */
export async function serveTranscription(
  form: TranscriptionForm,
  options: ServeTranscriptionOptions,
): Promise<{ readonly body: object; readonly warnings: AnsweredTranscription['warnings'] }> {
  await using _audio = form;
  const { engines, intake, clock, requestId } = options;
  const newer = options.compat === true && isNewerForm(form.fields);
  const asked = readTranscriptionFields(newer ? documentedFields(form.fields) : form.fields);
  const answered = await withDeadline(clock, intake.limits.batchMs, options.signal, async (signal) => {
    await using audio = await openAudio(form.audio, intake, signal);
    return await answerTranscription(audio, asked, { engines, clock, requestId, signal });
  });
  return newer ? { ...answered, body: newerAnswer(answered.body) } : answered;
}

/** Flags of the vendor's newer clients, with their documented names. */
const renamed: Readonly<Record<string, string>> = {
  enable_emotion_diarization: 'emotion',
  enable_profanity_hashing: 'profanity',
};
/** Flags whose results the short answer does not hold. */
const features = [
  'word_timestamps',
  'enable_diarization',
  'enable_speaker_identification',
  'enable_intent_detection',
  'enable_sentiment_analysis',
  'enable_summarization',
  'enable_keyterm_normalization',
  ...Object.keys(renamed),
];
/** Newer clients do not give the number of speakers. */
const usualSpeakers = '2';

/**
 * Whether a form comes from one of the vendor's newer clients and asks for features. Those clients never send `response_format`, and
 * expect the long answer (docs/platform-clients.md).
 * @throws Refusal 422 for a flag that is neither true nor false
 */
function isNewerForm(form: FormFields): boolean {
  const asked = features.map((name) => {
    const text = form.get(name);
    const flag = text === undefined ? false : readFlag(text);
    if (flag === undefined) throw new Refusal(422, [{ loc: ['body', name], msg: flagRule, type: 'invalid_type' }]);
    return flag;
  });
  return !form.has('response_format') && asked.includes(true);
}

/** The same request with the documented fields. */
function documentedFields(form: FormFields): FormFields {
  const fields = new Map([['response_format', 'verbose_json'], ...form]);
  for (const [theirs, ours] of Object.entries(renamed)) {
    const flag = form.get(theirs);
    if (flag !== undefined && !fields.has(ours)) fields.set(ours, flag);
  }
  const diarize = ['enable_diarization', 'enable_speaker_identification'].some((name) => readFlag(form.get(name) ?? '') === true);
  if (diarize && !fields.has('num_speakers')) fields.set('num_speakers', usualSpeakers);
  return fields;
}

/** The answer for newer clients: intent and sentiment are objects with a label. */
function newerAnswer(body: VerboseTranscription | MinimalTranscription): object {
  if (!('nlp_analysis' in body) || body.nlp_analysis === undefined) return body;
  const { intent, sentiment, ...rest } = body.nlp_analysis;
  return {
    ...body,
    nlp_analysis: {
      ...rest,
      ...(intent === undefined ? {} : { intent: { label: intent } }),
      ...(sentiment === undefined ? {} : { sentiment: { label: sentiment } }),
    },
  };
}

/** The receiver disposes of it. */
interface TranscriptionForm extends AsyncDisposable {
  readonly fields: FormFields;
  readonly audio: AudioBytes;
}

/**
 * Reads a multipart body with exactly one of `file`, `audio_base64` and `url` (ASR doc, batch transcription), and fetches the `url`.
 * @throws Refusal 400 for no audio or several, for invalid base64, for a body of another type, and for a `url` that must not or cannot be
 * fetched; 413 for audio that is too large
 */
export async function readTranscriptionForm(
  request: FastifyRequest,
  intake: AudioIntake,
  signal: AbortSignal,
): Promise<TranscriptionForm> {
  const form = await readUploadForm(request, intake.limits.audioBytes, intake.uploadFolder);
  try {
    const url = form.fields.get('url');
    const [uploaded, ...others] = [form.file, form.base64].filter((source) => source !== undefined);
    if (others.length > 0 || (uploaded === undefined) === (url === undefined)) {
      throw new Refusal(400, 'Exactly one of file, audio_base64 and url is required');
    }
    if (uploaded !== undefined) return { fields: form.fields, audio: uploaded, [Symbol.asyncDispose]: form[Symbol.asyncDispose] };
    const audio = await intake.remote.fetch(url ?? '', signal);
    return { fields: form.fields, audio, [Symbol.asyncDispose]: () => audio[Symbol.asyncDispose]() };
  } catch (error) {
    await form[Symbol.asyncDispose]();
    throw error;
  }
}

const bodySchema = z.record(z.string(), z.unknown());

/**
 * Reads the JSON body of Variant B: `model` and `url` (ASR doc, batch transcription), or `audio_base64` (D), and all fields of the form.
 * @throws Refusal as `readTranscriptionForm` does
 */
export async function readTranscriptionJson(
  request: FastifyRequest,
  intake: AudioIntake,
  signal: AbortSignal,
): Promise<TranscriptionForm> {
  const body = bodySchema.safeParse(request.body);
  if (!body.success) throw new Refusal(400, 'The body must be a JSON object');
  const fields = new Map(Object.entries(body.data).flatMap(([name, value]) => fieldOf(name, value)));
  const url = fields.get('url');
  const base64 = fields.get('audio_base64');
  if ((url === undefined) === (base64 === undefined)) {
    throw new Refusal(400, 'Exactly one of url and audio_base64 is required in a JSON body');
  }
  fields.delete('audio_base64');
  const audio =
    url === undefined
      ? await spoolToDisk(decodeBase64(once(base64 ?? '')), intake.uploadFolder, intake.limits.audioBytes)
      : await intake.remote.fetch(url, signal);
  return { fields, audio, [Symbol.asyncDispose]: () => audio[Symbol.asyncDispose]() };
}

/** A JSON field as a form field: text unchanged, null left out, anything else as JSON. */
function fieldOf(name: string, value: unknown): [string, string][] {
  if (value === null || value === undefined) return [];
  return [[name, typeof value === 'string' ? value : JSON.stringify(value)]];
}

async function* once(text: string): AsyncIterable<Uint8Array> {
  yield Buffer.from(text, 'latin1');
}
