import type { Clock } from '../../../kernel/clock.ts';
import type { SpeechHttp } from '../../client/requests.ts';
import { serviceUrl } from '../../client/settings.ts';
import type { SynthesisRequest, Synthesizer, SynthesizerCapabilities } from '../../port.ts';
import { streamedSpeech } from '../streamed-speech.ts';

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

  speak(request: SynthesisRequest, signal: AbortSignal): AsyncIterable<Uint8Array> {
    const { baseUrl, format, rateHz } = this.#endpoint;
    return streamedSpeech({
      http: this.#http,
      request: {
        what: 'openai synthesis',
        url: serviceUrl(baseUrl, '/audio/speech'),
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: '*/*' },
        body: () => JSON.stringify(this.#fields(request)),
        priority: request.priority ?? 'live',
      },
      made: format === 'wav' ? format : { encoding: 'pcm16', rateHz },
      wanted: request.format,
      clock: this.#clock,
      signals: [signal, this.#closing],
    });
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
