import { z } from 'zod';
import { type AudioFormat, TELEPHONE_FORMAT } from '../../../audio/format.ts';
import { optionalText, secret, settingFacts, text } from '../../../config/setting.ts';
import { FixedToken } from '../../client/credentials.ts';
import { serviceUrl } from '../../client/settings.ts';
import type { SynthesisRequest, Synthesizer, SynthesizerCapabilities } from '../../port.ts';
import { speakOverHttp, type SpeechService, VendorHttp } from '../http-speech.ts';
import { ifInstalled, keyAddressProblems, localeOf, type OpenVendor, type SpeechVendor, type VendorParts } from '../vendor.ts';
import { AzureRecogniser } from './recognition.ts';

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
  readonly #http: VendorHttp;

  constructor({ key, region, recognitionUrl, synthesisUrl, voice }: Values, parts: VendorParts) {
    const { clock, logger } = parts;
    this.#http = new VendorHttp(parts);
    if (region !== undefined || recognitionUrl !== undefined)
      this.recogniser = ifInstalled(
        () => new AzureRecogniser({ key, region: region ?? '', host: recognitionUrl }, clock),
        logger,
      );
    const baseUrl = synthesisUrl ?? (region === undefined ? undefined : `https://${region}.tts.speech.microsoft.com`);
    if (baseUrl === undefined) return;
    const http = this.#http.sender('azure synthesis', {
      tokens: new FixedToken(key),
      header: (secret) => ({ 'ocp-apim-subscription-key': secret }),
      keyAdvice: KEY_ADVICE,
      timeoutMs: 10_000,
    });
    this.synthesizer = new AzureSynthesizer({ http, clock, closing: this.#http.closing }, baseUrl, voice);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#http.abort();
    this.recogniser?.abort();
    await this.#http[Symbol.asyncDispose]();
  }
}

/** Formats that Azure makes without a header, by what they are called there, the call's own first. */
const OUTPUTS: readonly (AudioFormat & { readonly name: string })[] = [
  { encoding: 'mulaw', rateHz: 8_000, name: 'raw-8khz-8bit-mono-mulaw' },
  { encoding: 'alaw', rateHz: 8_000, name: 'raw-8khz-8bit-mono-alaw' },
  { encoding: 'pcm16', rateHz: 8_000, name: 'raw-8khz-16bit-mono-pcm' },
  { encoding: 'pcm16', rateHz: 16_000, name: 'raw-16khz-16bit-mono-pcm' },
];
/** For any other rate. */
const WIDEST = { encoding: 'pcm16', rateHz: 24_000, name: 'raw-24khz-16bit-mono-pcm' } as const;

/**
 * Azure's text to speech: one request a sentence, streamed as it is made.
 * @see https://learn.microsoft.com/azure/ai-services/speech-service/rest-text-to-speech
 */
export class AzureSynthesizer implements Synthesizer {
  readonly capabilities: SynthesizerCapabilities;
  readonly #service: SpeechService;
  readonly #baseUrl: string;

  constructor(service: Omit<SpeechService, 'what'>, baseUrl: string, voice: string) {
    this.#service = { what: 'azure synthesis', ...service };
    this.#baseUrl = baseUrl;
    this.capabilities = {
      formats: OUTPUTS.map(({ encoding, rateHz }) => ({ encoding, rateHz })),
      languages: 'any',
      voices: undefined,
      defaultVoice: voice,
      streams: true,
      // Ten minutes of audio a request is the documented limit; a text of this length is shorter.
      longestText: 5_000,
      // Transactions a second of the standard tier:
      // https://learn.microsoft.com/azure/ai-services/speech-service/speech-services-quotas-and-limits
      requestsPerKey: 200,
    };
  }

  speak(request: SynthesisRequest, signal: AbortSignal): AsyncIterable<Uint8Array> {
    const { format = TELEPHONE_FORMAT } = request;
    const { name, ...made } =
      OUTPUTS.find(({ encoding, rateHz }) => encoding === format.encoding && rateHz === format.rateHz) ?? WIDEST;
    return speakOverHttp(
      this.#service,
      {
        url: serviceUrl(this.#baseUrl, '/cognitiveservices/v1'),
        fields: ssmlOf(request),
        // A user agent is required.
        headers: { 'x-microsoft-outputformat': name, 'user-agent': 'offhook' },
        format: made.encoding === 'pcm16' ? 'pcm' : made.encoding,
        rateHz: made.rateHz,
      },
      request,
      signal,
    );
  }
}

function ssmlOf({ text, voice, language, speed = 1 }: SynthesisRequest): string {
  const locale = localeOf(language);
  // Relative to the voice's own rate: 1 is that.
  const said = `<prosody rate="${speed.toFixed(2)}">${escaped(text)}</prosody>`;
  return `<speak version="1.0" xmlns="http://www.w3.org/2001/10/synthesis" xml:lang="${escaped(locale)}"><voice name="${escaped(voice)}">${said}</voice></speak>`;
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' };

/** As XML text or attribute; control characters, mostly forbidden in XML, become blanks. */
function escaped(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, ' ').replaceAll(/[&<>"']/gu, (mark) => ENTITIES[mark] ?? '');
}
