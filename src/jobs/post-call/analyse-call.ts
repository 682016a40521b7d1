import { access, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Clock } from '../../kernel/clock.ts';
import type { CallRecord, Store } from '../../store/port.ts';
import { JobSubjectError } from '../errors.ts';
import { writeFileAtomic } from '../write-file-atomic.ts';
import type { CallAnalysis } from './analysis.ts';
import { type RecordingFacts, separateCaller } from './caller-channel.ts';
import { heardSegments } from './heard-segments.ts';
import { ANALYSIS_VERSION, type PostCallSubject } from './job.ts';
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
  const { said, totalS, callerSpeechS, botSpeechS } = await hearCaller(parts.transcriber, call, signal);
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

type Hearing = Omit<RecordingFacts, 'channels'> & { readonly said: Pick<Transcription, 'text' | 'segments'> };

const NOTHING = { text: '', segments: [] };

async function hearCaller(transcriber: BatchTranscriber, call: CallRecord, signal: AbortSignal): Promise<Hearing> {
  const { id, recordingPath, language } = call;
  // A call that was given up before any audio came has nothing to hear.
  if (recordingPath === undefined) return { said: NOTHING, totalS: 0, callerSpeechS: 0, botSpeechS: 0 };
  const facts = { callId: id };
  await access(recordingPath).catch((error: unknown) => {
    throw new JobSubjectError('the recording cannot be read', true, facts, error);
  });
  // One name for all tries: what a killed one left behind is overwritten and removed by the next.
  const callerPath = join(dirname(recordingPath), `${id}.caller.tmp.wav`);
  try {
    const { channels, ...times } = await separateCaller(recordingPath, callerPath);
    if (channels < 2) throw new JobSubjectError('the recording is not stereo', false, facts);
    if (times.callerSpeechS === 0) return { said: NOTHING, ...times };
    return { said: await transcriber.transcribe(callerPath, { language, verbose: true, signal }), ...times };
  } finally {
    await rm(callerPath, { force: true });
  }
}
