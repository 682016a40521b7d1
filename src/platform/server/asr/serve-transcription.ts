import type { Clock } from '../../../kernel/clock.ts';
import { withDeadline } from '../deadline.ts';
import { flagRule, readFlag } from '../read-flag.ts';
import { Refusal } from '../refusal.ts';
import { type AudioIntake, openAudio } from './open-audio.ts';
import {
  answerTranscription,
  type AnsweredTranscription,
  type MinimalTranscription,
  type TranscriptionEngines,
} from './transcription-answer.ts';
import { type FormFields, readTranscriptionFields } from './transcription-fields.ts';
import type { TranscriptionForm } from './transcription-form.ts';
import type { VerboseTranscription } from './transcription-result.ts';

export interface ServeTranscriptionOptions {
  readonly engines: TranscriptionEngines;
  readonly intake: AudioIntake;
  readonly clock: Clock;
  readonly requestId: string;
  readonly signal: AbortSignal;
  /** Also serves the features of the vendor's newer clients as these ask for them. */
  readonly compat?: boolean;
}

/** One batch transcription from the form that was read to the answer's body. The form is disposed of. */
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
function isNewerForm(form: FormFields): boolean {
  const asked = features.map((name) => {
    const text = form.get(name);
    const flag = text === undefined ? false : readFlag(text);
    if (flag === undefined) throw new Refusal(422, [{ loc: ['body', name], msg: flagRule, type: 'invalid_type' }]);
    return flag;
  });
  return !form.has('response_format') && asked.includes(true);
}

/** The same request in the documents' words. */
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

/** The answer as newer clients read it: intent and sentiment are objects with a label. */
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
