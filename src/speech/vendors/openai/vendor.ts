import { z } from 'zod';
import { type AdapterConfig, address, millis, optionalText, secret, settingFacts, whole } from '../../../config/setting.ts';
import { SocketRecogniser } from '../../asr/socket-recogniser.ts';
import { bearerHeader, FixedToken, noCredential, noHeader, type Tokens } from '../../client/credentials.ts';
import type { SpeechHttp } from '../../client/requests.ts';
import { serviceUrl } from '../../client/settings.ts';
import type { Recogniser, RecogniserCapabilities, SynthesisRequest, Synthesizer, SynthesizerCapabilities } from '../../port.ts';
import { speakOverHttp, type SpeechService, VendorHttp } from '../http-speech.ts';
import { SegmentedRecogniser } from '../segmented-recognition.ts';
import { isOwnNetwork, type OpenVendor, type SpeechVendor, type VendorParts, type VendorPrice } from '../vendor.ts';
import { realtimeDialect } from './realtime.ts';
import { hintsField, MOST_HINTS, transcriptionOf } from './transcription.ts';

const OPENAI_URL = 'https://api.openai.com/v1';

const settings = z.object({
  baseUrl: address(
    `Address of the service with its version, for example http://localhost:8000/v1 for a server of your own; unset: ${OPENAI_URL}`,
    'OPENAI_BASE_URL',
  ),
  synthesisUrl: address('Address for synthesis where another server speaks than recognises; unset: the same as openai.baseUrl'),
  recognition: z.enum(['auto', 'realtime', 'segments']).default('auto').register(settingFacts, {
    description:
      'How speech is recognised: realtime is a transcription socket, segments are uploads of whole utterances; auto: realtime at OpenAI, segments elsewhere',
  }),
  recognitionModel: optionalText(
    'Model that recognises; unset: gpt-live-transcribe (realtime) or gpt-transcribe (segments) at OpenAI, and no recognition elsewhere',
  ),
  realtimeAudio: z.enum(['auto', 'pcm', 'pcmu']).default('auto').register(settingFacts, {
    description:
      'Audio of the transcription socket: 24 kHz samples, or G.711 mu-law for calls of 8 kHz; auto: pcmu at OpenAI, pcm elsewhere',
  }),
  partialsEveryMs: millis(
    0,
    10_000,
    0,
    'In segments: recognise what was said so far again so often, for interim texts; each time is charged; 0: none',
  ),
  recognitionTimeoutMs: millis(1_000, 120_000, 10_000, 'Longest time of one upload of an utterance, its answer included'),
  recognitionSessions: whole(0, 10_000, 0, 'Calls that the service recognises at once; 0: no limit', { unit: 'calls' }),
  synthesisModel: optionalText('Model that speaks; unset: gpt-4o-mini-tts at OpenAI, and no synthesis elsewhere'),
  voice: optionalText('Voice of bots that name none; unset: marin at OpenAI'),
  synthesisFormat: z.enum(['pcm', 'wav']).default('pcm').register(settingFacts, {
    description: 'Audio that synthesis is asked for: samples alone, or a WAV file, which names its own rate',
  }),
  synthesisRateHz: whole(8_000, 48_000, 24_000, 'Sample rate of pcm audio, as the model makes it', { unit: 'Hz' }),
  synthesisRequests: whole(0, 10_000, 0, 'Sentences that the service speaks at once; 0: no limit', { unit: 'requests' }),
  instructions: optionalText('Manner of speaking, for models that take one, for example: speak calmly, with an Indian accent'),
});

const secrets = z.object({
  apiKey: secret('API key; none is needed for a server on this machine or network', 'OPENAI_API_KEY'),
  synthesisApiKey: secret('API key of the server at openai.synthesisUrl'),
});

/** Voices of `gpt-4o-mini-tts`. @see openai-node 6.49, resources/audio/speech (SpeechCreateParams.voice) */
const VOICES = 'alloy ash ballad coral echo fable onyx nova sage shimmer verse marin cedar'.split(' ');

const MODELS = 'https://developers.openai.com/api/docs/models';
// The pages carry no date: it is the day on which a stored copy of them was read.
const prices: readonly VendorPrice[] = [
  {
    service: 'recognition',
    model: 'gpt-live-transcribe',
    price: 'USD 0.017 a minute',
    source: `${MODELS}/gpt-live-transcribe`,
    asOf: '2026-11-23',
  },
  {
    service: 'recognition',
    model: 'gpt-transcribe',
    price: 'USD 0.0045 a minute',
    source: `${MODELS}/gpt-transcribe`,
    asOf: '2026-11-23',
  },
  {
    service: 'synthesis',
    model: 'gpt-4o-mini-tts',
    price: 'USD 0.60 a million text tokens and USD 12.00 a million audio tokens',
    source: `${MODELS}/gpt-4o-mini-tts`,
    asOf: '2026-11-23',
  },
];

interface Service {
  readonly url: string;
  readonly model: string;
  readonly apiKey: string | undefined;
  readonly isOpenAi: boolean;
}

/** What is configured: at OpenAI all that a key opens, elsewhere what a model is named for. */
function servicesOf({ settings: given, secrets: keys }: AdapterConfig): {
  readonly values: z.output<typeof settings>;
  readonly mode: 'realtime' | 'segments';
  readonly recognition: Service | undefined;
  readonly synthesis: Service | undefined;
} {
  const values = settings.parse(given);
  const { baseUrl, synthesisUrl, recognitionModel, synthesisModel } = values;
  const [apiKey] = keys['apiKey'] ?? [];
  const [synthesisApiKey] = keys['synthesisApiKey'] ?? [];
  const url = versioned(baseUrl ?? OPENAI_URL);
  const isOpenAi = isOpenAiUrl(url);
  const mode = values.recognition === 'auto' ? (isOpenAi ? 'realtime' : 'segments') : values.recognition;
  const offered = (at: string, model: string | undefined, key: string | undefined): Service | undefined =>
    model === undefined || (isOpenAiUrl(at) && key === undefined)
      ? undefined
      : { url: at, model, apiKey: key, isOpenAi: isOpenAiUrl(at) };
  const openAiRecognition = mode === 'realtime' ? 'gpt-live-transcribe' : 'gpt-transcribe';
  const speaksAt = synthesisUrl === undefined ? url : versioned(synthesisUrl);
  // The key of one server is not given to another.
  const isSame = new URL(speaksAt).origin === new URL(url).origin;
  const speaksWith = synthesisApiKey ?? (isSame ? apiKey : undefined);
  return {
    values,
    mode,
    recognition: offered(url, recognitionModel ?? (isOpenAi ? openAiRecognition : undefined), apiKey?.reveal()),
    synthesis: offered(speaksAt, synthesisModel ?? (isOpenAiUrl(speaksAt) ? 'gpt-4o-mini-tts' : undefined), speaksWith?.reveal()),
  };
}

/** Servers are often named without the version. */
function versioned(url: string): string {
  const { pathname } = new URL(url);
  return pathname === '/' || pathname === '' ? new URL('/v1', url).href : url;
}

/** OpenAI's own service, its regional addresses included. */
function isOpenAiUrl(url: string): boolean {
  return /(?:^|\.)api\.openai\.com$/u.test(new URL(url).hostname);
}

/** OpenAI, and every server that speaks as it does: speaches, vLLM, Kokoro-FastAPI and others. */
export const openai: SpeechVendor = {
  name: 'openai',
  title: 'OpenAI and compatible servers',
  settings,
  secrets,
  services: ['recognition', 'synthesis'],
  prices,
  needs:
    'OPENAI_API_KEY, or OFFHOOK_OPENAI__BASE_URL of a server of your own with OFFHOOK_OPENAI__RECOGNITION_MODEL or OFFHOOK_OPENAI__SYNTHESIS_MODEL',
  problems(config) {
    const { recognition, synthesis, values } = servicesOf(config);
    const problems: { setting: string; message: string }[] = [];
    const check = (setting: string, key: string, { url, apiKey }: Service): void => {
      if (isOwnNetwork(new URL(url).hostname)) return;
      if (apiKey === undefined)
        problems.push({
          setting: key,
          message: `is needed at ${new URL(url).origin}: only servers on this machine or network are used without a key`,
        });
      else if (new URL(url).protocol === 'http:')
        problems.push({ setting, message: 'would send the key unencrypted: give an https address' });
    };
    if (recognition !== undefined) check('baseUrl', 'apiKey', recognition);
    if (synthesis !== undefined && values.synthesisUrl !== undefined) check('synthesisUrl', 'synthesisApiKey', synthesis);
    else if (synthesis !== undefined && recognition === undefined) check('baseUrl', 'apiKey', synthesis);
    if (values.synthesisUrl !== undefined && synthesis === undefined) {
      const isOpenAi = isOpenAiUrl(values.synthesisUrl);
      problems.push({
        setting: isOpenAi ? 'synthesisApiKey' : 'synthesisModel',
        message: `is needed with openai.synthesisUrl${isOpenAi ? '' : ': name the model that speaks there'}`,
      });
    }
    return problems;
  },
  open(config, parts) {
    const services = servicesOf(config);
    if (services.recognition === undefined && services.synthesis === undefined) return undefined;
    return new OpenAi(services, parts);
  },
};

const KEY_ADVICE = 'check OPENAI_API_KEY, its project and its balance, and that openai.baseUrl is the server that gave it out';

function tokensOf(apiKey: string | undefined): Tokens {
  return apiKey === undefined ? noCredential : new FixedToken(apiKey);
}

const limitOf = (most: number): number => (most === 0 ? Infinity : most);
class OpenAi implements OpenVendor {
  readonly recogniser: (Recogniser & AsyncDisposable) | undefined;
  readonly synthesizer: OpenAiSynthesizer | undefined;
  readonly #http: VendorHttp;

  constructor({ recognition, synthesis, values, mode }: ReturnType<typeof servicesOf>, parts: VendorParts) {
    const { clock, logger } = parts;
    this.#http = new VendorHttp(parts);
    const sender = (service: string, { apiKey }: Service, waits: { timeoutMs: number; deadlineMs: number }): SpeechHttp =>
      this.#http.sender(`openai ${service}`, {
        tokens: tokensOf(apiKey),
        header: apiKey === undefined ? noHeader : bearerHeader,
        keyAdvice: KEY_ADVICE,
        ...waits,
      });
    if (recognition !== undefined) {
      const { model, url, apiKey, isOpenAi } = recognition;
      const hints = hintsField(model);
      const capabilities: RecogniserCapabilities = {
        partials: mode === 'realtime' || values.partialsEveryMs > 0,
        endMarks: true,
        mostHints: hints === undefined ? 0 : MOST_HINTS,
        languages: 'any',
        detectsLanguage: mode === 'segments' && hints === 'keywords',
        ratesHz: mode === 'realtime' ? [8_000, 24_000] : [8_000, 16_000],
        sessionsPerKey: limitOf(values.recognitionSessions),
        mayIdle: mode === 'segments',
      };
      const usesG711 = values.realtimeAudio === 'auto' ? isOpenAi : values.realtimeAudio === 'pcmu';
      this.recogniser =
        mode === 'realtime'
          ? new SocketRecogniser({
              url,
              dialect: realtimeDialect({ model, apiKey, keyAdvice: KEY_ADVICE, usesG711, isOpenAi }),
              capabilities,
              tokens: tokensOf(apiKey),
              clock,
              logger,
              onWarning: (warning) => logger.warn({ vendor: 'openai', warning }, 'recogniser warning'),
            })
          : new SegmentedRecogniser({
              capabilities,
              clock,
              transcribe: transcriptionOf(
                sender('recognition', recognition, { timeoutMs: values.recognitionTimeoutMs, deadlineMs: 5_000 }),
                url,
                model,
              ),
              partialsEveryMs: values.partialsEveryMs,
            });
    }
    if (synthesis !== undefined) {
      const { model, url: baseUrl, isOpenAi } = synthesis;
      const { synthesisFormat: format, synthesisRateHz: rateHz, instructions, voice } = values;
      const capabilities: SynthesizerCapabilities = {
        formats: [{ encoding: 'pcm16', rateHz }],
        languages: 'any',
        voices: isOpenAi ? VOICES : undefined,
        defaultVoice: voice ?? (isOpenAi ? 'marin' : undefined),
        streams: true,
        longestText: LONGEST_INPUT,
        requestsPerKey: limitOf(values.synthesisRequests),
      };
      // The whole of a long text may be played while it is made.
      const http = sender('synthesis', synthesis, { timeoutMs: 15 * 60_000, deadlineMs: 3_000 });
      this.synthesizer = new OpenAiSynthesizer(
        { what: 'openai synthesis', http, clock, closing: this.#http.closing },
        { baseUrl, model, format, rateHz, instructions, asksForStream: !isOpenAi },
        capabilities,
      );
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#http.abort();
    await this.recogniser?.[Symbol.asyncDispose]();
    await this.#http[Symbol.asyncDispose]();
  }
}

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
