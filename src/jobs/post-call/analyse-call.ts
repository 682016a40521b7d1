import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { parseWav, wavFile } from '../../audio/wav.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { CallRecord, Store } from '../../store/port.ts';
import { JobSubjectError } from '../errors.ts';
import { writeFileAtomic } from '../write-file-atomic.ts';
import type { CallAnalysis } from './analysis.ts';
import { heardSegments } from './heard-segments.ts';
import { ANALYSIS_VERSION, type PostCallSubject } from './job.ts';
import { speechSeconds } from './speech-time.ts';
import type { BatchTranscriber, Transcription } from './transcriber.ts';

export interface AnalyseCallParts {
  readonly store: Store;
  readonly transcriber: BatchTranscriber;
  readonly clock: Clock;
}

/**
 * Makes and stores the analysis of one call: what the caller said, from the recording; what the bot was heard to say, from
 * the call's ledger; who spoke for how long. The document is also written beside the recording. Doing it again replaces
 * the document by the same.
 * @throws JobSubjectError when call or recording are missing, WavError for a recording that cannot be read, and what the
 * transcriber throws
 */
export async function analyseCall(parts: AnalyseCallParts, subject: PostCallSubject, signal: AbortSignal): Promise<CallAnalysis> {
  const { tenantId, callId } = subject;
  const call = await parts.store.calls.get(tenantId, callId);
  if (call === undefined) throw new JobSubjectError('the call is not in the store', true, { callId });
  const { caller, bot, rateHz } = await readRecording(call);
  const totalS = caller.length / rateHz;
  const callerSpeechS = speechSeconds(caller, rateHz);
  const botSpeechS = speechSeconds(bot, rateHz);
  const said: Transcription =
    callerSpeechS === 0
      ? { text: '', segments: [], requestId: undefined }
      : await parts.transcriber.transcribe(wavFile(caller, rateHz), { language: call.language, verbose: true, signal });
  const heard = heardSegments(call, totalS);
  const speechS = callerSpeechS + botSpeechS;
  const analysis: CallAnalysis = {
    version: ANALYSIS_VERSION,
    callId,
    channels: [
      { role: 'caller', text: said.text, segments: [...said.segments], source: 'asr' },
      { role: 'bot', text: heard.map(({ text }) => text).join(' '), segments: heard, source: 'ledger' },
    ],
    durations: { totalS, callerSpeechS, botSpeechS },
    talkRatio: speechS === 0 ? 0 : callerSpeechS / speechS,
  };
  const path = analysisPath(call);
  if (path !== undefined) await writeFileAtomic(path, `${JSON.stringify(analysis, null, 2)}\n`);
  // Last: whoever finds the analysis in the store finds the file too.
  await parts.store.analyses.put({
    tenantId,
    callId,
    version: ANALYSIS_VERSION,
    createdAtMs: parts.clock.wallMs(),
    document: analysis,
  });
  return analysis;
}

/** Where the document is written beside the recording; undefined for a call that has none. */
export function analysisPath(call: Pick<CallRecord, 'id' | 'recordingPath'>): string | undefined {
  return call.recordingPath === undefined ? undefined : join(dirname(call.recordingPath), `${call.id}.analysis.json`);
}

interface Channels {
  readonly caller: Int16Array;
  readonly bot: Int16Array;
  readonly rateHz: number;
}

async function readRecording(call: CallRecord): Promise<Channels> {
  const facts = { callId: call.id };
  // A call that was given up before any audio came has nothing to hear.
  if (call.recordingPath === undefined) return { caller: new Int16Array(0), bot: new Int16Array(0), rateHz: 8000 };
  const bytes = await readFile(call.recordingPath).catch((error: unknown) => {
    throw new JobSubjectError('the recording cannot be read', true, facts, error);
  });
  const { samples, rateHz } = parseWav(bytes);
  const [caller, bot] = samples;
  if (caller === undefined || bot === undefined) throw new JobSubjectError('the recording is not stereo', false, facts);
  return { caller, bot, rateHz };
}
