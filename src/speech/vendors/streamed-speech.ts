import { type AudioFormat, TELEPHONE_FORMAT } from '../../audio/format.ts';
import type { Clock } from '../../kernel/clock.ts';
import { eitherSignal } from '../client/deadline.ts';
import { SpeechUnavailableError } from '../client/errors.ts';
import type { SpeechHttp, SpeechRequest } from '../client/requests.ts';
import { bodyOf } from '../tts/batch.ts';
import { RecodeStream } from '../tts/synthesis-protocol.ts';
import { WavSamples } from './wav-samples.ts';

/** Longest wait for the next audio, the first included. */
const SILENT_MS = 10_000;

export interface StreamedSpeech {
  readonly http: SpeechHttp;
  readonly request: SpeechRequest;
  /** Of the answer; a WAV file says it itself. */
  readonly made: AudioFormat | 'wav';
  /** What is yielded; telephone audio when absent. */
  readonly wanted: AudioFormat | undefined;
  readonly clock: Clock;
  /** Each ends the request. */
  readonly signals: readonly AbortSignal[];
}

/**
 * Speech that an HTTP service sends as it makes it, in the format that is wanted. Leaving the loop ends the transfer.
 * @throws SpeechError by status; SpeechUnavailableError where no audio comes for ten seconds; the reason of a signal
 */
export async function* streamedSpeech(options: StreamedSpeech): AsyncGenerator<Uint8Array, void, undefined> {
  const { http, request, made, wanted, clock, signals } = options;
  const stalled = new AbortController();
  using either = eitherSignal(...signals, stalled.signal);
  const { signal } = either;
  const watched = async <Value>(step: Promise<Value>): Promise<Value> => {
    const timer = clock.after(SILENT_MS, () =>
      stalled.abort(new SpeechUnavailableError(`${request.what}: no audio for ${SILENT_MS} ms`)),
    );
    try {
      return await step;
    } finally {
      timer.cancel();
    }
  };
  const exchange = await watched(http.open(request, signal));
  const wav = made === 'wav' ? new WavSamples() : undefined;
  let recoded: RecodeStream | undefined;
  const recode = (samples: Uint8Array): Uint8Array => {
    const from = made === 'wav' ? wav?.format : made;
    if (from === undefined) return samples;
    recoded ??= new RecodeStream(from, wanted ?? TELEPHONE_FORMAT);
    return recoded.push(samples);
  };
  const body = bodyOf(exchange, made === 'wav' ? 'wav' : 'pcm', signal, false);
  try {
    for (let step = await watched(body.next()); step.done !== true; step = await watched(body.next())) {
      const audio = recode(wav === undefined ? step.value : wav.push(step.value));
      if (audio.length > 0) yield audio;
    }
    const last = recode(wav?.end() ?? new Uint8Array());
    const rest = Buffer.concat([last, recoded?.flush() ?? new Uint8Array()]);
    if (rest.length > 0) yield rest;
  } finally {
    await body.return();
  }
}
