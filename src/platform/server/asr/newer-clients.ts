import { readFlag, flagRule } from '../read-flag.ts';
import { Refusal } from '../refusal.ts';
import type { MinimalTranscription } from './transcription-answer.ts';
import type { FormFields } from './transcription-fields.ts';
import type { VerboseTranscription } from './transcription-result.ts';

/** Flags of the vendor's newer clients that the documents call otherwise. */
const renamed: Readonly<Record<string, string>> = {
  enable_emotion_diarization: 'emotion',
  enable_profanity_hashing: 'profanity',
};
/** Any of them asks for more than the short answer holds. */
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
/** Newer clients do not say how many speakers there are. */
const usualSpeakers = '2';

/**
 * Whether a form is one of the vendor's newer clients that asks for features: they never say `response_format`, and expect the
 * long answer (docs/platform-clients.md).
 * @throws Refusal 422 for a flag that is neither true nor false
 */
export function isNewerForm(form: FormFields): boolean {
  const asked = features.map((name) => {
    const text = form.get(name);
    const flag = text === undefined ? false : readFlag(text);
    if (flag === undefined) throw new Refusal(422, [{ loc: ['body', name], msg: flagRule, type: 'invalid_type' }]);
    return flag;
  });
  return !form.has('response_format') && asked.includes(true);
}

/** The same request in the documents' words. */
export function documentedFields(form: FormFields): FormFields {
  const fields = new Map([['response_format', 'verbose_json'], ...form]);
  for (const [theirs, ours] of Object.entries(renamed)) {
    const flag = form.get(theirs);
    if (flag !== undefined && !fields.has(ours)) fields.set(ours, flag);
  }
  const diarize = ['enable_diarization', 'enable_speaker_identification'].some((name) => readFlag(form.get(name) ?? '') === true);
  if (diarize && !fields.has('num_speakers')) fields.set('num_speakers', usualSpeakers);
  return fields;
}

/** The answer as newer clients read it: intent and sentiment are objects with a label. */
export function newerAnswer(body: VerboseTranscription | MinimalTranscription): object {
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
