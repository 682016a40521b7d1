import { serviceUrl } from '../../client/settings.ts';
import type { SynthesisRequest, Synthesizer, SynthesizerCapabilities } from '../../port.ts';
import { speakOverHttp, type SpeechService } from '../http-speech.ts';

export interface SpeechEndpoint {
  /** With its `/v1`. */
  readonly baseUrl: string;
  readonly model: string;
  /** Format of the answer: `pcm` has 16-bit samples at `rateHz` and no header. */
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
  readonly #endpoint: SpeechEndpoint;
  readonly #service: SpeechService;

  constructor(service: SpeechService, endpoint: SpeechEndpoint, capabilities: SynthesizerCapabilities) {
    this.#service = service;
    this.#endpoint = endpoint;
    this.capabilities = capabilities;
  }

  speak(request: SynthesisRequest, signal: AbortSignal): AsyncGenerator<Uint8Array, void, undefined> {
    const { baseUrl, format, rateHz } = this.#endpoint;
    const url = serviceUrl(baseUrl, '/audio/speech');
    return speakOverHttp(this.#service, { url, fields: this.#fields(request), format, rateHz }, request, signal);
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
