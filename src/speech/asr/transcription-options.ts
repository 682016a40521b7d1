import { SpeechRequestError } from '../client/errors.ts';

/** All parameters of the batch endpoint (ASR doc, parameter table); absent ones are not sent. */
export interface TranscriptionOptions {
  /** ISO code or English name; `auto` when absent, which is about ten times slower (ASR doc). */
  readonly language?: string;
  /** Segments, words and confidence, not just the text. On by itself where a feature needs it. */
  readonly verbose?: boolean;
  /** Turns diarization on; 1 or more. */
  readonly numSpeakers?: number;
  /** Names the speakers by their registered profiles; needs `numSpeakers` of 2 or more. */
  readonly identifySpeakers?: boolean;
  /** Script to write the transcript in, for example `Latin`. */
  readonly outputScript?: string;
  /** Terms to bias recognition toward. */
  readonly boostPhrases?: readonly string[];
  /** 10 when absent; has no effect for English and `auto`, and distorts nearby words when high (ASR doc). */
  readonly boostWeight?: number;
  /** Intent, sentiment, summary and key terms in one pass; the four flags below ask for parts of it. */
  readonly analysis?: boolean;
  readonly intent?: boolean;
  readonly intentChoices?: readonly string[];
  readonly sentiment?: boolean;
  readonly summary?: boolean;
  /** A whole number, 1 or more; its unit is not documented. */
  readonly summaryMaxLength?: number;
  readonly keyterms?: boolean;
  /** Own brand and place names, which replace the recogniser's guess. */
  readonly keytermKeywords?: readonly string[];
  readonly emotion?: boolean;
  readonly medical?: boolean;
  /** Masks profane words with asterisks. */
  readonly profanity?: boolean;
  /** Terms replaced with four asterisks. */
  readonly hashKeywords?: readonly string[];
  /** Writes English words in Latin script and spoken numbers as digits; takes a few seconds more. */
  readonly codeSwitch?: boolean;
}

/**
 * The form fields of a request, in a fixed order: flags as `true` and `false`, lists as JSON text.
 * @throws SpeechRequestError for options that the documents rule out, before any upload
 */
export function transcriptionFields(
  options: TranscriptionOptions,
  variant: 'primary' | 'alt' = 'primary',
): [name: string, value: string][] {
  check(options);
  const fields: readonly [string, string | number | boolean | readonly string[] | undefined][] = [
    ['response_format', isVerbose(options) ? 'verbose_json' : 'json'],
    ['language_code', options.language],
    ['num_speakers', options.numSpeakers],
    [variant === 'alt' ? 'enable_speaker_identification' : 'speaker_id', options.identifySpeakers],
    ['output_script', options.outputScript],
    ['boost_phrases', options.boostPhrases?.join('||')],
    ['boost_weight', options.boostWeight],
    ['nlp_analysis', options.analysis],
    ['enable_intent_detection', options.intent],
    ['intent_choices', options.intentChoices],
    ['enable_sentiment_analysis', options.sentiment],
    ['enable_summarization', options.summary],
    ['summary_max_length', options.summaryMaxLength],
    ['enable_keyterm_normalization', options.keyterms],
    ['keyterm_keywords', options.keytermKeywords],
    ['emotion', options.emotion],
    ['medical', options.medical],
    ['profanity', options.profanity],
    ['hash_keywords', options.hashKeywords],
    ['codeswitch', options.codeSwitch],
  ];
  return fields.flatMap(([name, value]) => {
    if (value === undefined) return [];
    return [[name, typeof value === 'object' ? JSON.stringify(value) : String(value)]];
  });
}

/** Whether the verbose answer is needed: the short one drops the results of features (ASR doc, `response_format`). */
function isVerbose(options: TranscriptionOptions): boolean {
  const { analysis, intent, sentiment, summary, keyterms, emotion, identifySpeakers } = options;
  const features = [options.verbose, analysis, intent, sentiment, summary, keyterms, emotion, identifySpeakers];
  return options.numSpeakers !== undefined || features.includes(true);
}

function check(options: TranscriptionOptions): void {
  const { numSpeakers, boostPhrases = [], boostWeight = 0, summaryMaxLength } = options;
  if (numSpeakers !== undefined && !isCount(numSpeakers)) refuse('numSpeakers is a whole number, 1 or more');
  if (options.identifySpeakers === true && (numSpeakers ?? 0) < 2) refuse('identifySpeakers needs numSpeakers of 2 or more');
  if (!Number.isFinite(boostWeight)) refuse('boostWeight is a number');
  if (summaryMaxLength !== undefined && !isCount(summaryMaxLength)) refuse('summaryMaxLength is a whole number, 1 or more');
  if (boostPhrases.some((phrase) => /\|\||[\r\n]/u.test(phrase))) refuse('a boost phrase has no double bar and no line break');
}

function isCount(value: number): boolean {
  return Number.isInteger(value) && value >= 1;
}

function refuse(rule: string): never {
  throw new SpeechRequestError(`transcription: ${rule}`);
}
