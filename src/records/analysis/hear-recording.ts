import { join } from 'node:path';
import type { IdentifiedSpeaker } from '../../speech/asr/transcription-result.ts';
import type { Stretch } from './speech-meter.ts';
import { type Talker, union, lengthOf, UNKNOWN_ROLE } from './measures.ts';
import { type AnalysisProfile, monoRoles } from './profile.ts';
import { errorText, OffhookError } from '../../kernel/errors.ts';
import type { LoadedProfile } from './analysis-profiles.ts';
import type { SoundReader } from './sound-reader.ts';
import type { BatchTranscriber } from './transcriber.ts';
import { RecordingRefusedError } from '../errors.ts';
import type { Heard } from './findings.ts';
import { insightOptions, wantsInsights, type ChannelSound, recogniseChannel, type RecognisedChannel } from './recognise.ts';
import { PLATFORM_LIMITS, splitRecording, type SeparatedRecording, separateChannels } from './wav-recording.ts';

/** Less speech in a whole recording counts as none. */
const LEAST_SPEECH_S = 0.2;

interface RecordingFile {
  readonly path: string;
  readonly container: string;
  /** A folder of its own, for channels and pieces. */
  readonly folder: string;
}

type HeardRecording = Heard & { readonly channelCount: number | undefined };

export interface HearingParts {
  readonly transcriber: BatchTranscriber;
  readonly sound: SoundReader;
  readonly loaded: LoadedProfile;
}

/** Measures a recording and has it recognised, each person's channel by itself where it has one. */
export async function hearRecording(parts: HearingParts, file: RecordingFile, signal: AbortSignal): Promise<HeardRecording> {
  const { profile } = parts.loaded;
  const wavPath = file.container === 'wav' ? file.path : await decoded(parts, file, signal);
  const targets = [join(file.folder, 'left.wav'), join(file.folder, 'right.wav')];
  const separable = profile.channels.stereo === 'separate';
  const sound = wavPath === undefined ? undefined : await separateChannels(wavPath, separable ? targets : []);
  if (sound !== undefined) requireSpeech(sound);
  if (sound !== undefined && file.container !== 'wav' && sound.totalS > PLATFORM_LIMITS.seconds)
    throw new RecordingRefusedError('too-long', 'longer than the four hours that the platform takes; only WAV files are split');
  if (sound !== undefined && separable && sound.channels === 2 && !sound.isTwice)
    return hearSeparately(parts, file, sound, targets, signal);
  return hearTogether(parts, file, sound, signal);
}

/** A file that cannot be decoded here is sent to the platform; its sound is not measured. */
async function decoded(
  { sound }: HearingParts,
  { path, container, folder }: RecordingFile,
  signal: AbortSignal,
): Promise<string | undefined> {
  const wavPath = join(folder, 'decoded.wav');
  try {
    return (await sound.decode(path, container, wavPath, signal)) ? wavPath : undefined;
  } catch (error) {
    if (!(error instanceof OffhookError) || error.retryable) throw error;
    const fault = error.code === 'OFFHOOK_MEDIA_TOO_LONG' ? 'too-long' : 'not-audio';
    throw new RecordingRefusedError(fault, errorText(error), error);
  }
}

function requireSpeech({ speech, totalS }: SeparatedRecording): void {
  const speechS = speech.flat().reduce((sum, { startS, endS }) => sum + endS - startS, 0);
  if (speechS < LEAST_SPEECH_S)
    throw new RecordingRefusedError(
      'no-speech',
      `no speech in ${totalS >= 90 ? `${(totalS / 60).toFixed(0)} min` : `${totalS.toFixed(1)} s`}`,
    );
}

async function hearSeparately(
  { transcriber, loaded: { profile } }: HearingParts,
  { path, folder, container }: RecordingFile,
  sound: SeparatedRecording,
  targets: readonly string[],
  signal: AbortSignal,
): Promise<HeardRecording> {
  const wanted = wantsInsights(profile);
  const everybody = wanted && profile.insights.of === 'everybody';
  const recognised = await Promise.all(
    profile.channels.roles.map(async (role, index): Promise<RecognisedChannel> => {
      const target = targets[index];
      const speech = sound.speech[index] ?? [];
      const channel = { role, speech, totalS: sound.totalS };
      // A silent channel is not sent: requests cost money.
      if (speech.length === 0 || target === undefined)
        return { transcript: { role, source: 'asr', text: '', segments: [], words: [] }, answer: {}, warnings: [], turns: [] };
      const pieces = await splitRecording(target, join(folder, `channel-${index}`), signal);
      const request = { speakers: 1, insights: wanted && !everybody && index === 0 };
      return recogniseChannel(transcriber, profile, { ...channel, pieces }, request, signal);
    }),
  );
  const problems = [...new Set(recognised.flatMap(({ warnings }) => warnings))];
  let insights = recognised[0]?.answer.analysis;
  if (everybody) {
    const parts = container === 'wav' ? await splitRecording(path, join(folder, 'whole'), signal) : [];
    if (parts.length > 1) problems.push('the insights are drawn from the first part of a recording that had to be split');
    const options = { language: profile.language, verbose: true, recognition: insightOptions(profile), signal };
    insights = (await transcriber.transcribe(parts[0]?.path ?? path, options)).analysis;
  }
  return {
    channels: recognised.map(({ transcript }) => transcript),
    channelCount: sound.channels,
    talkers: profile.channels.roles.map((role, index) => ({ role, stretches: sound.speech[index] ?? [] })),
    speechS: profile.channels.roles.map((_, index) => lengthOf(sound.speech[index] ?? [])),
    measuredFrom: 'sound',
    totalS: sound.totalS,
    speakers: recognised.flatMap(({ answer, transcript: { role } }) => {
      const profile = answer.speakersIdentified?.find(({ name }) => name !== undefined);
      return profile === undefined ? [] : [{ label: profile.speaker, role, profile }];
    }),
    insights,
    emotion: recognised[0]?.answer.emotionSummary,
    languages: languagesOf(recognised),
    problems,
  };
}

async function hearTogether(
  { transcriber, loaded: { profile } }: HearingParts,
  { path, folder, container }: RecordingFile,
  sound: SeparatedRecording | undefined,
  signal: AbortSignal,
): Promise<HeardRecording> {
  const { speakers } = profile.channels.mono;
  const roles = monoRoles(profile.channels);
  const isWav = container === 'wav';
  const pieces = isWav ? await splitRecording(path, join(folder, 'whole'), signal) : [{ path, startS: 0 }];
  const speech: readonly Stretch[] | undefined = sound?.speech[0];
  const channel: ChannelSound = {
    role: speakers > 1 ? 'mixed' : (roles[0] ?? 'speaker'),
    pieces,
    speech,
    totalS: sound?.totalS ?? 0,
  };
  const request = { speakers, insights: wantsInsights(profile) };
  const recognised = await recogniseChannel(transcriber, profile, channel, request, signal);
  const { transcript, answer, turns } = recognised;
  const totalS = sound?.totalS ?? answer.durationS ?? transcript.segments.at(-1)?.endS ?? 0;
  const labelled =
    turns.length > 0
      ? turns
      : transcript.segments.flatMap((each) => (each.speaker === undefined ? [] : [{ ...each, speaker: each.speaker }]));
  const together = speakers > 1;
  // The speech itself is known even so.
  const nobodyKnown = together && labelled.length === 0 && speech !== undefined;
  const who = together ? speakerRoles(labelled, answer.speakersIdentified ?? [], profile) : [];
  const alone = [{ role: together ? UNKNOWN_ROLE : channel.role, stretches: speech ?? transcript.segments }];
  return {
    channels: [transcript],
    channelCount: sound?.channels,
    talkers: together && !nobodyKnown ? talkersOf(labelled, who, profile.channels.roles) : alone,
    speechS: [speech === undefined ? undefined : lengthOf(speech)],
    measuredFrom: (together && !nobodyKnown) || speech === undefined ? 'recogniser' : 'sound',
    totalS,
    speakers: who,
    insights: answer.analysis,
    emotion: answer.emotionSummary,
    languages: languagesOf([recognised]),
    problems: [
      ...recognised.warnings,
      ...(sound === undefined ? ['nothing here decodes this format: the sound was not measured'] : []),
      ...(pieces.length > 1 ? ['a recording that had to be split: insights are of its first part'] : []),
    ],
  };
}

function languagesOf(channels: readonly RecognisedChannel[]): string[] {
  const languages = channels.flatMap(({ answer }) => answer.detectedLanguage ?? []);
  return [...new Set(languages)];
}

type Turn = Stretch & { readonly speaker: string };

export interface SpeakerRole {
  readonly label: string;
  readonly role: string;
  readonly profile: IdentifiedSpeaker | undefined;
}

/**
 * Roles on a shared channel: a speaker known by voice has their profile's role, the others get the remaining roles in order of first speech. A
 * speaker beyond the roles is `speaker-3` and so on.
 */
export function speakerRoles(
  turns: readonly Turn[],
  identified: readonly IdentifiedSpeaker[],
  { channels, speakers }: Pick<AnalysisProfile, 'channels' | 'speakers'>,
): SpeakerRole[] {
  const labels = [...new Set(turns.toSorted((left, right) => left.startS - right.startS).map(({ speaker }) => speaker))];
  const known = labels.map((label) => {
    const profile = identified.find(({ speaker }) => speaker === label);
    return { label, profile, role: profile?.name === undefined ? undefined : speakers.roles[profile.name] };
  });
  const left = monoRoles(channels).filter((role) => known.every((each) => each.role !== role));
  return known.map(({ label, profile, role }, index) => ({
    label,
    profile,
    role: role ?? left.shift() ?? `speaker-${index + 1}`,
  }));
}

/** What each role says on a shared channel, by the recogniser's own turns. */
export function talkersOf(turns: readonly Turn[], roles: readonly SpeakerRole[], first: readonly string[]): Talker[] {
  const names = [...new Set(roles.map(({ role }) => role))];
  // In the profile's own order, as on separate channels.
  const order = [...first.filter((role) => names.includes(role)), ...names.filter((role) => !first.includes(role))];
  return order.map((role) => {
    const labels = new Set(roles.flatMap((each) => (each.role === role ? [each.label] : [])));
    return { role, stretches: union(turns.filter(({ speaker }) => labels.has(speaker))) };
  });
}
