import { z } from 'zod';
import { optionalText, secret, settingFacts, text } from '../../../config/setting.ts';
import { CircuitBreaker } from '../../client/circuit-breaker.ts';
import { PatientFetch } from '../../client/connections.ts';
import { FixedToken } from '../../client/credentials.ts';
import { SpeechHttp } from '../../client/requests.ts';
import { ifInstalled } from '../if-installed.ts';
import { keyAddressProblems } from '../own-network.ts';
import type { OpenVendor, SpeechVendor, VendorParts } from '../vendor.ts';
import { AzureRecogniser } from './recognition.ts';
import { AzureSynthesizer } from './synthesis.ts';

const settings = z.object({
  region: optionalText('Region of the Azure Speech resource, for example centralindia'),
  recognitionUrl: z
    .url({ protocol: /^wss?$/ })
    .optional()
    .register(settingFacts, { description: "Address of a recognition container (ws:// or wss://) in place of the region's" }),
  synthesisUrl: z
    .url({ protocol: /^https?$/ })
    .optional()
    .register(settingFacts, { description: "Address of a synthesis container in place of the region's" }),
  voice: text('en-IN-NeerjaNeural', 'Voice of bots that name none'),
});

const secrets = z.object({ key: secret('Key of the Azure Speech resource', 'AZURE_SPEECH_KEY') });

const KEY_ADVICE = 'check OFFHOOK_AZURE__KEY and OFFHOOK_AZURE__REGION: a key is of one region';

/** Longer than the pause between two sentences of a call. */
const KEEP_ALIVE_MS = 30_000;

interface Values extends z.output<typeof settings> {
  readonly key: string;
}

/** Azure AI Speech. Recognition needs Microsoft's own package beside Offhook. */
export const azure: SpeechVendor = {
  name: 'azure',
  title: 'Azure AI Speech',
  settings,
  secrets,
  services: ['recognition', 'synthesis'],
  prices: [],
  needs: 'AZURE_SPEECH_KEY and OFFHOOK_AZURE__REGION; for recognition the package microsoft-cognitiveservices-speech-sdk',
  problems(config) {
    const { region, recognitionUrl, synthesisUrl } = settings.parse(config.settings);
    const hasKey = (config.secrets['key'] ?? []).length > 0;
    const hasPlace = region !== undefined || recognitionUrl !== undefined || synthesisUrl !== undefined;
    if (hasKey && hasPlace)
      return [
        ...(recognitionUrl === undefined ? [] : keyAddressProblems(recognitionUrl, 'recognitionUrl')),
        ...(synthesisUrl === undefined ? [] : keyAddressProblems(synthesisUrl, 'synthesisUrl')),
      ];
    if (hasKey === hasPlace) return [];
    return [
      hasKey
        ? { setting: 'region', message: 'is needed with azure.key: the region of the resource, for example centralindia' }
        : { setting: 'key', message: 'is needed with azure.region' },
    ];
  },
  open(config, parts) {
    const [key] = config.secrets['key'] ?? [];
    return key === undefined ? undefined : new Azure({ key: key.reveal(), ...settings.parse(config.settings) }, parts);
  },
};

class Azure implements OpenVendor {
  readonly recogniser: AzureRecogniser | undefined;
  readonly synthesizer: AzureSynthesizer | undefined;
  readonly #own: PatientFetch | undefined;
  readonly #closing = new AbortController();

  constructor({ key, region, recognitionUrl, synthesisUrl, voice }: Values, { clock, logger, fetch: given }: VendorParts) {
    if (region !== undefined || recognitionUrl !== undefined)
      this.recogniser = ifInstalled(
        () => new AzureRecogniser({ key, region: region ?? '', host: recognitionUrl }, clock),
        logger,
      );
    const baseUrl = synthesisUrl ?? (region === undefined ? undefined : `https://${region}.tts.speech.microsoft.com`);
    if (baseUrl === undefined) return;
    if (given === undefined) this.#own = new PatientFetch(KEEP_ALIVE_MS);
    const http = new SpeechHttp({
      tokens: new FixedToken(key),
      header: (secret) => ({ 'ocp-apim-subscription-key': secret }),
      keyAdvice: KEY_ADVICE,
      breaker: new CircuitBreaker({ clock, service: 'azure synthesis' }),
      clock,
      fetch: given ?? this.#own?.fetch ?? fetch,
      timeoutMs: 10_000,
      maxRetries: 2,
      backoff: { firstMs: 200, factor: 2, maxMs: 1_000, jitter: 0.25 },
    });
    this.synthesizer = new AzureSynthesizer({ http, clock, closing: this.#closing.signal }, baseUrl, voice);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(new Error('the speech vendor was closed'));
    this.recogniser?.[Symbol.dispose]();
    await this.#own?.[Symbol.asyncDispose]();
  }
}
