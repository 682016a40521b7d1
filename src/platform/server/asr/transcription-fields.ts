import { z } from 'zod';
import type { AnalysisPart } from '../../engines/analyse/port.ts';
import { type OutputScript, outputScripts } from '../../engines/script/transliterate.ts';
import { chooseLanguage, type LanguageChoice, unsupportedLanguage } from '../../languages.ts';
import { flagRule, readFlag, type FieldProblem, Refusal } from '../listener/refusal.ts';
import { splitBoostPhrases } from './language-recognition.ts';

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
export type FormFields = ReadonlyMap<string, string>;

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
