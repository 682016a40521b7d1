import type { TranscriptionOptions } from '../../speech/asr/transcription-options.ts';
import type { AnalysisProfile } from './profile.ts';
import type { BatchTranscriber, Transcription } from './transcriber.ts';
import type { Stretch } from './speech-meter.ts';
import { JobSubjectError } from '../errors.ts';
import type { RecordingPiece } from './wav-recording.ts';
import type { ChannelTranscript, Segment } from './transcript.ts';

export interface ChannelSound {
  readonly role: string;
  /** One file, or several where one would be over the platform's limits. */
  readonly pieces: readonly RecordingPiece[];
  /** Where speech is, as far as it is known. */
  readonly speech: readonly Stretch[] | undefined;
  readonly totalS: number;
}

export interface RecognisedChannel {
  readonly transcript: ChannelTranscript;
  /** The answer to the first piece, if there are several. */
  readonly answer: Partial<Transcription>;
  /** What the platform says of how it heard, each once. */
  readonly warnings: readonly string[];
  /** Speakers' turns over all pieces, seconds of the whole. */
  readonly turns: readonly (Stretch & { readonly speaker: string })[];
}

/** Recognises one channel by the profile's route, piece by piece. @throws what the transcriber throws */
export async function recogniseChannel(
  transcriber: BatchTranscriber,
  profile: AnalysisProfile,
  sound: ChannelSound,
  request: ChannelRequest,
  signal: AbortSignal,
): Promise<RecognisedChannel> {
  const answers: { readonly startS: number; readonly answer: Transcription }[] = [];
  for (const { path, startS } of sound.pieces) {
    const answer =
      profile.route === 'medical'
        ? await medically(transcriber, path, request, signal)
        : await transcriber.transcribe(path, {
            language: profile.language,
            verbose: true,
            recognition: recognitionOptions(profile, request),
            signal,
          });
    answers.push({ startS, answer });
  }
  const several = answers.length > 1;
  const label = (speaker: string | undefined, index: number): string | undefined =>
    // Speakers of different pieces cannot be matched.
    speaker === undefined || !several ? speaker : `${index + 1}/${speaker}`;
  const shared = request.speakers > 1;
  const segments = answers.flatMap(({ startS, answer }, index) =>
    segmentsOf(answer, sound, index).map((segment): Segment => ({
      ...segment,
      startS: startS + segment.startS,
      endS: startS + segment.endS,
      // A label means nothing on one person's own channel.
      speaker: shared ? label(segment.speaker, index) : undefined,
    })),
  );
  return {
    transcript: {
      role: sound.role,
      source: profile.route === 'medical' ? 'medical' : 'asr',
      text: answers
        .map(({ answer }) => answer.text.trim())
        .filter((text) => text !== '')
        .join(' '),
      segments,
      words: answers.flatMap(({ startS, answer }) =>
        (answer.words ?? []).map((word) => ({ ...word, startS: startS + word.startS, endS: startS + word.endS })),
      ),
      unrecognised: answers.flatMap(({ startS, answer }) =>
        (answer.unrecognised ?? []).map((part) => ({ startS: startS + part.startS, endS: startS + part.endS })),
      ),
    },
    answer: answers[0]?.answer ?? {},
    warnings: [...new Set(answers.flatMap(({ answer }) => answer.warnings ?? []))],
    turns: answers.flatMap(({ startS, answer }, index) =>
      (answer.speakerTurns ?? []).map((turn) => ({
        startS: startS + turn.startS,
        endS: startS + turn.endS,
        speaker: label(turn.speaker, index) ?? turn.speaker,
      })),
    ),
  };
}

async function medically(
  transcriber: BatchTranscriber,
  path: string,
  { speakers }: ChannelRequest,
  signal: AbortSignal,
): Promise<Transcription> {
  if (transcriber.transcribeMedical === undefined)
    throw new JobSubjectError('the profile takes the medical route, and no medical service is configured', false, {});
  // Segments come only with diarization (ASR doc, "Medical batch result").
  const { text, segments, requestIds } = await transcriber.transcribeMedical(path, { diarize: true, signal });
  const turns = segments.flatMap(({ startS, endS, speaker }) => (speaker === undefined ? [] : [{ startS, endS, speaker }]));
  return { text, segments, requestId: requestIds[0], ...(speakers > 1 ? { speakerTurns: turns } : {}) };
}

/** The platform's segments, or one over all speech where it gave none. */
function segmentsOf(
  { segments, text, durationS }: Transcription,
  { speech, totalS }: ChannelSound,
  piece: number,
): readonly Segment[] {
  if (segments.length > 0 || text.trim() === '') return segments;
  const [first, last] = piece === 0 ? [speech?.[0], speech?.at(-1)] : [];
  return [{ startS: first?.startS ?? 0, endS: last?.endS ?? durationS ?? totalS, text: text.trim() }];
}

export interface ChannelRequest {
  /** Speakers to tell apart; 1 where the channel is one person's. */
  readonly speakers: number;
  /** Whether the insights are drawn from this request. */
  readonly insights: boolean;
}

/** What a profile asks of the batch endpoint for one channel, or for a whole recording (ASR doc, parameter table). */
export function recognitionOptions(profile: AnalysisProfile, { speakers, insights }: ChannelRequest): TranscriptionOptions {
  const { recognition, redaction, language } = profile;
  const identify = profile.speakers.identify;
  // Identification is sent together with two speakers or more (ASR doc, `speaker_id`).
  const told = identify ? Math.max(2, speakers) : speakers;
  const { outputScript, boostPhrases, boostWeight, emotion, medicalTerms, profanity, codeSwitch } = recognition;
  return {
    verbose: true,
    ...(language === 'auto' ? {} : { language }),
    ...(told > 1 ? { numSpeakers: told } : {}),
    ...(identify ? { identifySpeakers: true } : {}),
    ...(outputScript === undefined ? {} : { outputScript }),
    ...(boostPhrases.length === 0 ? {} : { boostPhrases }),
    ...(boostWeight === undefined ? {} : { boostWeight }),
    ...(emotion ? { emotion } : {}),
    ...(medicalTerms ? { medical: true } : {}),
    ...(profanity ? { profanity } : {}),
    ...(codeSwitch ? { codeSwitch } : {}),
    ...(redaction.keywords.length === 0 ? {} : { hashKeywords: redaction.keywords }),
    ...(insights ? insightOptions(profile) : {}),
  };
}

/** Extra choice for "none of them": a platform that must choose would otherwise take the first. */
export const NO_CHOICE = 'other';

/** Only the requested insights, which arrive sooner than all of them (ASR doc, `enable_*`). */
export function insightOptions({ insights }: AnalysisProfile): TranscriptionOptions {
  const { summary, sentiment, intent, keyTerms } = insights;
  return {
    ...(sentiment ? { sentiment } : {}),
    ...(summary === false ? {} : { summary: true }),
    ...(summary === false || summary.maxLength === undefined ? {} : { summaryMaxLength: summary.maxLength }),
    ...(intent === false ? {} : { intent: true }),
    ...(intent === false || intent.choices === undefined ? {} : { intentChoices: [...new Set([...intent.choices, NO_CHOICE])] }),
    ...(keyTerms === false ? {} : { keyterms: true }),
    ...(keyTerms === false || keyTerms.keywords === undefined ? {} : { keytermKeywords: keyTerms.keywords }),
  };
}

/** Whether the profile asks for any insight at all. */
export function wantsInsights({ insights: { summary, sentiment, intent, keyTerms } }: AnalysisProfile): boolean {
  return sentiment || summary !== false || intent !== false || keyTerms !== false;
}
