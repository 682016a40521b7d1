import type { Clock } from '../../../kernel/clock.ts';
import { withDeadline } from '../deadline.ts';
import { type AudioIntake, openAudio } from './open-audio.ts';
import { documentedFields, isNewerForm, newerAnswer } from './newer-clients.ts';
import { answerTranscription, type AnsweredTranscription, type TranscriptionEngines } from './transcription-answer.ts';
import { readTranscriptionFields } from './transcription-fields.ts';
import type { TranscriptionForm } from './transcription-form.ts';

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
