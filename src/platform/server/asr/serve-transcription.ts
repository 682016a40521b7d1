import { z } from 'zod';
import type { AnalysisPart } from '../../engines/analyse/port.ts';
import { type OutputScript, outputScripts } from '../../engines/script/transliterate.ts';
import { chooseLanguage, type LanguageChoice, unsupportedLanguage } from '../../languages.ts';
import { flagRule, readFlag, type FieldProblem, Refusal } from '../listener/refusal.ts';
import { splitBoostPhrases } from './language-recognition.ts';
import type { FastifyRequest } from 'fastify';
import { type AudioBytes, spoolToDisk, type AudioIntake, openAudio } from '../uploads/open-audio.ts';
import { decodeBase64, readUploadForm } from '../uploads/upload-form.ts';
import type { MinimalTranscription, VerboseTranscription } from '../answers.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { withDeadline } from '../listener/limits.ts';
import { answerTranscription, type AnsweredTranscription, type TranscriptionEngines } from './transcription-answer.ts';

/** The checked parameters of a batch transcription (ASR doc, parameters). */
export interface TranscriptionRequest {
  readonly language: LanguageChoice;
  readonly verbose: boolean;
  readonly boostPhrases: readonly string[];
  readonly boostWeight: number;
  /** Undefined without diarization. */
  readonly numSpeakers: number | undefined;
  readonly identifySpeakers: boolean;
  /** The project whose profiles are compared; may be empty. */
  readonly project: string;
  readonly emotion: boolean;
  readonly script: OutputScript;
  readonly medical: boolean;
  readonly codeswitch: boolean;
  /** The parts of the analysis; empty for none. */
  readonly analysis: ReadonlySet<AnalysisPart>;
  /** Empty: the analyser's own labels. */
  readonly intentChoices: readonly string[];
  readonly summaryMaxWords: number;
  readonly glossary: readonly string[];
  readonly profanity: boolean;
  readonly hashKeywords: readonly string[];
}

/** Form fields as text; of a field sent twice, the first one. */
type FormFields = ReadonlyMap<string, string>;

const flag = z.string().transform(readFlag).pipe(z.boolean(flagRule)).default(false);
const numberText = (shape: z.ZodNumber) =>
  z
    .string()
    .transform((text) => (text.trim() === '' ? Number.NaN : Number(text)))
    .pipe(shape)
    .optional();
const words = z
  .string()
  .transform((text, context): unknown => {
    try {
      return JSON.parse(text);
    } catch {
      context.addIssue({ code: 'custom', message: 'must be a JSON array of strings' });
      return z.NEVER;
    }
  })
  .pipe(z.array(z.string(), 'must be a JSON array of strings'))
  .optional();

/** Most terms in a list: each is searched for in the whole transcript. */
const maxKeywords = 1_000;
/** The default of existing clients (reference, fact 10a). */
const defaultSummaryWords = 150;

const fewWords = words.refine((list) => (list?.length ?? 0) <= maxKeywords, `must have at most ${maxKeywords} terms`);

/** All fields except for the audio, `model` and the language. */
export const transcriptionFieldsSchema = z.object({
  response_format: z.enum(['json', 'verbose_json'], 'must be json or verbose_json').default('json'),
  num_speakers: numberText(z.int('must be a whole number').min(1, 'must be at least 1').max(64, 'must be at most 64')),
  output_script: z
    .string()
    .transform((text) => text.trim().toLowerCase())
    .pipe(z.enum(outputScripts, `must be one of ${outputScripts.join(', ')}`))
    .default('auto'),
  boost_phrases: z.string().default(''),
  boost_weight: numberText(z.number('must be a number')),
  nlp_analysis: flag,
  enable_intent_detection: flag,
  intent_choices: fewWords,
  enable_sentiment_analysis: flag,
  enable_summarization: flag,
  summary_max_length: numberText(z.int('must be a whole number').min(1, 'must be at least 1')),
  enable_keyterm_normalization: flag,
  keyterm_keywords: fewWords,
  emotion: flag,
  speaker_id: flag,
  enable_speaker_identification: flag,
  project: z.string().default(''),
  medical: flag,
  profanity: flag,
  hash_keywords: fewWords,
  codeswitch: flag,
  stream: flag.refine((asked) => !asked, 'must be false: answers are not streamed here; /v1/realtime streams'),
});

type Fields = z.infer<typeof transcriptionFieldsSchema>;

/**
 * Checks every field of the parameter table; unknown ones (`temperature`, `prompt` …) and `model` are ignored.
 * @throws Refusal 422 with one entry for each field of a wrong type or value, 400 for an unsupported language and for
 * identification of fewer than two speakers
 */
export function readTranscriptionFields(form: FormFields): TranscriptionRequest {
  const result = transcriptionFieldsSchema.safeParse({ ...repeatedParts(form), ...Object.fromEntries(form) });
  if (!result.success) throw new Refusal(422, result.error.issues.map(fieldProblemOf));
  const fields = result.data;
  const word = form.get('language_code') ?? form.get('language');
  const language = chooseLanguage(word);
  if (language === undefined) throw new Refusal(400, unsupportedLanguage(word ?? ''));
  // Both addresses accept Variant B's name for the flag.
  const identify = fields.speaker_id || fields.enable_speaker_identification;
  if (identify && (fields.num_speakers ?? 0) < 2) {
    throw new Refusal(400, 'speaker_id is sent together with num_speakers of at least 2');
  }
  return {
    language,
    verbose: fields.response_format === 'verbose_json',
    boostPhrases: splitBoostPhrases(fields.boost_phrases),
    boostWeight: fields.boost_weight ?? 10,
    numSpeakers: fields.num_speakers,
    identifySpeakers: identify,
    project: fields.project.trim(),
    emotion: fields.emotion,
    script: fields.output_script,
    medical: fields.medical,
    codeswitch: fields.codeswitch,
    analysis: analysisParts(fields),
    intentChoices: fields.intent_choices ?? [],
    summaryMaxWords: fields.summary_max_length ?? defaultSummaryWords,
    glossary: fields.keyterm_keywords ?? [],
    profanity: fields.profanity,
    hashKeywords: fields.hash_keywords ?? [],
  };
}

/** ASR doc: nlp_analysis adds intent, sentiment, summary and key terms; each flag adds its own. */
function analysisParts(fields: Fields): ReadonlySet<AnalysisPart> {
  const parts = new Set<AnalysisPart>();
  const all = fields.nlp_analysis;
  if (all || fields.enable_intent_detection) parts.add('intent');
  if (all || fields.enable_sentiment_analysis) parts.add('sentiment');
  if (all || fields.enable_summarization) parts.add('summary');
  if (all || fields.enable_keyterm_normalization) parts.add('keyterms');
  if (fields.enable_keyterm_normalization) parts.add('normalizedText');
  return parts;
}

/** Lists sent as parts named `name[]`, as many clients do, under `name`. */
function repeatedParts(form: FormFields): Record<string, string> {
  const lists = [...form].filter(([name]) => name.endsWith('[]'));
  return Object.fromEntries(lists.map(([name, value]) => [name.slice(0, -2), value]));
}

function fieldProblemOf(issue: z.core.$ZodIssue): FieldProblem {
  return {
    loc: ['body', ...issue.path.filter((part) => typeof part !== 'symbol')],
    msg: issue.message,
    type: issue.code ?? 'custom',
  };
}

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
