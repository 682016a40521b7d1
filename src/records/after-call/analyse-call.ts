import { z } from 'zod';
import { COMPRESSED_FORMATS } from '../../audio/recording-format.ts';
import { existsSync } from 'node:fs';
import { access } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { judgedWrong } from '../attention.ts';
import type { CallRecord, Store, StoredCall } from '../port.ts';
import { type AnalysisSegment, type CallAnalysis, callAnalysis } from '../analysis/document.ts';
import { NO_PRICES, type PriceList } from '../../config/prices.ts';
import { costOf } from '../../costs/cost.ts';
import type { Clock } from '../../kernel/clock.ts';
import { hasCode } from '../../kernel/errors.ts';
import { reserveFile } from '../../kernel/temporary.ts';
import { findingsOf, type Heard } from '../analysis/findings.ts';
import { DEFAULT_PROFILE, type PreparedProfile, AnalysisProfiles, profileKey } from '../analysis/analysis-profiles.ts';
import { insightOptions, wantsInsights, recogniseChannel, type RecognisedChannel } from '../analysis/recognise.ts';
import { splitRecording, type SeparatedRecording, separateChannels } from '../analysis/wav-recording.ts';
import { JobSubjectError } from '../errors.ts';
import type { ChannelTranscript } from '../analysis/transcript.ts';
import type { BatchTranscriber } from '../analysis/transcriber.ts';

/** The form of the document that it makes; a new form is a new job for the same call. */
export const ANALYSIS_VERSION = 1;

export const postCallSubject = z.object({
  tenantId: z.string().min(1),
  callId: z.string().min(1),
  /** Analyse once more, with this profile; the bot's own when absent. */
  profile: z.string().min(1).optional(),
  /** In place of an analysis: turn the recording into this. */
  recordingAs: z.enum(COMPRESSED_FORMATS).optional(),
});
export type PostCallSubject = z.infer<typeof postCallSubject>;

/** The same for every request to analyse the same call: a repeat is a no-op. */
export function postCallJobId({ tenantId, callId }: PostCallSubject): string {
  return `post-call:${tenantId}:${callId}:${ANALYSIS_VERSION}`;
}

/** One a day: a call that a legal hold protected today is compressed on another day. */
export function recordingJobId({ tenantId, callId }: PostCallSubject, dayAtMs: number): string {
  return `recording:${tenantId}:${callId}:${Math.floor(dayAtMs / 86_400_000)}`;
}

export interface AnalyseCallParts {
  readonly store: Store;
  readonly transcriber: BatchTranscriber;
  readonly clock: Clock;
  /** The profiles that say what to extract from which calls; without them, transcript and measures only. */
  readonly profiles?: AnalysisProfiles | undefined;
  /** Prices of what the profile's model uses; unknown when absent. */
  readonly prices?: PriceList | undefined;
  /** Working folder for channels and pieces of recordings; the caller removes what is left in it. */
  readonly workFolder: string;
  /** Returns a call whose `recordingPath` is a plain WAV; absent where every recording is one. */
  readonly plain?: ((call: StoredCall) => Promise<CallRecord>) | undefined;
}

/**
 * Makes and stores the analysis of one call: the caller's words from the recording, the bot's heard words from the call's ledger, and what the bot's
 * profile asks for. The document is also written beside the recording. A repeat replaces the document by an equal one; another profile's is kept
 * beside it.
 * @throws JobSubjectError when call, recording or profile are missing, WavError for an unreadable recording, and what the transcriber and the model
 * throw
 */
export async function analyseCall(parts: AnalyseCallParts, subject: PostCallSubject, signal: AbortSignal): Promise<CallAnalysis> {
  const { tenantId, callId } = subject;
  const call = await parts.store.calls.get(tenantId, callId);
  if (call === undefined) throw new JobSubjectError('the call is not in the store', true, { callId });
  const prepared = profileFor(parts.profiles ?? AnalysisProfiles.plain(), call, subject);
  const audible = parts.plain === undefined ? call : await parts.plain(call);
  const { heard, callerSpeechS, botSpeechS } = await hearCall(parts, audible, prepared, signal);
  const recordedAtMs = call.recordingStartedAtMs ?? call.startedAtMs;
  const { findings, channels, talkRatio, usage } = await findingsOf(heard, { ...prepared, recordedAtMs }, signal);
  const [caller, bot] = channels;
  const analysis = callAnalysis.parse(
    // Round trip through JSON, which drops undefined fields.
    JSON.parse(
      JSON.stringify({
        version: ANALYSIS_VERSION,
        callId,
        channels: [
          { ...caller, role: 'caller' },
          { ...bot, role: 'bot', words: undefined },
        ],
        durations: { totalS: heard.totalS, callerSpeechS, botSpeechS },
        talkRatio,
        ...findings,
      }),
    ),
  );
  const key = profileKey(prepared);
  // Plain files are not written beside a sealed recording.
  const path = call.keeping.recordingObject === undefined ? analysisPath(call, key) : undefined;
  if (path !== undefined) await writeBeside(parts.store, subject, path, `${JSON.stringify(analysis, null, 2)}\n`);
  // Last, so that the file exists once the store has the analysis.
  await parts.store.analyses.put({
    tenantId,
    callId,
    version: ANALYSIS_VERSION,
    profile: key,
    createdAtMs: parts.clock.wallMs(),
    disposition: analysis.disposition?.value ?? undefined,
    score: analysis.quality?.score ?? undefined,
    searchText: analysis.channels.map(({ text }) => text).join('\n'),
    document: analysis,
    judged: judgedWrong(analysis, (call.recordingStartedAtMs ?? call.startedAtMs) - call.startedAtMs),
  });
  const { parts: costs } = costOf(usage, parts.prices ?? NO_PRICES);
  if (costs.length > 0) await parts.store.calls.addCost(tenantId, callId, `analysis/${key}`, costs);
  return analysis;
}

/** Writes the document unless the call was erased meanwhile: an erasure after the check removes the reservation. */
async function writeBeside(store: Store, { tenantId, callId }: PostCallSubject, path: string, text: string): Promise<void> {
  await using file = await reserveFile(path);
  const call = await store.calls.get(tenantId, callId);
  if (call === undefined || call.keeping.textErasedAtMs !== undefined)
    throw new JobSubjectError('the call was erased', false, { callId });
  await file.replace(text);
}

/** Path of the document beside the recording; undefined for a call without one. */
export function analysisPath(call: Pick<CallRecord, 'id' | 'recordingPath'>, key = DEFAULT_PROFILE): string | undefined {
  if (call.recordingPath === undefined) return undefined;
  const ending = key === DEFAULT_PROFILE ? 'analysis.json' : `${key}.analysis.json`;
  return join(dirname(call.recordingPath), `${call.id}.${ending}`);
}

function profileFor(
  profiles: AnalysisProfiles,
  { botName, language }: CallRecord,
  { profile: name }: PostCallSubject,
): PreparedProfile {
  const found = name === undefined ? profiles.forBot(botName) : profiles.named(name);
  if (found === undefined) throw new JobSubjectError('there is no such analysis profile', false, { profile: name });
  // Uses the call's own language, since a bot may have switched.
  return { ...found, loaded: { ...found.loaded, profile: { ...found.loaded.profile, language } } };
}

interface CallHearing {
  readonly heard: Heard;
  readonly callerSpeechS: number;
  readonly botSpeechS: number;
}

/** The analysis of a call without a recording: words from the live call, without measures. */
function unrecorded(call: CallRecord, [callerRole, botRole]: readonly [string, string]): CallHearing {
  const channel = (role: string, source: 'live' | 'ledger', segments: AnalysisSegment[]): ChannelTranscript => ({
    role,
    source,
    text: segments.map(({ text }) => text).join(' '),
    segments,
    words: [],
  });
  const totalS = lengthOf(call);
  return {
    callerSpeechS: 0,
    botSpeechS: 0,
    heard: {
      channels: [
        channel(callerRole, 'live', liveSegments(call, totalS)),
        channel(botRole, 'ledger', heardSegments(call, totalS)),
      ],
      talkers: [],
      speechS: [0, 0],
      measuredFrom: 'nothing',
      totalS: 0,
      speakers: [],
      insights: undefined,
      emotion: undefined,
      languages: [],
      problems: ['no recording: the words are those of the live call, and nothing was measured'],
      collected: collectedIn(call),
    },
  };
}

function collectedIn({ variables = {}, notes = [] }: CallRecord): Heard['collected'] {
  return { variables, notes };
}

async function hearCall(
  { transcriber, workFolder }: Pick<AnalyseCallParts, 'transcriber' | 'workFolder'>,
  call: CallRecord,
  { loaded: { profile } }: PreparedProfile,
  signal: AbortSignal,
): Promise<CallHearing> {
  const { id, recordingPath } = call;
  const [callerRole, botRole] = profile.channels.roles;
  const nothing: RecognisedChannel = {
    transcript: { role: callerRole, source: 'asr', text: '', segments: [], words: [] },
    answer: {},
    warnings: [],
    turns: [],
  };
  const hearing = (sound: SeparatedRecording, said: RecognisedChannel): CallHearing => {
    const segments = heardSegments(call, sound.totalS);
    const [callerSpeech = [], botSpeech = []] = sound.speech;
    const secondsOf = (speech: typeof callerSpeech): number => speech.reduce((sum, { startS, endS }) => sum + endS - startS, 0);
    const bot = {
      role: botRole,
      source: 'ledger',
      text: segments.map(({ text }) => text).join(' '),
      segments,
      words: [],
    } as const;
    return {
      callerSpeechS: secondsOf(callerSpeech),
      botSpeechS: secondsOf(botSpeech),
      heard: {
        channels: [said.transcript, bot],
        talkers: [
          { role: callerRole, stretches: callerSpeech },
          { role: botRole, stretches: botSpeech },
        ],
        speechS: [secondsOf(callerSpeech), secondsOf(botSpeech)],
        measuredFrom: 'sound',
        totalS: sound.totalS,
        speakers: [],
        insights: said.answer.analysis,
        emotion: said.answer.emotionSummary,
        languages: said.answer.detectedLanguage === undefined ? [] : [said.answer.detectedLanguage],
        problems: said.warnings,
        collected: collectedIn(call),
      },
    };
  };
  if (recordingPath === undefined) return unrecorded(call, [callerRole, botRole]);
  try {
    await access(recordingPath);
  } catch (error) {
    // The folder exists, so the disk is mounted and the file is really missing.
    if (hasCode(error, 'ENOENT') && existsSync(dirname(recordingPath))) return unrecorded(call, [callerRole, botRole]);
    throw new JobSubjectError('the recording cannot be read', true, { callId: id }, error);
  }
  const callerPath = join(workFolder, `${id}.caller.wav`);
  const sound = await separateChannels(recordingPath, [callerPath]);
  if (sound.channels < 2) throw new JobSubjectError('the recording is not stereo', false, { callId: id });
  if (sound.speech[0]?.length === 0) return hearing(sound, nothing);
  const pieces = await splitRecording(callerPath, join(workFolder, `${id}.caller`), signal);
  const everybody = wantsInsights(profile) && profile.insights.of === 'everybody';
  const request = { speakers: 1, insights: wantsInsights(profile) && !everybody };
  const channel = { role: callerRole, pieces, speech: sound.speech[0], totalS: sound.totalS };
  const said = await recogniseChannel(transcriber, profile, channel, request, signal);
  if (!everybody) return hearing(sound, said);
  const options = { language: profile.language, verbose: true, recognition: insightOptions(profile), signal };
  const { analysis } = await transcriber.transcribe(recordingPath, options);
  return hearing(sound, { ...said, answer: { ...said.answer, analysis } });
}

/**
 * The heard part of the bot's turns as segments on the recording's clock, in order of time. An unheard turn has none. Where the record does not say
 * when the bot spoke, the turn's start and the next turn's are used.
 * @param totalS length of the recording; no segment goes beyond it
 */
export function heardSegments(call: CallRecord, totalS: number): AnalysisSegment[] {
  const zeroMs = zeroOf(call);
  const seconds = (wallMs: number): number => Math.min(totalS, Math.max(0, (wallMs - zeroMs) / 1000));
  const turns = call.turns.toSorted((a, b) => a.index - b.index);
  return turns.flatMap((turn, position) => {
    if (turn.botHeardText === '') return [];
    const startS = seconds(turn.botStartedAtMs ?? turn.startedAtMs);
    const nextMs = turns[position + 1]?.startedAtMs;
    const endMs = turn.botEndedAtMs ?? nextMs;
    const endS = endMs === undefined ? totalS : seconds(endMs);
    return [{ startS, endS: Math.max(startS, endS), text: turn.botHeardText }];
  });
}

/** The caller's words from the live call, each at its turn's start, since no other times are known. */
export function liveSegments(call: CallRecord, totalS: number): AnalysisSegment[] {
  return call.turns
    .toSorted((a, b) => a.index - b.index)
    .filter(({ callerText }) => callerText !== '')
    .map(({ startedAtMs, callerText }) => {
      const atS = Math.min(totalS, Math.max(0, (startedAtMs - zeroOf(call)) / 1000));
      return { startS: atS, endS: atS, text: callerText };
    });
}

/** From the (possible) beginning of the recording to the call's end, in seconds. */
export function lengthOf(call: CallRecord): number {
  return Math.max(0, ((call.endedAtMs ?? call.startedAtMs) - zeroOf(call)) / 1000);
}

function zeroOf({ recordingStartedAtMs, answeredAtMs, startedAtMs }: CallRecord): number {
  return recordingStartedAtMs ?? answeredAtMs ?? startedAtMs;
}
