import { type AudioFormat, TELEPHONE_FORMAT } from '../../../audio/format.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { eitherSignal } from '../../client/deadline.ts';
import { SpeechUnavailableError } from '../../client/errors.ts';
import type { SpeechHttp } from '../../client/requests.ts';
import { serviceUrl } from '../../client/settings.ts';
import type { SynthesisRequest, Synthesizer, SynthesizerCapabilities } from '../../port.ts';
import { bodyOf } from '../../tts/batch.ts';
import { RecodeStream } from '../../tts/synthesis-protocol.ts';
import { WavSamples } from '../wav-samples.ts';

export interface SpeechEndpoint {
  /** With its `/v1`. */
  readonly baseUrl: string;
  readonly model: string;
  /** Of the answer: `pcm` has 16-bit samples at `rateHz` and no header. */
  readonly format: 'pcm' | 'wav';
  readonly rateHz: number;
  /** Manner of speaking, for models that take one. */
  readonly instructions: string | undefined;
  /** Asks for a stream by a field that OpenAI's own service does not have and others need (Kokoro-FastAPI, vLLM-Omni). */
  readonly asksForStream: boolean;
}

/** Characters of one request. @see https://developers.openai.com/api/reference (createSpeech, input) */
export const LONGEST_INPUT = 4_096;
/** Longest wait for the next audio, the first included. */
const SILENT_MS = 10_000;

/**
 * `POST {base}/audio/speech`, streamed: audio is passed on as it is made, in the request's format.
 * @see https://developers.openai.com/api/docs/guides/text-to-speech
 */
export class OpenAiSynthesizer implements Synthesizer {
  readonly capabilities: SynthesizerCapabilities;
  readonly #http: SpeechHttp;
  readonly #endpoint: SpeechEndpoint;
  readonly #clock: Clock;
  readonly #closing: AbortSignal;

  /** @param closing aborts every request */
  constructor(
    http: SpeechHttp,
    endpoint: SpeechEndpoint,
    capabilities: SynthesizerCapabilities,
    { clock, closing }: { readonly clock: Clock; readonly closing: AbortSignal },
  ) {
    this.#http = http;
    this.#endpoint = endpoint;
    this.capabilities = capabilities;
    this.#clock = clock;
    this.#closing = closing;
  }

  async *speak(request: SynthesisRequest, outer: AbortSignal): AsyncGenerator<Uint8Array, void, undefined> {
    const { baseUrl, format, rateHz } = this.#endpoint;
    const stalled = new AbortController();
    using either = eitherSignal(outer, this.#closing, stalled.signal);
    const { signal } = either;
    const watched = async <Value>(step: Promise<Value>): Promise<Value> => {
      const timer = this.#clock.after(SILENT_MS, () =>
        stalled.abort(new SpeechUnavailableError(`openai synthesis: no audio for ${SILENT_MS} ms`)),
      );
      try {
        return await step;
      } finally {
        timer.cancel();
      }
    };
    const exchange = await watched(
      this.#http.open(
        {
          what: 'openai synthesis',
          url: serviceUrl(baseUrl, '/audio/speech'),
          method: 'POST',
          headers: { 'content-type': 'application/json', accept: '*/*' },
          body: () => JSON.stringify(this.#fields(request)),
          priority: request.priority ?? 'live',
        },
        signal,
      ),
    );
    const wav = format === 'wav' ? new WavSamples() : undefined;
    const made: AudioFormat = { encoding: 'pcm16', rateHz };
    let recoded: RecodeStream | undefined;
    const recode = (samples: Uint8Array): Uint8Array => {
      const from = wav === undefined ? made : wav.format;
      if (from === undefined) return samples;
      recoded ??= new RecodeStream(from, request.format ?? TELEPHONE_FORMAT);
      return recoded.push(samples);
    };
    const body = bodyOf(exchange, format, signal, false);
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

  #fields({ text, voice, speed }: SynthesisRequest): object {
    const { model, format, instructions, asksForStream } = this.#endpoint;
    return {
      model,
      input: text,
      voice,
      response_format: format,
      ...(speed === undefined ? {} : { speed }),
      ...(instructions === undefined ? {} : { instructions }),
      ...(asksForStream ? { stream: true } : {}),
    };
  }
}
