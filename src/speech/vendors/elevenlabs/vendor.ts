import { z } from 'zod';
import { type AudioFormat, MULAW_8K, TELEPHONE_FORMAT } from '../../../audio/format.ts';
import { address, flag, secret, text, whole } from '../../../config/setting.ts';
import { SocketRecogniser } from '../../asr/socket-recogniser.ts';
import { FixedToken } from '../../client/credentials.ts';
import { serviceUrl } from '../../client/settings.ts';
import { Slots } from '../../client/slots.ts';
import type { RecogniserCapabilities, SynthesisRequest, Synthesizer, SynthesizerCapabilities } from '../../port.ts';
import { splitForRequests } from '../../tts/sentences.ts';
import { checkText } from '../../tts/speech-fields.ts';
import { speakOverHttp, type SpeechAsk, type SpeechService, VendorHttp } from '../http-speech.ts';
import { keyVendor, type OpenVendor, type VendorParts, type VendorPrice } from '../vendor.ts';
import { MOST_KEYTERMS, RATES_HZ, scribeDialect, SILENT_COMMIT_MS } from './recognition.ts';

const GLOBAL_URL = 'https://api.elevenlabs.io';
const KEY_ADVICE = 'check the key in ELEVENLABS_API_KEY, its permissions and the credits of its account';

const settings = z.object({
  baseUrl: address(
    `Address of ElevenLabs, for example https://api.eu.residency.elevenlabs.io or https://api.in.residency.elevenlabs.io for data to stay there; unset: ${GLOBAL_URL}`,
  ),
  recognitionModel: text('scribe_v2_realtime', 'Model that recognises'),
  keyterms: flag(true, 'Bias recognition toward what a bot expects; ElevenLabs charges more for it'),
  synthesisModel: text('eleven_flash_v2_5', 'Model that speaks'),
  voice: text('JBFqnCBsd6RMkjVDRZzb', 'Voice ID of bots that name none'),
  logging: flag(true, 'Let ElevenLabs keep texts and audio; only enterprise accounts may turn it off'),
  recognitionSessions: whole(1, 100_000, 5, 'Calls that the account may have recognised at once', { unit: 'calls' }),
  synthesisRequests: whole(1, 100_000, 4, 'Sentences that the account may have spoken at once', { unit: 'requests' }),
});

const secrets = z.object({
  apiKey: secret('API key of an ElevenLabs account', 'ELEVENLABS_API_KEY', 'XI_API_KEY'),
});

/** Languages of the Flash and Turbo models 2.5. @see https://elevenlabs.io/docs/models */
const FLASH_LANGUAGES: ReadonlySet<string> = new Set(
  `en ja zh de hi fr ko pt it es id nl tr fil pl sv bg ro ar cs el fi hr ms sk da ta uk ru hu no vi`.split(/\s+/u),
);

const PRICING = 'https://elevenlabs.io/pricing/api';
const prices: readonly VendorPrice[] = [
  {
    service: 'recognition',
    model: 'scribe_v2_realtime',
    price: 'USD 0.39 an hour; keyterms add 20 %',
    source: PRICING,
    asOf: '2026-07-03',
  },
  {
    service: 'synthesis',
    model: 'eleven_flash_v2_5',
    price: 'USD 0.05 for 1,000 characters',
    source: PRICING,
    asOf: '2026-06-10',
  },
];

/** ElevenLabs: recognition by Scribe Realtime, synthesis streamed over HTTP. */
export const elevenlabs = keyVendor({
  name: 'elevenlabs',
  title: 'ElevenLabs',
  settings,
  secrets,
  prices,
  needs: 'ELEVENLABS_API_KEY',
  globalUrl: GLOBAL_URL,
  open: (values, apiKey, parts) => new ElevenLabs(values, apiKey, parts),
});

/** The whole of a long text may be played while it is made. */
const SPEECH_TIMEOUT_MS = 15 * 60_000;
const RETRY_DEADLINE_MS = 3_000;

interface Values extends z.output<typeof settings> {
  readonly baseUrl: string;
}

class ElevenLabs implements OpenVendor {
  readonly recogniser: SocketRecogniser;
  readonly synthesizer: ElevenLabsSynthesizer;
  readonly #baseUrl: string;
  readonly #http: VendorHttp;

  constructor(values: Values, apiKey: string, parts: VendorParts) {
    const { recognitionModel, keyterms, synthesisModel, voice, logging, recognitionSessions, synthesisRequests } = values;
    const { clock, logger } = parts;
    this.#baseUrl = values.baseUrl;
    this.#http = new VendorHttp(parts);
    const tokens = new FixedToken(apiKey);
    const recognition: RecogniserCapabilities = {
      partials: true,
      endMarks: true,
      mostHints: keyterms ? MOST_KEYTERMS : 0,
      // More than ninety, which are not listed for the realtime model.
      languages: 'any',
      detectsLanguage: true,
      ratesHz: RATES_HZ,
      sessionsPerKey: recognitionSessions,
      nothingMs: SILENT_COMMIT_MS,
    };
    this.recogniser = new SocketRecogniser({
      url: this.#baseUrl,
      dialect: scribeDialect({ model: recognitionModel, keyterms, logging }, KEY_ADVICE),
      capabilities: recognition,
      tokens,
      clock,
      logger,
      onWarning: (warning) => logger.warn({ vendor: 'elevenlabs' }, `ElevenLabs warns: ${warning}`),
    });
    const synthesis: SynthesizerCapabilities = {
      formats: [MULAW_8K, { encoding: 'alaw', rateHz: 8_000 }, { encoding: 'pcm16', rateHz: 8_000 }],
      languages: synthesisModel.endsWith('_v2_5') ? FLASH_LANGUAGES : 'any',
      voices: undefined,
      defaultVoice: voice,
      streams: true,
      longestText: longestTextOf(synthesisModel),
      requestsPerKey: synthesisRequests,
    };
    const http = this.#http.sender('ElevenLabs synthesis', {
      tokens,
      header: (key) => ({ 'xi-api-key': key }),
      keyAdvice: KEY_ADVICE,
      slots: new Slots(synthesisRequests),
      timeoutMs: SPEECH_TIMEOUT_MS,
      deadlineMs: RETRY_DEADLINE_MS,
    });
    this.synthesizer = new ElevenLabsSynthesizer(
      { http, clock, closing: this.#http.closing },
      { baseUrl: this.#baseUrl, model: synthesisModel, logging },
      synthesis,
    );
  }

  /** Opens a connection without asking for anything; what comes back does not matter. */
  warm(): void {
    const { closing: signal } = this.#http;
    void this.#http.fetch(this.#baseUrl, { method: 'HEAD', redirect: 'manual', signal }).then(
      (response) => response.body?.cancel(),
      () => undefined,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#http.abort();
    await this.recogniser[Symbol.asyncDispose]();
    await this.#http[Symbol.asyncDispose]();
  }
}

export interface StreamSettings {
  readonly baseUrl: string;
  readonly model: string;
  readonly logging: boolean;
}

/** @see https://elevenlabs.io/docs/api-reference/text-to-speech/stream (voice_settings.speed) */
const SLOWEST = 0.7;
const FASTEST = 1.2;
/** Linear formats that every plan has. */
const LINEAR_RATES_HZ = [8_000, 16_000, 22_050, 24_000];
/** Characters of one request. @see https://elevenlabs.io/docs/models (the limits of most models are higher) */
const LONGEST_TEXTS: readonly [prefix: string, characters: number][] = [
  ['eleven_v3', 5_000],
  ['eleven_flash', 40_000],
  ['eleven_turbo', 40_000],
];

export function longestTextOf(model: string): number {
  return LONGEST_TEXTS.find(([prefix]) => model.startsWith(prefix))?.[1] ?? 10_000;
}

/**
 * `POST /v1/text-to-speech/{voice}/stream`: a whole sentence is spoken sooner over HTTP than over a socket, which waits for more of
 * it. Written from https://elevenlabs.io/docs/api-reference/text-to-speech/stream
 */
export class ElevenLabsSynthesizer implements Synthesizer {
  readonly capabilities: SynthesizerCapabilities;
  readonly #service: SpeechService;
  readonly #settings: StreamSettings;

  constructor(service: Omit<SpeechService, 'what'>, settings: StreamSettings, capabilities: SynthesizerCapabilities) {
    this.#service = { what: 'ElevenLabs synthesis', ...service };
    this.#settings = settings;
    this.capabilities = capabilities;
  }

  async *speak(request: SynthesisRequest, signal: AbortSignal): AsyncGenerator<Uint8Array, void, undefined> {
    checkText(request.text);
    for (const text of splitForRequests(request.text, this.capabilities.longestText))
      yield* speakOverHttp(this.#service, this.#ask({ ...request, text }), request, signal);
  }

  #ask({ text, voice, language, speed = 1, format = TELEPHONE_FORMAT }: SynthesisRequest): SpeechAsk {
    const { baseUrl, model, logging } = this.#settings;
    const made = madeAs(format);
    const url = serviceUrl(baseUrl, `/v1/text-to-speech/${encodeURIComponent(voice)}/stream`);
    url.searchParams.set('output_format', nameOf(made));
    if (!logging) url.searchParams.set('enable_logging', 'false');
    const fields = {
      text,
      model_id: model,
      // Other models refuse it.
      ...(model.endsWith('_v2_5') && language !== 'auto' ? { language_code: language } : {}),
      // An unsupported speed becomes the nearest one, so that a bot made for other voices still speaks.
      ...(speed === 1 ? {} : { voice_settings: { speed: Math.min(FASTEST, Math.max(SLOWEST, speed)) } }),
    };
    return { url, fields, format: made.encoding === 'pcm16' ? 'pcm' : made.encoding, rateHz: made.rateHz };
  }
}

/** The nearest format that ElevenLabs makes. */
function madeAs({ encoding, rateHz }: AudioFormat): AudioFormat {
  if (encoding !== 'pcm16') return { encoding, rateHz: 8_000 };
  return { encoding, rateHz: LINEAR_RATES_HZ.find((made) => made >= rateHz) ?? 24_000 };
}

function nameOf({ encoding, rateHz }: AudioFormat): string {
  switch (encoding) {
    case 'mulaw':
      return `ulaw_${rateHz}`;
    case 'alaw':
      return `alaw_${rateHz}`;
    case 'pcm16':
      return `pcm_${rateHz}`;
  }
}
