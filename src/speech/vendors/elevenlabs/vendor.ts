import { z } from 'zod';
import { MULAW_8K } from '../../../audio/format.ts';
import { type AdapterConfig, address, flag, secret, text, whole } from '../../../config/setting.ts';
import { SocketRecogniser } from '../../asr/socket-recogniser.ts';
import { CircuitBreaker } from '../../client/circuit-breaker.ts';
import { PatientFetch } from '../../client/connections.ts';
import { FixedToken } from '../../client/credentials.ts';
import { SpeechHttp } from '../../client/requests.ts';
import { Slots } from '../../client/slots.ts';
import type { RecogniserCapabilities, SynthesizerCapabilities } from '../../port.ts';
import { keyAddressProblems } from '../own-network.ts';
import type { OpenVendor, SpeechVendor, VendorParts, VendorPrice } from '../vendor.ts';
import { MOST_KEYTERMS, RATES_HZ, scribeDialect, SILENT_COMMIT_MS } from './recognition.ts';
import { ElevenLabsSynthesizer, longestTextOf } from './synthesizer.ts';

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

function configOf({ settings: given, secrets: keys }: AdapterConfig) {
  return { values: settings.parse(given), apiKey: keys['apiKey']?.[0]?.reveal() };
}

/** ElevenLabs: recognition by Scribe Realtime, synthesis streamed over HTTP. */
export const elevenlabs: SpeechVendor = {
  name: 'elevenlabs',
  title: 'ElevenLabs',
  settings,
  secrets,
  services: ['recognition', 'synthesis'],
  prices,
  needs: 'ELEVENLABS_API_KEY',
  problems(config) {
    const { values, apiKey } = configOf(config);
    return apiKey === undefined ? [] : keyAddressProblems(values.baseUrl ?? GLOBAL_URL);
  },
  open(config, parts) {
    const { values, apiKey } = configOf(config);
    return apiKey === undefined ? undefined : new ElevenLabs(values, apiKey, parts);
  },
};

/** Longer than the pause between two sentences of a call. */
const KEEP_ALIVE_MS = 30_000;
/** The whole of a long text may be played while it is made. */
const SPEECH_TIMEOUT_MS = 15 * 60_000;
const RETRY_DEADLINE_MS = 3_000;

class ElevenLabs implements OpenVendor {
  readonly recogniser: SocketRecogniser;
  readonly synthesizer: ElevenLabsSynthesizer;
  readonly #baseUrl: string;
  readonly #fetch: typeof fetch;
  readonly #own: PatientFetch | undefined;
  readonly #closing = new AbortController();

  constructor(values: z.output<typeof settings>, apiKey: string, { clock, logger, fetch: given }: VendorParts) {
    const { recognitionModel, keyterms, synthesisModel, voice, logging, recognitionSessions, synthesisRequests } = values;
    this.#baseUrl = values.baseUrl ?? GLOBAL_URL;
    const tokens = new FixedToken(apiKey);
    if (given === undefined) this.#own = new PatientFetch(KEEP_ALIVE_MS);
    this.#fetch = given ?? this.#own?.fetch ?? fetch;
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
    const http = new SpeechHttp({
      tokens,
      header: (key) => ({ 'xi-api-key': key }),
      keyAdvice: KEY_ADVICE,
      slots: new Slots(synthesisRequests),
      breaker: new CircuitBreaker({ clock, service: 'ElevenLabs synthesis' }),
      clock,
      fetch: this.#fetch,
      maxRetries: 2,
      backoff: { firstMs: 200, factor: 2, maxMs: 1_000, jitter: 0.25 },
      timeoutMs: SPEECH_TIMEOUT_MS,
      deadlineMs: RETRY_DEADLINE_MS,
    });
    this.synthesizer = new ElevenLabsSynthesizer(
      { http, clock, closing: this.#closing.signal },
      { baseUrl: this.#baseUrl, model: synthesisModel, logging },
      synthesis,
    );
  }

  /** Opens a connection without asking for anything; what comes back does not matter. */
  warm(): void {
    void this.#fetch(this.#baseUrl, { method: 'HEAD', redirect: 'manual', signal: this.#closing.signal }).then(
      (response) => response.body?.cancel(),
      () => undefined,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(new Error('the speech vendor was closed'));
    await this.recogniser[Symbol.asyncDispose]();
    await this.#own?.[Symbol.asyncDispose]();
  }
}
